"""Compares stored runs: the ratio at each point, a test that allows for few replicates, and what else differs."""

from scale_sweep.analysis.compare.blocks import compare_variants
from scale_sweep.analysis.compare.runs import compare_runs, compare_with_first
from scale_sweep.analysis.compare.sessions import compare_sessions

__all__ = ["compare_runs", "compare_sessions", "compare_variants", "compare_with_first"]
