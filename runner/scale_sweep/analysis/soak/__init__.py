"""A soak: one long trial whose rate over time shows how far short windows are from its mean. Pure.

`windows` replays a sweep's windows on each part of it. `periods` finds where it was slow, and what the machine did
then. Refuses to draw, and to call a rate steady: the verdict does that.
"""

from scale_sweep.analysis.soak.periods import Period, Second, regular_s, slow_periods
from scale_sweep.analysis.soak.windows import Ratios, ratios_of_windows

__all__ = ["Period", "Ratios", "Second", "ratios_of_windows", "regular_s", "slow_periods"]
