"""The speed of the server's CPUs in a window, and the rate at an equal speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scale_sweep.judge.figures.rated import RatedInterval
from scale_sweep.judge.figures.window import EDGE_NS
from scale_sweep.model import Sample

_PIECES_MIN = 2.0
_SECONDS_MIN = 4  # for a slope
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class RateAndSpeed:
    """cv_percent: the spread of the speed from second to second. slope: by how many percent the rate rises if the speed
    rises by 1 %, by least squares on logarithms."""

    cv_percent: float
    slope: float


class WorkTotals:
    """The totals of all samples, to be read at any time between them."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        works = [work for sample in samples for work in sample.cpu_work]
        self._at_ns = np.array([work.monotonic_ns for work in works], dtype=float)
        self._speed = np.array([work.speed_total for work in works])
        self._pieces = np.array([work.pieces_total for work in works], dtype=float)

    def speed(self, start_ns: float, end_ns: float) -> float | None:
        """The mean speed between two times (monotonic), in pieces for each millisecond."""
        if len(self._at_ns) < 2 or start_ns < self._at_ns[0] - EDGE_NS or end_ns > self._at_ns[-1] + EDGE_NS:
            return None
        speed, pieces = (
            float(np.diff(np.interp([start_ns, end_ns], self._at_ns, totals))[0])
            for totals in (self._speed, self._pieces)
        )
        return speed / pieces if pieces >= _PIECES_MIN and speed > 0 else None

    def of_seconds(self, seconds: Sequence[RatedInterval]) -> tuple[float, ...]:
        """The speed in each of these whole seconds; empty if one of them has none."""
        speeds = [self.speed(one.monotonic_ns - _SECOND_NS, one.monotonic_ns) for one in seconds]
        known = tuple(speed for speed in speeds if speed is not None)
        return known if len(known) == len(speeds) else ()


def at_equal_speed(rates: Sequence[float], speeds: Sequence[float]) -> list[float]:
    """The rates as if each second had had the mean speed, for a server whose rate is proportional to it."""
    mean = sum(speeds) / len(speeds)
    return [rate * mean / speed for rate, speed in zip(rates, speeds, strict=True)]


def rate_and_speed(rates: Sequence[float], speeds: Sequence[float]) -> RateAndSpeed | None:
    """None for too few seconds, and for a second without a rate."""
    if len(rates) < _SECONDS_MIN or len(speeds) != len(rates) or min(rates) <= 0:
        return None
    speed, rate = _around(np.log(speeds)), _around(np.log(rates))
    spread = float(speed @ speed)
    if spread <= 0:
        return None
    return RateAndSpeed(cv_percent=100 * (spread / len(rates)) ** 0.5, slope=float(speed @ rate) / spread)


def _around(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values - float(values.mean())
