"""The end of the warm-up by MSER-5: of all starts, the one with the most exact mean after it. Pure.

MSER-5 (White 1997; White, Cobb and Spratt 2000) takes means of five seconds and, for each number d of them that is
discarded at the start, the squared standard error of the mean of the rest, s²(d) / (n - d). It is smallest at the end
of the transient. Chance moves that place within a steady part, so the first start that is nearly as good is taken.
Refuses a start in the last half of the series: the series is then too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from scale_sweep.judge.verdict.thresholds import BATCH_S, BATCHES_MIN, MSER_NEAR, STALLED_SHARE, STARTED


@dataclass(frozen=True, kw_only=True)
class Transient:
    """seconds: to discard at the start of the series. by_start: MSER-5's statistic relative to its value for nothing
    discarded, by seconds discarded; it covers the whole series. told: whether the smallest value is in the first half,
    or nearly, so that the series was long enough."""

    seconds: int
    by_start: tuple[tuple[int, float], ...]
    told: bool


def transient(rates: Sequence[float]) -> Transient | None:
    """MSER-5's answer for one value each second; None for a series that is too short, or constant."""
    batches = [fmean(rates[i : i + BATCH_S]) for i in range(0, len(rates) - BATCH_S + 1, BATCH_S)]
    if len(batches) < BATCHES_MIN:
        return None
    found = [_statistic(batches[d:]) for d in range(len(batches) - 1)]
    if found[0] <= 0:
        return None
    least = min(found[: (len(batches) + 1) // 2])
    best = next(d for d, value in enumerate(found) if value <= MSER_NEAR * least)
    return Transient(
        seconds=best * BATCH_S,
        by_start=tuple((d * BATCH_S, value / found[0]) for d, value in enumerate(found)),
        told=least <= MSER_NEAR * min(found[:-2]),  # of the last few batches the statistic is chance
    )


def may_be_discarded(rates: Sequence[float], seconds: int) -> bool:
    """Whether the first seconds can be a warm-up. After the rate has reached half its median, a second without rows is
    a stall of the server, which belongs into its number."""
    usual = median(rates)
    started = next((i for i, r in enumerate(rates) if r >= STARTED * usual), len(rates))
    return all(r >= STALLED_SHARE * usual for r in rates[started:seconds])


def _statistic(rest: Sequence[float]) -> float:
    mean = fmean(rest)
    return sum((b - mean) ** 2 for b in rest) / len(rest) ** 2
