"""The fit in tables, and how far the fitted trials are from the drawn model."""

from __future__ import annotations

import math

from scale_sweep.analysis.fit.beyond import goes_on
from scale_sweep.analysis.fit.cautions import trials_percent
from scale_sweep.analysis.fit.curve import model_rate
from scale_sweep.analysis.fit.models import NAMES, SYMBOLS
from scale_sweep.analysis.fit.summaries import holds_median
from scale_sweep.analysis.fit.words import RATE_UNITS, Terms
from scale_sweep.base.units import EXPLAINED, counted, format_number, format_rate, with_interval
from scale_sweep.model.fitted import Estimate, FitReport, ModelFit, Need, Prediction, StoredRun
from scale_sweep.report.curve import drawn_model, rate_of_trial
from scale_sweep.report.figures import fit_of
from scale_sweep.report.svg import Frame, area, axes, drawing, marker, x_levels
from scale_sweep.report.table import ABSENT, Table, fixed, short
from scale_sweep.report.trials import key_of

_UNITLESS = ("alpha", "beta", "exponent", "share", "break")
FORMULA = (
    "linear γn · affine a + bn · Amdahl γn / (1 + α(n−1)) · USL γn / (1 + α(n−1) + βn(n−1)) · knee min(λn, C) · "
    "power γn^p · with a break: min(n, b) + s max(n − b, 0) in place of n"
)


def interval_words(fit: FitReport, trials: str = "valid trials") -> str:
    """Meaning of the parentheses of a document. trials: measurements of a level."""
    if any(p.mean_low is not None for p in fit.points):
        return f"{EXPLAINED}."
    if any(p.n > 1 for p in fit.points):
        return pairs_words(fit)
    return f"{EXPLAINED}. Rates and speedups have no interval: no level has two {trials}." if fit.points else ""


def pairs_words(fit: FitReport) -> str:
    """The same for short windows, and how often such a range holds the median."""
    counts = sorted({len(p.pairs) for p in fit.points[1:] if len(p.pairs) > 1})
    if not counts:
        return "Rates of short windows have no interval, and no level has two pairs of trials with the first one."
    holds = " and ".join(f"{counted(n, 'pair')}: {100 * holds_median(n):.3g} %" for n in counts)
    return f"In parentheses: the range of the pairs, with the chance that it holds their median ({holds})."


def models_table(fit: FitReport) -> Table:
    """Parameters with their intervals, AICc and holdout error."""
    best = min((m.aicc for m in fit.models if m.aicc is not None), default=None)
    trials, rows = sum(p.n for p in fit.points), []
    size = sum(p.n * p.rate_mean for p in fit.points) / trials if trials else None
    for m in fit.models:
        delta = m.aicc - best if m.aicc is not None and best is not None else None
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
        "The intervals are percentiles of a seeded bootstrap, and hold if the model is right.",
        "Models with a ΔAICc below 2 are not significantly different. –: too few trials or levels.",
        "The last level left out shows how far off a fit to the other levels predicts it.",
    )
    unit = fit.models[0].unit_level if fit.models else 1.0
    if unit != 1:
        notes += (
            f"In Amdahl and USL, n counts in units of {format_number(unit)} {fit.axis}; γ is per 1 of {fit.axis}.",
        )
    return Table(title="Models", headers=headers, rows=tuple(rows), words=(0, 1), notes=notes if rows else ())


def rejected_table(fit: FitReport) -> Table:
    """How many trials each level lost, why, and their rates."""
    rows = []
    for r in fit.rejected:
        marks = ", ".join(f"{n} {kind}" for kind, n in r.marks.items())
        state = "not on the curve" if r.is_lost else "in doubt" if r.is_doubted else ""
        rows.append((format_number(r.level), str(r.kept), marks, format_rate(r.rate), state))
    note = "The rate is the mean of the rejected trials. Nothing is predicted across a level that lost all trials."
    return Table(
        title="Rejected",
        headers=(fit.axis, "kept", "rejected", "they measured", ""),
        rows=tuple(rows),
        words=(2, 4),
        notes=(note,) if rows else (),
    )


def _parameter(model: ModelFit, name: str) -> str:
    estimate = model.parameters[name]
    words = f"{SYMBOLS.get(name, name)} = {_value(name, estimate)}"
    if name == "break":
        return f"{words} (known)"
    if name in model.on_bound:
        return f"{words} {'not reached' if name == 'capacity' else 'at its bound'}"
    return words if estimate.low is not None else f"{words} without an interval"


def _value(name: str, estimate: Estimate) -> str:
    if name not in _UNITLESS:
        return format_rate(estimate.value, estimate.low, estimate.high)
    if estimate.low is None:
        return short(estimate.value)
    return with_interval(estimate.value, estimate.low, estimate.high)


