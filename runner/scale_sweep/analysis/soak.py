"""A soak: how far short windows are from the mean of a long trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from scale_sweep.judge.verdict.window_start import claimed, quickly

SLOW_SHARE = 0.8  # of the median rate: three seconds with a lower mean are slow
STILL_SHARE = 0.1  # of the median rate: a lower second is a stall
SHORTEST_S = 3  # of a slow period
GAP_S = 3  # seconds between two slow ones that are still one period
BUSY_DISK = 1.5  # times the median write rate
BUSY_CPU, IDLE_CPU = 1.15, 0.7  # times the median of the server's cores
REGULAR = 0.25  # relative difference from the median distance that still counts as regular
DISTANCES_MIN = 2


@dataclass(frozen=True, kw_only=True)
class Second:
    """A figure that was not measured is None."""

    t_s: float
    rate: float
    disk_mb_per_s: float | None = None
    server_cores: float | None = None


@dataclass(frozen=True, kw_only=True)
class Period:
    start_s: float
    end_s: float
    rate_share: float  # of the median rate, 0..1
    still_s: int  # seconds with nearly no rows
    seen: str  # what the machine did meanwhile, in words; "" if nothing was unusual or measured

    @property
    def name(self) -> str:
        return "stall" if self.still_s else "slow"


def slow_periods(seconds: Sequence[Second]) -> tuple[Period, ...]:
    """By time; three seconds at least."""
    if len(seconds) < SHORTEST_S:
        return ()
    usual = median(s.rate for s in seconds)
    around = [fmean(s.rate for s in seconds[max(0, i - 1) : i + 2]) for i in range(len(seconds))]
    slow = [i for i, rate in enumerate(around) if rate < SLOW_SHARE * usual]
    groups: list[list[int]] = []
    for i in slow:
        if groups and i - groups[-1][-1] <= GAP_S:
            groups[-1].append(i)
        else:
            groups.append([i])
    return tuple(_period(seconds, g[0], g[-1], usual) for g in groups if g[-1] - g[0] + 1 >= SHORTEST_S)


def regular_s(periods: Sequence[Period]) -> float | None:
    distances = [b.start_s - a.start_s for a, b in pairwise(periods)]
    if len(distances) < DISTANCES_MIN:
        return None
    usual = median(distances)
    return usual if median(abs(d - usual) for d in distances) <= REGULAR * usual else None


def _period(seconds: Sequence[Second], first: int, last: int, usual: float) -> Period:
    below = [i for i in range(first, last + 1) if seconds[i].rate < SLOW_SHARE * usual]
    inside = seconds[below[0] : below[-1] + 1]
    return Period(
        start_s=inside[0].t_s - 1,
        end_s=inside[-1].t_s,
        rate_share=fmean(s.rate for s in inside) / usual,
        still_s=sum(s.rate < STILL_SHARE * usual for s in inside),
        seen=_seen(seconds, inside),
    )


def _seen(seconds: Sequence[Second], inside: Sequence[Second]) -> str:
    def times(read: Callable[[Second], float | None]) -> float | None:
        whole = [v for s in seconds if (v := read(s)) is not None]
        here = [v for s in inside if (v := read(s)) is not None]
        usual = median(whole) if whole else 0.0
        return fmean(here) / usual if here and usual > 0 else None

    disk, cores = times(lambda s: s.disk_mb_per_s), times(lambda s: s.server_cores)
    parts = []
    if disk is not None and disk >= BUSY_DISK:
        parts.append(f"the disks took {disk:.1f} times their usual writes: a compaction, a checkpoint or a flush")
    if cores is not None and cores >= BUSY_CPU:
        parts.append(f"the server used {cores:.1f} times its usual CPU: background work")
    if cores is not None and cores <= IDLE_CPU:
        parts.append(f"the server used {cores:.1f} of its usual CPU: it waited")
    return "; ".join(parts)


STEP_S = 5  # between the starts of two windows
KINDS: tuple[tuple[str, int, int, Callable[[Sequence[float], int, int], tuple[float, int] | None]], ...] = (
    ("40 to 60 s", 40, 60, claimed),
    ("10 to 30 s (quick)", 10, 30, quickly),
)


@dataclass(frozen=True, kw_only=True)
class WindowRatios:
    name: str  # its length
    windows: int  # how many were tried
    valid: tuple[float, ...]  # the rate of each VALID one over the mean of the soak, ascending

    def quantile(self, share: float) -> float | None:
        """The ratio below which this share (0..1) of the VALID windows is."""
        if not self.valid:
            return None
        at = share * (len(self.valid) - 1)
        low = int(at)
        high = min(low + 1, len(self.valid) - 1)
        return self.valid[low] + (at - low) * (self.valid[high] - self.valid[low])


def ratios_of_windows(rates: Sequence[float]) -> tuple[WindowRatios, ...]:
    """For each kind of window. rates: of the soak, one for each second."""
    mean, of_kinds = fmean(rates), []
    for name, shortest_s, longest_s, measure in KINDS:
        starts = range(0, len(rates) - longest_s + 1, STEP_S)
        tried = [measure(rates[start : start + longest_s], shortest_s, longest_s) for start in starts]
        valid = tuple(sorted(one[0] / mean for one in tried if one is not None))
        if tried:
            of_kinds.append(WindowRatios(name=name, windows=len(tried), valid=valid))
    return tuple(of_kinds)
