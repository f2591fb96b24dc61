"""Stored runs against each other: ratio point by point, a test that respects few replicates, what else differs.

`compare_runs` takes a run a side, `compare_sessions` several runs a side, `compare_variants` one run of `scale ab`.
Pure: no I/O, no clock, seeded chance. Refuses to call a difference what the noise of the runs explains, and to compare
trials that are not VALID.
"""

from runner.compare.runs import compare_runs
from runner.compare.several import compare_sessions, compare_variants

__all__ = ["compare_runs", "compare_sessions", "compare_variants"]
