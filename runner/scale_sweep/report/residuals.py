"""How far the fitted trials are from the drawn model, as SVG: a reader sees a misfit that the curve hides. Pure."""

from __future__ import annotations

from scale_sweep.analysis.fit import NAMES, model_rate, trials_percent
from scale_sweep.model import StoredRun
from scale_sweep.report.curve import drawn_model, rate_of_trial
from scale_sweep.report.figures import fit_of
from scale_sweep.report.svg import Frame, area, axes, drawing, marker, x_levels
from scale_sweep.report.trials import key_of


def residuals_svg(run: StoredRun, width: int = 520, height: int = 230) -> str:
    """The distance of each fitted trial from the drawn model, in percent, with a band for 95 % of the trials."""
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
