"""Where the noise of a run comes from.

A trial's ln(rate) is level + session + block + start + window + seconds, and each of the last five is random (Kalibera
and Jones, "Rigorous benchmarking in reasonable time", 2013).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scale_sweep.analysis.confidence import pooled_squares
from scale_sweep.analysis.noise.agreement import CORRELATION_MAX, Point, about_trend, counting, inflation
from scale_sweep.analysis.noise.drift_test import log_value
from scale_sweep.base.units import counted
from scale_sweep.model.observed import NoisePart, NoiseParts, Observation, PartName, WindowNoise

DEGREES_MIN = 2  # of the spread between trials; with one, a part is a coin's toss
PLACES: Mapping[PartName, str] = {
    "seconds": "from second to second",
    "window": "drift within the windows",
    "start": "between server starts",
    "start or block": "between server starts, or between blocks",
    "block": "between blocks",
    "session": "between sessions",
}
REDUCES: Mapping[PartName, str] = {
    "seconds": "longer windows reduce it, and so do more replicates",
    "window": "a longer warm-up or longer windows reduce it, and so do more replicates",
    "start": "more replicates reduce it, longer windows do not",
    "start or block": "more replicates reduce it, longer windows do not",
    "block": "more replicates reduce it, longer windows do not, and a speedup does not contain it",
    "session": "more sessions reduce it, more replicates in one session do not",
}
Floats = NDArray[np.float64]


def parts_of(sessions: Sequence[Sequence[Observation]]) -> NoiseParts | None:
    """From one run or several of the same; None with too few replicates, or without windows."""
    kept = [(at, one) for at, observed in enumerate(sessions) for of_it in counting(observed).values() for one in of_it]
    windows = [(one.point, one.window) for _, one in kept if one.window is not None]
    if not kept or not windows:
        return None
    between = _between(
        np.array([log_value(one) for _, one in kept], dtype=float),
        _members([one.point for _, one in kept]),
        _members([at for at, _ in kept]),
        _members([(at, one.block) for at, one in kept]),
    )
    if between is None:
        return None
    variances, degrees = between
    within = _within(windows)
    start: PartName = "start" if "block" in variances else "start or block"
    whole = variances.pop("start")
    variances = {**within, start: max(0.0, whole - sum(within.values())), **variances}
    return NoiseParts(
        parts=tuple(NoisePart(name=name, percent=100 * math.sqrt(value)) for name, value in variances.items()),
        trials=len(kept),
        degrees=degrees,
        window_s=sum(window.seconds for _, window in windows) / len(windows),
    )


def _members(names: Sequence[object]) -> Floats:
    """(trials, members): 1 where the trial belongs to the member."""
    distinct = {name: at for at, name in enumerate(dict.fromkeys(names))}
    columns = np.zeros((len(names), len(distinct)))
    columns[np.arange(len(names)), [distinct[name] for name in names]] = 1.0
    return columns


@dataclass(frozen=True, kw_only=True)
class _Residual:
    squares: float
    degrees: int
    projection: Floats

    def seen(self, factor: Floats) -> float:
        return float(np.sum((self.projection @ factor) ** 2))


def _residual(logs: Floats, *factors: Floats) -> _Residual:
    design = np.hstack(factors)
    projection = np.eye(len(logs)) - design @ np.linalg.pinv(design)
    left = projection @ logs
    return _Residual(
        squares=float(left @ left), degrees=len(logs) - int(np.linalg.matrix_rank(design)), projection=projection
    )


def _between(
    logs: Floats, points: Floats, sessions: Floats, blocks: Floats
) -> tuple[dict[PartName, float], int] | None:
    """Variances of trials ("start", with their windows), blocks and sessions, as far as they are apart; the degrees of
    the first."""
    of_run, of_block = _residual(logs, points, sessions), _residual(logs, points, blocks)
    is_apart = of_block.degrees >= DEGREES_MIN and of_run.degrees > of_block.degrees
    inner = of_block if is_apart else of_run
    if inner.degrees < DEGREES_MIN:
        return None
    variances: dict[PartName, float] = {"start": inner.squares / inner.degrees}
    if is_apart:
        block = (of_run.squares - of_run.degrees * variances["start"]) / of_run.seen(blocks)
        if block <= 0:
            inner = of_run
            variances["start"] = inner.squares / inner.degrees
        variances["block"] = max(0.0, block)
    if sessions.shape[1] > 1:
        whole = _residual(logs, points)
        known = whole.degrees * variances["start"] + whole.seen(blocks) * variances.get("block", 0.0)
        variances["session"] = max(0.0, (whole.squares - known) / whole.seen(sessions))
    return variances, inner.degrees


def _within(windows: Sequence[tuple[Point, WindowNoise]]) -> dict[PartName, float]:
    """Variances of a window's mean by its seconds, and by a drift that a point's windows do not share."""
    by_point: dict[Point, list[WindowNoise]] = {}
    for point, window in windows:
        by_point.setdefault(point, []).append(window)
    seconds = sum(len(of_it) * _of_seconds(of_it) for of_it in by_point.values()) / len(windows)
    halves = {
        point: known for point, of_it in by_point.items() if (known := [w for w in of_it if w.halves is not None])
    }
    degrees = sum(len(of_it) - 1 for of_it in halves.values())
    if degrees < DEGREES_MIN:
        return {"seconds": seconds}
    return {"seconds": seconds, "window": max(0.0, _of_halves(halves, degrees))}


def _of_seconds(windows: Sequence[WindowNoise]) -> float:
    """The mean variance of a point's windows by their seconds, whose correlation is pooled."""
    whole = sum(window.seconds for window in windows)
    r = sum(window.seconds * about_trend(window) for window in windows) / whole
    r = min(CORRELATION_MAX, max(0.0, r))
    return sum(window.rest**2 / window.seconds for window in windows) / len(windows) * inflation(r)


