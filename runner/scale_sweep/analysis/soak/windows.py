"""How far a sweep's windows are from the mean of a soak: each part of the soak is measured as a trial would be.

Pure. Refuses to use data after a part, which a trial would not have either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from scale_sweep.judge.verdict import claimed, quickly

STEP_S = 5  # between the starts of two windows
KINDS: tuple[tuple[str, int, int, Callable[[Sequence[float], int, int], tuple[float, int] | None]], ...] = (
    ("40 to 60 s", 40, 60, claimed),
    ("10 to 30 s (quick)", 10, 30, quickly),
)


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """One kind of window. name: its length. windows: how many were tried. valid: the rate of each VALID one over the
    mean of the soak, ascending."""

    name: str
    windows: int
    valid: tuple[float, ...]

    def quantile(self, share: float) -> float | None:
        """The ratio below which this share (0..1) of the VALID windows is; None if there are none."""
        if not self.valid:
            return None
        at = share * (len(self.valid) - 1)
        low = int(at)
        high = min(low + 1, len(self.valid) - 1)
        return self.valid[low] + (at - low) * (self.valid[high] - self.valid[low])


def ratios_of_windows(rates: Sequence[float]) -> tuple[Ratios, ...]:
    """The ratios for each kind of window that fits. rates: of the soak's window, one for each second; their mean must
    be above 0."""
    mean, found = fmean(rates), []
    for name, shortest_s, longest_s, measure in KINDS:
        starts = range(0, len(rates) - longest_s + 1, STEP_S)
        tried = [measure(rates[start : start + longest_s], shortest_s, longest_s) for start in starts]
        valid = tuple(sorted(one[0] / mean for one in tried if one is not None))
        if tried:
            found.append(Ratios(name=name, windows=len(tried), valid=valid))
    return tuple(found)
