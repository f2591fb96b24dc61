"""The fit in tables: the candidates, figures of the chosen model, and answers beyond the points."""

from __future__ import annotations

from scale_sweep.analysis.fit import NAMES, RATE_UNITS, SYMBOLS, pair, quantity
from scale_sweep.base.units import format_number
from scale_sweep.model import Estimate, FitReport, ModelFit, Need, Prediction
from scale_sweep.report.table import ABSENT, Table, fixed, short

_UNITLESS = ("alpha", "beta", "exponent")
FORMULA = (
    "linear γn · affine a + bn · Amdahl γn / (1 + α(n−1)) · USL γn / (1 + α(n−1) + βn(n−1)) · knee min(λn, C) · "
    "power γn^p"
)


def models_table(fit: FitReport) -> Table:
    """The candidates: parameters with standard errors and intervals, AICc and holdout error."""
    best = min((m.aicc for m in fit.models if m.aicc is not None), default=None)
    rows = []
    for m in fit.models:
        delta = m.aicc - best if m.aicc is not None and best is not None else None
        size = _mean(fit)
        residual = 100 * m.rse / size if m.rse is not None and size else None
        off = 100 * m.holdout_error if m.holdout_error is not None else None
        values = ", ".join(_parameter(m, name) for name in m.parameters)
        rows.append(
            (
                NAMES[m.model] + (" ← chosen" if m.model == fit.chosen else ""),
                values,
                fixed(residual, 1),
                fixed(off, 1),
                fixed(m.aicc, 1),
                fixed(delta, 1),
            )
        )
    headers = ("Model", "Parameters", "Residual (%)", "Last level left out (% off)", "AICc", "ΔAICc")
    notes: tuple[str, ...] = (
        "± is one standard error; a parameter at its bound has none",
        "ΔAICc below 2: the models are not significantly different; – : too few trials or levels for this model",
        "last level left out: how far off a fit to the other levels predicts it",
    )
    unit = fit.models[0].unit_level if fit.models else 1.0
    if unit != 1:
        notes += (
            (
                f"n in Amdahl and USL counts in units of the smallest level, {format_number(unit)} {fit.axis}; "
                f"γ is per 1 of {fit.axis}"
            ),
        )
    return Table(title="Models", headers=headers, rows=tuple(rows), words=(0, 1), notes=notes if rows else ())


def rejected_table(fit: FitReport) -> Table:
    """The levels that lost trials: how many, why, and their rates."""
    rows = []
    for r in fit.rejected:
        marks = ", ".join(f"{n} {kind}" for kind, n in r.marks.items())
        state = "not on the curve" if r.is_lost else "in doubt" if r.is_doubted else ""
        measured = quantity(r.rate, None) if r.rate is not None else ABSENT
        rows.append((format_number(r.level), str(r.kept), marks, measured, state))
    beside = fit.beside
    notes = ["mean rate of the rejected trials; nothing is predicted across a level that lost all of its trials"]
    if beside is not None:
        notes.append(f"with the rejected trials at {', '.join(map(format_number, beside.levels))}: {beside.sentence}")
    return Table(
        title="Rejected",
        headers=(fit.axis, "kept", "rejected", "they measured", ""),
        rows=tuple(rows),
        words=(2, 4),
        notes=tuple(notes) if rows else (),
    )


def parameters_table(fit: FitReport) -> Table:
    """The parameters' 95 % intervals."""
    rows = [
        (NAMES[m.model], ", ".join(_interval(name, e) for name, e in m.parameters.items()))
        for m in fit.models
        if any(e.low is not None for e in m.parameters.values())
    ]
    notes = ("percentiles of a seeded bootstrap",)
    return Table(
        title="Intervals",
        headers=("Model", "95 % intervals"),
        rows=tuple(rows),
        words=(0, 1),
        notes=notes if rows else (),
    )


def _mean(fit: FitReport) -> float | None:
    trials = sum(p.n for p in fit.points)
    return sum(p.n * p.rate_mean for p in fit.points) / trials if trials else None