def _of_halves(halves: Mapping[Point, Sequence[WindowNoise]], degrees: int) -> float:
    """Two halves differ by four times this variance, and four times that of the seconds."""
    squares = seconds = 0.0
    for of_it in halves.values():
        squares += pooled_squares([[window.halves or 0.0 for window in of_it]])[0]
        seconds += len(of_it) * _of_seconds(of_it)
    count = sum(len(of_it) for of_it in halves.values())
    return (squares / degrees - 4 * seconds / count) / 4


def pooled_parts(runs: Sequence[NoiseParts]) -> NoiseParts | None:
    """By degrees of freedom, at the windows of the first run. Starts that one run could not separate from blocks stay
    joined."""
    if not runs:
        return None
    weights = sum(run.degrees for run in runs)
    is_joined = any(part.name == "start or block" for run in runs for part in run.parts)
    sums: dict[PartName, float] = {}
    for run in runs:
        for part in run.parts:
            name: PartName = "start or block" if is_joined and part.name in ("start", "block") else part.name
            longer = run.window_s / runs[0].window_s if name in ("seconds", "window") else 1.0
            sums[name] = sums.get(name, 0.0) + run.degrees / weights * part.percent**2 * longer
    return NoiseParts(
        parts=tuple(NoisePart(name=name, percent=math.sqrt(value)) for name, value in sums.items()),
        trials=sum(run.trials for run in runs),
        degrees=weights,
        window_s=runs[0].window_s,
    )


def parts_sentence(parts: NoiseParts | None) -> tuple[str, ...]:
    largest = parts.largest if parts is not None else None
    if parts is None or largest is None:
        return ()
    share = f"{100 * parts.share(largest):.0f} % of its variance, estimated from {counted(parts.trials, 'trial')}"
    return (f"the largest part of the noise is {PLACES[largest.name]} ({share}): {REDUCES[largest.name]}",)