def derived_table(fit: FitReport) -> Table:
    """Peak, hard limit, maximum and the level at 90 % efficiency, as far as the chosen model supports them."""
    figures = (
        ("Peak", fit.peak, False),
        ("Hard limit", fit.knee, False),
        ("Highest rate", fit.maximum, True),
        ("Efficiency falls to 90 %", fit.level_at_90, False),
    )
    rows, unit = [], RATE_UNITS.get(fit.rate, fit.rate)
    for name, estimate, is_rate in figures:
        if estimate is not None:
            value = (format_rate if is_rate else with_interval)(estimate.value, estimate.low, estimate.high)
            rows.append((name, f"{value} {unit if is_rate else fit.axis}"))
    note = (
        "A figure is absent if the chosen model does not have it, or if its interval is as wide as the figure. "
        "Efficiency is relative to the smallest level. Intervals hold if the model is right; that of the highest rate "
        "spans the models that the points support."
    )
    return Table(
        title="Figures from the fit",
        headers=("Figure", "Value"),
        rows=tuple(rows),
        words=(0,),
        notes=(note,) if rows else (),
    )


def asked_table(fit: FitReport) -> Table:
    """Each with its interval or the reason why there is none."""
    rows = [_prediction_row(fit, p) for p in fit.predictions] + [_need_row(fit, n) for n in fit.needs]
    headers = ("Asked", "Answer", "Note")
    note = (
        f"The answers are those of the {NAMES[fit.chosen]} curve. The interval belongs to the curve, over every model "
        "that the points support; a single trial also has noise."
        if fit.chosen
        else ""
    )
    return Table(
        title="Beyond the points",
        headers=headers,
        rows=tuple(rows),
        words=(0, 2),
        notes=(note,) if rows and note else (),
    )


def _prediction_row(fit: FitReport, p: Prediction) -> tuple[str, str, str]:
    question = f"rate at {Terms(axis=fit.axis).count(p.level)}"
    if p.rate is None:
        return question, ABSENT, p.reason
    last = fit.points[-1].level if fit.points else math.inf
    notes = [goes_on(p.level, last) or "extrapolated"] if p.extrapolated else []
    others = [name for name in p.by_model if name != fit.chosen]
    estimates = ((name, p.by_model[name]) for name in others)
    notes += [f"{NAMES[name]} {format_rate(one.value, one.low, one.high)}" for name, one in estimates]
    notes += [p.reason] if p.reason else []
    if p.is_wide:
        notes.append(_remedy(fit, p))
    return question, format_rate(p.rate, p.low, p.high), ", ".join(notes)


def _remedy(fit: FitReport, p: Prediction) -> str:
    if p.halved_by is None:
        return "too wide to use; no single level would halve it, but more replicates narrow it"
    return f"too wide to use; {Terms(axis=fit.axis).count(p.halved_by)}, measured too, would about halve it"


def _need_row(fit: FitReport, n: Need) -> tuple[str, str, str]:
    question = f"{fit.axis} needed for {format_rate(n.rate)}"
    if n.level is None:
        return question, ABSENT, n.reason
    level = with_interval(n.level, n.low, n.high)
    last = fit.points[-1].level if fit.points else math.inf
    notes = ", ".join(filter(None, (goes_on(n.level, last), n.reason)))
    return question, f"up to {level}" if n.falling else level, notes


def residuals_svg(run: StoredRun, width: int = 520, height: int = 230) -> str:
    """The fitted trials' distance from the drawn model in percent, with a band for 95 % of them."""
    fit = fit_of(run)
    model = drawn_model(fit)
    rates = {r.trial.trial_id: rate_of_trial(r, fit.rate) for r in run.on_curve}
    valid = [r for r in run.on_curve if r.verdict.kind.is_fitted and (rates[r.trial.trial_id] or 0) > 0]
    if model is None or len({r.trial.level for r in valid}) < 2:  # of one level, the model is its mean
        return ""
    off = [(r, 100 * ((rates[r.trial.trial_id] or 0.0) / model_rate(model, r.trial.level) - 1)) for r in valid]
    noise = trials_percent(fit.points, fit.noise_percent) or 0.0
    reach = 1.15 * max([abs(v) for _, v in off] + [noise, 0.5])
    last = max(r.trial.level for r in run.on_curve)
    frame = Frame.about_zero(width, height, 1.06 * last, reach)
    band = (
        area(frame, [(0, -noise), (frame.x_max, -noise)], [(0, noise), (frame.x_max, noise)], "band") if noise else ""
    )
    marks = [
        marker(frame.x(r.trial.level), frame.y(v), r.verdict.kind, f"{r.trial.trial_id}: {v:+.1f} %", 3.5, key_of(r))
        for r, v in off
    ]
    name = f"% off the {NAMES[model.model]} fit" + (" (band: 95 % of the trials)" if noise else "")
    levels = [r.trial.level for r in run.on_curve]
    inner = band + axes(frame, x_levels(levels, width - 80), run.plan.sweep.axis, name) + "".join(marks)
    return drawing(width, height, f"Residuals: {name}", inner, "small")