def _parameter(model: ModelFit, name: str) -> str:
    estimate = model.parameters[name]
    words = f"{SYMBOLS.get(name, name)} = {_value(name, estimate)}"
    if name in model.on_bound:
        return f"{words} ({'not reached' if name == 'capacity' else 'at its bound'})"
    return words if estimate.std_err is not None else f"{words} (error unknown)"


def _value(name: str, estimate: Estimate) -> str:
    if name not in _UNITLESS:
        return quantity(estimate.value, estimate.std_err)
    return pair(estimate.value, estimate.std_err) if estimate.std_err else short(estimate.value)


def _interval(name: str, estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{SYMBOLS.get(name, name)} {ABSENT}"
    return f"{SYMBOLS.get(name, name)} {_range(estimate.low, estimate.high, name not in _UNITLESS)}"


def _range(low: float | None, high: float | None, is_rate: bool) -> str:
    if low is None and high is None:
        return ABSENT
    ends = [ABSENT if v is None else quantity(v, None) if is_rate else short(v) for v in (low, high)]
    return f"{ends[0]} to {ends[1]}" if high is not None else f"{ends[0]} or more"


def derived_table(fit: FitReport) -> Table:
    """Peak, hard limit, maximum and the level at 90 % efficiency, as far as the chosen model supports them."""
    figures = (
        ("Peak", fit.peak, False),
        ("Hard limit", fit.knee, False),
        ("Highest rate that the model can reach", fit.maximum, True),
        ("Efficiency falls to 90 %", fit.level_at_90, False),
    )
    rows, unit = [], RATE_UNITS.get(fit.rate, fit.rate)
    for name, estimate, is_rate in figures:
        if estimate is not None:
            value = f"{quantity(estimate.value, None)} {unit}" if is_rate else f"{short(estimate.value)} {fit.axis}"
            rows.append((name, value, _range(estimate.low, estimate.high, is_rate)))
    notes = (
        (
            "absent: the chosen model has none, or its interval is as wide as the figure; efficiency is against the "
            "smallest level; intervals are given the model"
        ),
    )
    return Table(
        title="What follows",
        headers=("Figure", "Value", "95 % interval"),
        rows=tuple(rows),
        words=(0,),
        notes=notes if rows else (),
    )


def asked_table(fit: FitReport) -> Table:
    """Predictions and needs, each with its interval or the reason why there is none."""
    rows = [_prediction_row(fit, p) for p in fit.predictions] + [_need_row(fit, n) for n in fit.needs]
    headers = ("Asked", "Answer", "95 % interval", "Note")
    note = (
        f"by the {NAMES[fit.chosen]} curve; the interval is of the curve, over every model that the points leave "
        "possible; a single trial scatters by the noise on top"
        if fit.chosen
        else ""
    )
    return Table(
        title="Beyond the points",
        headers=headers,
        rows=tuple(rows),
        words=(0, 3),
        notes=(note,) if rows and note else (),
    )


def _prediction_row(fit: FitReport, p: Prediction) -> tuple[str, str, str, str]:
    question = f"rate at {format_number(p.level)} {fit.axis}"
    if p.rate is None:
        return question, ABSENT, ABSENT, p.reason
    notes = ["extrapolated"] if p.extrapolated else []
    others = [name for name in p.by_model if name != fit.chosen]
    notes += [f"{NAMES[name]} {_range(p.by_model[name].low, p.by_model[name].high, True)}" for name in others]
    notes += [p.reason] if p.reason else []
    return question, quantity(p.rate, None), _range(p.low, p.high, True), ", ".join(notes)


def _need_row(fit: FitReport, n: Need) -> tuple[str, str, str, str]:
    question = f"{fit.axis} needed for {quantity(n.rate, None)}"
    if n.level is None:
        return question, ABSENT, ABSENT, n.reason
    level = f"up to {short(n.level)}" if n.falling else short(n.level)
    return question, level, _range(n.low, n.high, False), n.reason
