"""The repeats that show the noise of a comparison, and how many of them would show a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.analysis.confidence import POWER, REPEATS_MAX, SIGNIFICANCE, SOUGHT_PERCENT, student
from scale_sweep.model.compared import PointRatio

SIZES = (SOUGHT_PERCENT, 20.0, 50.0)  # differences in percent, the one that sweeps look for first


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """The repeats that show the noise of a comparison."""

    unit: str  # in words, "blocks"
    count: float  # their number; for unequal numbers of A and of B, the equal number with the same error
    degrees: float  # of freedom that this number gives

    def error_at(self, count: int, error: float) -> float:
        """The standard error with so many repeats. error: with those that there are."""
        return error * math.sqrt(self.count / count)

    def degrees_at(self, count: int, degrees: float) -> float:
        """The degrees of freedom with so many repeats, at least 1. degrees: with those that there are."""
        return max(degrees * (count - 1) / self.degrees, 1.0)


def repeats_of_blocks(blocks: int) -> Repeats:
    return Repeats(unit="blocks", count=float(blocks), degrees=float(max(blocks - 1, 1)))


def repeats_of_sessions(sessions_a: int, sessions_b: int) -> Repeats:
    count = 2 / (1 / sessions_a + 1 / sessions_b)
    return Repeats(unit="runs of A and of B each", count=count, degrees=(sessions_a + sessions_b) / 2 - 1)


def repeats_of_trials(points: Sequence[PointRatio]) -> Repeats | None:
    """The replicates of one run a side, by the point with the fewest; None for single trials."""
    counts = [2 / (1 / p.trials_a + 1 / p.trials_b) for p in points if p.trials_a and p.trials_b]
    least = min(counts, default=1.0)
    return Repeats(unit="replicates", count=least, degrees=least - 1) if least > 1 else None


def repeats_to_see(percent: float, points: Sequence[PointRatio], tests: int, repeats: Repeats) -> int | None:
    """The fewest repeats that show a B slower by this percentage at each single point, four times in five; None for
    more than REPEATS_MAX. tests: the number of ratios that are tested together."""
    known = [(p.error, p.degrees) for p in points if p.error is not None and p.degrees is not None]
    return next((n for n in range(2, REPEATS_MAX + 1) if _sees(percent, known, tests, repeats, n)), None)


def _sees(percent: float, known: Sequence[tuple[float, float]], tests: int, repeats: Repeats, count: int) -> bool:
    """Whether so many repeats show it at every point. known: the error and the degrees of freedom of each."""
    for error, degrees in known:
        free = repeats.degrees_at(count, degrees)
        reach = student(free, 1 - SIGNIFICANCE / 2 / tests) + student(free, POWER)
        if reach * repeats.error_at(count, error) > -math.log1p(-percent / 100):
            return False
    return bool(known)


def enough_words(points: Sequence[PointRatio], tests: int, repeats: Repeats) -> str:
    """How many repeats would show the smallest of SIZES that any number up to REPEATS_MAX shows: "27 blocks would show
    10 % at every point"."""
    where = " at every point" if len(points) > 1 else ""
    for percent in SIZES:
        if (needed := repeats_to_see(percent, points, tests, repeats)) is not None:
            return f"{needed} {repeats.unit} would show {percent:g} %{where}"
    return f"more than {REPEATS_MAX} {repeats.unit} would be needed to show {SIZES[-1]:g} %{where}"
