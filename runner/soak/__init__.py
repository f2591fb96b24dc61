"""A soak: one long trial whose rate over time says how far short windows are off. Pure.

`windows` replays the windows of a sweep on each stretch of it, `periods` finds where it was slow, and what the machine
did there. Refuses to draw, and to call a rate steady: that is the verdict's.
"""

from runner.soak.periods import Period, Second, regular_s, slow_periods
from runner.soak.windows import Ratios, ratios_of_windows

__all__ = ["Period", "Ratios", "Second", "ratios_of_windows", "regular_s", "slow_periods"]
