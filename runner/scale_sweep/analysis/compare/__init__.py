"""Compares stored runs."""

from scale_sweep.analysis.compare.blocks import compare_variants
from scale_sweep.analysis.compare.runs import compare_runs, compare_with_first
from scale_sweep.analysis.compare.sessions import compare_sessions

__all__ = ["compare_runs", "compare_sessions", "compare_variants", "compare_with_first"]
