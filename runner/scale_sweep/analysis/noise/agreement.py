"""Do the replicates of a point agree within the errors of their own windows? The windows' degrees of freedom count two
uncertainties: of a spread of few independent seconds, and of the correlation (standard error √((1 − r²) / n), Bartlett
1946)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scipy import special

from scale_sweep.analysis.noise.drift_test import log_value, steadied
from scale_sweep.model.observed import Agreement, LevelAgreement, Observation, WindowNoise

DISAGREES_BELOW = 0.01  # p-value of the test over all points; and of those of the single points together (Bonferroni)
LEAST_PERCENT = 2.0  # a smaller spread leaves 99 % of the trials within the claim of 5 %
CORRELATION_MAX, CORRELATION_MIN = 0.95, -0.9
Point = tuple[float, str]


class PredictedSpread(NamedTuple):
    """The spread of the mean of one window, by its seconds."""

    variance: float
    degrees: float


def agreement_of(observed: Sequence[Observation]) -> Agreement | None:
    """Points with two replicates and known windows, without a drift. The test of all leaves out points that disagree by
    themselves."""
    steady, line = steadied(observed)
    logs: dict[Point, list[float]] = {}
    predicted: dict[Point, PredictedSpread] = {}
    for point, of_it in counting(steady).items():
        of_windows = predicted_of([o.window for o in of_it if o.window is not None])
        if len(of_it) > 1 and of_windows is not None:
            logs[point] = [value for o in of_it if (value := log_value(o)) is not None]
            predicted[point] = of_windows
    whole = _together(logs, predicted, line is not None)
    if whole is None:
        return None
    levels = tuple(_level(point, logs[point], predicted[point], DISAGREES_BELOW / len(logs)) for point in logs)
    apart = {(one.level, one.variant) for one in levels if one.disagrees}
    rest = _together({point: of_it for point, of_it in logs.items() if point not in apart}, predicted, line is not None)
    spread, degrees, windows = whole
    return Agreement(
        spread_percent=100 * math.sqrt(spread),
        windows_percent=100 * math.sqrt(windows.variance),
        degrees=(float(degrees), windows.degrees),
        p_value=_p_value(*whole),
        disagrees=rest is not None and _matters(rest[0], _p_value(*rest), DISAGREES_BELOW),
        levels=levels,
    )


def counting(observed: Sequence[Observation]) -> Mapping[Point, list[Observation]]:
    groups: dict[Point, list[Observation]] = {}
    for one in sorted(observed, key=lambda o: o.point):
        if one.role == "point" and not one.mark and log_value(one) is not None:
            groups.setdefault(one.point, []).append(one)
    return groups


def predicted_of(windows: Sequence[WindowNoise]) -> PredictedSpread | None:
    """Pooled over a point's windows; None if they hold too few independent seconds."""
    known = [w for w in windows if w.spread > 0]
    seconds = sum(w.seconds for w in known)
    if not known:
        return None
    r = sum(w.seconds * correlation_of(w) for w in known) / seconds
    variance = sum((w.seconds - 1) * w.spread**2 for w in known) / (seconds - len(known))
    independent = seconds / len(known) / inflation(r)
    if independent <= 1:
        return None
    spare = len(known) * (independent - 1)
    degrees = 2 / (2 / spare + 4 / ((1 - r * r) * seconds))
    return PredictedSpread(variance=variance / (independent - 1), degrees=degrees)


def correlation_of(window: WindowNoise) -> float:
    """Between neighbouring seconds, by the window's own error, which short windows lack."""
    if window.error is None or window.error <= 0:
        return min(CORRELATION_MAX, max(0.0, about_trend(window)))
    many = window.seconds * (window.error / window.spread) ** 2
    return min(CORRELATION_MAX, max(CORRELATION_MIN, (many - 1) / (many + 1)))


def about_trend(window: WindowNoise) -> float:
    """Without the trend, which lowers the estimate by (1 + r) / n more than the mean does."""
    return (window.seconds * window.correlation + 1) / (window.seconds - 1)


def inflation(r: float) -> float:
    """Seconds that count as one independent second."""
    return (1 + r) / (1 - r)


def _together(
    logs: Mapping[Point, Sequence[float]], predicted: Mapping[Point, PredictedSpread], is_drifting: bool
) -> tuple[float, int, PredictedSpread] | None:
    """Variance of several points' replicates, its degrees, and that of the windows; None without degrees."""
    count = sum(len(of_it) - 1 for of_it in logs.values())
    if count - is_drifting < 1:
        return None
    parts = [(len(of_it) - 1) / count * predicted[point].variance for point, of_it in logs.items()]
    known = sum(part**2 / predicted[point].degrees for part, point in zip(parts, logs, strict=True))  # Satterthwaite
    spread = sum(map(_squares, logs.values())) / (count - is_drifting)
    return spread, count - is_drifting, PredictedSpread(variance=sum(parts), degrees=sum(parts) ** 2 / known)


def _level(point: Point, logs: Sequence[float], predicted: PredictedSpread, alpha: float) -> LevelAgreement:
    spread = _squares(logs) / (len(logs) - 1)
    p_value = _p_value(spread, len(logs) - 1, predicted)
    return LevelAgreement(
        level=point[0],
        variant=point[1],
        n=len(logs),
        spread_percent=100 * math.sqrt(spread),
        windows_percent=100 * math.sqrt(predicted.variance),
        p_value=p_value,
        disagrees=_matters(spread, p_value, alpha),
    )


def _squares(logs: Sequence[float]) -> float:
    mean = sum(logs) / len(logs)
    return sum((value - mean) ** 2 for value in logs)


def _p_value(spread: float, degrees: int, predicted: PredictedSpread) -> float:
    return float(special.fdtrc(degrees, predicted.degrees, spread / predicted.variance))


def _matters(spread: float, p_value: float, alpha: float) -> bool:
    return p_value < alpha and 100 * math.sqrt(spread) >= LEAST_PERCENT
