"""Two stored runs against each other: ratio point by point, a test that respects few replicates, what else differs.

`compare_runs` is the door. Pure: no I/O, no clock, seeded chance. Refuses to call a difference what the noise of the
runs explains, and to compare trials that are not VALID.
"""

from runner.compare.runs import compare_runs

__all__ = ["compare_runs"]
