"""Trials → observations: the one place that reads a rate out of a trial."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.derived import is_quick
from scale_sweep.model.measured import Measurement, TrialResult, VerdictKind
from scale_sweep.model.observed import Observation, WindowNoise
from scale_sweep.sweep.vary import slug

RateOf = Callable[[TrialResult], float | None]


def achieved(result: TrialResult) -> float | None:
    """Requests/s if the load does not only write, else rows/s."""
    return result.achieved_per_s


NO_RATE = "VALID without a rate"
CHECK = "connections check"  # its knobs differ from its level's
PROFILE = "profiled"  # perf slows it down
PROOF = "disturbed"  # on purpose, for a proof
SENTINEL = "sentinel"  # its window is longer than those of its level
CONFIRM = "confirmation"  # its rate was offered
OPEN_LOOP = "open loop"  # its rate was offered, and is not a capacity
SHORT_STEPS = "search with short steps"  # they show what held for so long, and no capacity
_OF_ROLE = {"check": CHECK, "profile": PROFILE, "proof": PROOF, "confirm": CONFIRM, "sentinel": SENTINEL}
_OF_NO_WINDOW = ("durable_rows_per_s", "capacity_per_s")
SECONDS_MIN = 4  # of a window with figures of its seconds
PERCENT_MOST = 1e6  # a stored file may hold any number; nothing is known of a window that varied more


def observations(results: Sequence[TrialResult], rate: str | RateOf) -> tuple[Observation, ...]:
    """rate: a field of Measurement (ValueError if unknown), or a function of the trial."""
    if isinstance(rate, str) and rate not in Measurement.__dataclass_fields__:
        raise ValueError(f"{rate!r} is not a figure of a measurement")
    read: RateOf = attrgetter(f"measurement.{rate}") if isinstance(rate, str) else rate
    made = tuple(_observation(result, read(result)) for result in results)
    if rate in _OF_NO_WINDOW:
        return made
    return tuple(replace(one, window=window_noise(r.measurement)) for one, r in zip(made, results, strict=True))


def window_noise(m: Measurement) -> WindowNoise | None:
    """None if the window was too short for figures."""
    cv, trend_error, correlation = m.rate_cv_percent, m.rate_drift_error_percent, m.rate_correlation
    n = round(m.window_s or 0.0)
    if cv is None or trend_error is None or correlation is None or n < SECONDS_MIN:
        return None
    if max(abs(cv), abs(trend_error)) > PERCENT_MOST or abs(correlation) >= 1:
        return None
    return WindowNoise(
        seconds=n,
        spread=cv / 100,
        rest=trend_error / 100 * math.sqrt(n * (n * n - 1) / 12) / (n - 1),
        correlation=correlation,
        error=m.rate_error_percent / 100 if m.rate_error_percent is not None else None,
        halves=m.rate_halves_percent / 100 if m.rate_halves_percent is not None else None,
    )


def cpu_observations(results: Sequence[TrialResult], rate: RateOf) -> tuple[Observation, ...]:
    """Also of trials that others disturbed. rate: rate_per_cpu_s or rate_alone_per_s."""
    values = [rate(result) for result in results]
    return tuple(
        replace(
            _observation(result, value),
            mark=_OF_ROLE.get(result.trial.role, "" if value is not None else NO_RATE),
            note="",
        )
        for result, value in zip(results, values, strict=True)
    )


def _observation(result: TrialResult, value: float | None) -> Observation:
    trial, kind = result.trial, result.verdict.kind
    usable = value is not None and math.isfinite(value) and value > 0
    mark = _mark(result, usable=usable)
    if mark == SENTINEL and not (kind.is_fitted or kind is VerdictKind.UNSTEADY):
        mark = kind.value
    return Observation(
        level=trial.level,
        subject=slug(trial.variant),
        value=float(value) if value is not None and usable else None,
        order=trial.order,
        block=trial.block,
        mark=mark,
        note="" if mark or kind is VerdictKind.VALID else kind.value,
        role=trial.role,
        knobs_of_level=trial.knobs_of_level,
    )


def _mark(result: TrialResult, *, usable: bool) -> str:
    """Why a trial does not count."""
    if mark := _OF_ROLE.get(result.trial.role, ""):
        return mark
    if not result.verdict.kind.is_fitted:
        return result.verdict.kind.value
    if result.trial.load.rate:
        return OPEN_LOOP
    if result.trial.load.searches and is_quick(result):
        return SHORT_STEPS
    return "" if usable else NO_RATE


def point_name(level: float | None, variant: str, axis: str) -> str:
    """4, "", "cores" → "4 cores"."""
    if level is None:
        return "all points"
    return load_axis(axis).count(format_number(level)) + (f" ({variant})" if variant else "")
