"""The knee: does a hard limit explain the points better than a smooth curve?

X(n) = γ · min(n, k): linear up to k, flat beyond, as when another resource (the disk, a lock, the generator) is full
from k on. Refuses to see a knee without two levels on either side of it, or one that is not clearly better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.fit.models import Floats
from runner.fit.regression import aicc

KNEE_MARGIN = 4.0  # of AICc: "considerably less support" for the other (Burnham and Anderson 2002, 2.6)
_STEPS = 400


@dataclass(frozen=True, kw_only=True)
class Knee:
    """Where the hard limit starts, and how well that explains the trials."""

    level: float
    rss: float
    aicc: float | None


def find_knee(levels: Floats, measured: Floats) -> Knee | None:
    """The best k between the second level and the last but one; None with fewer than four levels."""
    distinct = np.unique(levels)
    if len(distinct) < 4:
        return None
    best: tuple[float, float] | None = None
    for k in np.linspace(distinct[1], distinct[-2], _STEPS):
        gap = np.log(measured / np.minimum(levels, k))
        rss = float(np.sum((gap - gap.mean()) ** 2))
        if best is None or rss < best[0]:
            best = (rss, float(k))
    assert best is not None
    return Knee(level=best[1], rss=best[0], aicc=aicc(best[0], len(levels), 2))


def clear_knee(levels: Floats, measured: Floats, smooth: list[float]) -> float | None:
    """The knee's level where it beats every smooth model's AICc by the margin, else None."""
    knee = find_knee(levels, measured)
    if knee is None or knee.aicc is None or not smooth:
        return None
    return knee.level if knee.aicc + KNEE_MARGIN < min(smooth) else None
