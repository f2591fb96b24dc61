"""The curve, the residuals, and the speedup beside a published one, as SVG.

Axes start at 0. Every trial with a rate is drawn; those that do not count are hollow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.fit import NAMES, model_rate
from scale_sweep.base.units import format_number, format_rate
from scale_sweep.model import FitReport, Measurement, ModelFit, StoredRun, TrialResult, VerdictKind
from scale_sweep.report.disk_tables import ceiling_points
from scale_sweep.report.figures import axis_facts, fit_of
from scale_sweep.report.reference import ReferenceComparison
from scale_sweep.report.style import PLOT_STYLE
from scale_sweep.report.svg import (
    Frame,
    area,
    axes,
    clipped,
    drawing,
    legend,
    line,
    marker,
    rate_scale,
    swatch,
    text,
    x_levels,
)
from scale_sweep.report.table import known

_IDEAL_TALLER = 2.2  # the ideal line may make the plot this much taller than the data; beyond that it is cut


def curve_svg(run: StoredRun, width: int = 940, height: int = 410) -> str:
    """Trials, means, the fit with its band, and the ideal line from the first level."""
    fit = fit_of(run)
    drawn = _with_rate(run, fit)
    if not drawn:
        return ""
    model = _drawn_model(fit)
    items = _legend_items(run, drawn, fit, model)
    keys, keys_height = legend(items, width, 8, 14)
    frame = _frame(run, fit, drawn, width, height, keys_height)
    unit, unit_name = rate_scale(frame.y_max, run.plan.sweep.work.rate_words)
    unit_name += " to the end of flush and sync" if fit.rate == "durable_rows_per_s" else ""
    levels = sorted({r.trial.level for r in run.on_curve})
    inner = [
        keys,
        axes(frame, x_levels(levels, width - 80), axis_facts(run).label, unit_name, unit),
        clipped(frame, _lines(frame, fit, model) + line(frame, ceiling_points(run), "limit")),
        _limits(frame, fit),
        *_marks(frame, drawn, fit),
    ]
    return drawing(width, height + keys_height, f"Rate over {run.plan.sweep.axis}. {fit.sentence}", "".join(inner))


def curve_svg_bytes(run: StoredRun) -> bytes:
    """The curve as an SVG file with its style; empty if no trial has a rate."""
    head, mark, rest = curve_svg(run).partition(">")
    return f"{head}><style>{PLOT_STYLE}</style>{rest}".encode() if mark else b""


def rate_of_trial(result: TrialResult, name: str) -> float | None:
    """The fitted rate of a trial, by the name of its field."""
    value = getattr(result.measurement, name if name in Measurement.__dataclass_fields__ else "rows_per_s")
    return value if isinstance(value, (int, float)) else None


def _drawn_model(fit: FitReport) -> ModelFit | None:
    """The chosen model, or the line through the origin if none can be chosen."""
    return next((m for m in fit.models if m.model == (fit.chosen or "linear")), None)


def _frame(run: StoredRun, fit: FitReport, drawn: Sequence[TrialResult], width: int, height: int, above: int) -> Frame:
    rates = [rate_of_trial(r, fit.rate) or 0.0 for r in drawn]
    last = max(r.trial.level for r in run.on_curve)
    top = max([*rates, *(p.rate_mean for p in fit.points), *(y for _, y in ceiling_points(run))])
    ideal = fit.points[0].rate_mean / fit.points[0].level * last if fit.points else top
    return Frame(
        width=width,
        height=height + above,
        left=54,
        right=18,
        top=above + 36,
        bottom=44,
        x_min=0.0,
        x_max=_x_max(run),
        y_min=0.0,
        y_max=1.06 * max(top, min(ideal, _IDEAL_TALLER * top)) or 1.0,
    )


def _lines(frame: Frame, fit: FitReport, model: ModelFit | None) -> str:
    parts = []
    if fit.points:
        smallest = fit.points[0]
        ideal = smallest.rate_mean / smallest.level
        parts.append(line(frame, [(0, 0), (frame.x_max, ideal * frame.x_max)], "ideal"))
    if model is not None:
        first, last = drawn_range(fit, frame.x_max)
        if band := _band(fit, model, frame.x_max):
            parts.append(area(frame, [(n, low) for n, low, _ in band], [(n, high) for n, _, high in band], "band"))
        steps = [first + (last - first) * i / 120 for i in range(0 if first else 1, 121)]
        css = "fit" if fit.chosen else "fit unsure"
        parts.append(line(frame, [(n, model_rate(model, n)) for n in steps], css))
    if fit.beside is not None and fit.beside.model is not None:
        beside, (first, last) = fit.beside.model, drawn_range(fit, frame.x_max)
        steps = [first + (last - first) * i / 120 for i in range(0 if first else 1, 121)]
        parts.append(line(frame, [(n, model_rate(beside, n)) for n in steps], "fit doubted"))
    return "".join(parts)


def _has_band(run: StoredRun) -> bool:
    """Whether the curve has a band around it."""
    fit = fit_of(run)
    model, drawn = _drawn_model(fit), _with_rate(run, fit)
    return model is not None and bool(drawn) and bool(_band(fit, model, _x_max(run)))


def _band(fit: FitReport, model: ModelFit, x_max: float) -> list[tuple[float, float, float]]:
    """Level, lower and upper bound, for the part of the curve that is drawn. Empty if no model was chosen."""
    first, last = drawn_range(fit, x_max)
    return [(n, low, high) for n, low, high in fit.band or model.band if first <= n <= last] if fit.chosen else []


def _x_max(run: StoredRun) -> float:
    return 1.06 * max(r.trial.level for r in run.on_curve)


def _with_rate(run: StoredRun, fit: FitReport) -> list[TrialResult]:
    return [r for r in run.on_curve if known(rate_of_trial(r, fit.rate))]


def drawn_range(fit: FitReport, end: float) -> tuple[float, float]:
    """The range in which the curve is drawn. It ends at the fitted levels if every trial beyond them was rejected."""
    first, last = (fit.points[i].level for i in (0, -1)) if fit.points else (0.0, end)
    lost = [r.level for r in fit.rejected if r.is_lost]
    return first if any(n < first for n in lost) else 0.0, last if any(n > last for n in lost) else end


def _limits(frame: Frame, fit: FitReport) -> str:
    """The peak or the knee, if it is inside the plot."""
    for level, name in ((fit.peak_level, "peak"), (fit.knee_level, "hard limit")):
        if level is not None and level <= frame.x_max:
            x = frame.x(level)
            bottom = frame.height - frame.bottom
            return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame.top}" y2="{bottom}" class="limit"/>' + text(
                x - 5, bottom - 8, f"{name} {level:.1f}", "dim", "end"
            )
    return ""


def _marks(frame: Frame, drawn: Sequence[TrialResult], fit: FitReport) -> list[str]:
    """Means as short bars, then every trial. Replicates are side by side, so that none hides another."""
    parts = []
    for p in fit.points:
        x, y = frame.x(p.level), frame.y(p.rate_mean)
        parts.append(f'<line x1="{x - 11:.1f}" x2="{x + 11:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="mean"/>')
    for r in drawn:
        peers = sorted(o.trial.replicate for o in drawn if o.trial.level == r.trial.level)
        apart = min(9.0, 30.0 / max(len(peers), 1))
        shift = apart * (peers.index(r.trial.replicate) - (len(peers) - 1) / 2)
        rate = f"{format_rate(rate_of_trial(r, fit.rate))} {r.trial.work.rate_words}"
        title = f"{r.trial.trial_id}: {rate}, {r.verdict.kind.value}"
        x, y = frame.x(r.trial.level) + shift, frame.y(rate_of_trial(r, fit.rate) or 0.0)
        parts.append(marker(x, y, r.verdict.kind, title))
    return parts


def _legend_items(
    run: StoredRun, drawn: Sequence[TrialResult], fit: FitReport, model: ModelFit | None
) -> list[tuple[str, str]]:
    items = []
    counts = Counter(r.verdict.kind for r in drawn)
    for kind in (kind for kind in VerdictKind if counts[kind]):
        words = "valid trial" if kind is VerdictKind.VALID else kind.value
        items.append((marker(8, 0, kind), f"{words} ({counts[kind]})"))
    if fit.points:
        items.append((swatch("mean"), "mean of the valid"))
    if model is not None:
        name = NAMES[model.model]
        items.append(
            (swatch("fit"), f"{name} fit, 95 % band{_until(fit)}")
            if fit.chosen and model.band
            else (swatch("fit"), f"{name} fit")
            if fit.chosen
            else (swatch("fit unsure"), "line through the origin; no model can be chosen")
        )
    if fit.beside is not None and fit.beside.model is not None:
        name = NAMES[fit.beside.model.model]
        at = ", ".join(format_number(n) for n in fit.beside.levels)
        items.append((swatch("fit doubted"), f"{name} fit with the rejected trials at {at}"))
    if fit.points:
        items.append((swatch("ideal"), f"ideal: n × the rate at {format_number(fit.points[0].level)}"))
    if ceiling_points(run):
        items.append((swatch("limit"), "what the disks alone would take (fio), at this database's bytes per row"))
    return items


def _until(fit: FitReport) -> str:
    return f"; ends before {format_number(fit.ends_before)}: every trial there was rejected" if fit.ends_before else ""


def _undrawn(run: StoredRun) -> list[str]:
    """Trials without a rate, which are not in the curve."""
    rate = fit_of(run).rate
    return [f"{r.trial.trial_id} ({r.verdict.kind.value})" for r in run.on_curve if not known(rate_of_trial(r, rate))]


def caption(run: StoredRun) -> str:
    """Sentences on what the curve shows, and what it does not show."""
    others = len(run.results) - len(run.on_curve)
    absent = _undrawn(run)
    sentences = (
        "The trials of the curve; replicates stand side by side, and hollow marks are trials that do not count.",
        "The band is 95 % for the curve, over the models that the points leave possible." if _has_band(run) else "",
        f"Drift checks, ablation trials and connections checks ({others}) are only in the table of trials."
        if others
        else "",
        f"Not drawn, for want of a rate: {', '.join(absent)}." if absent else "",
    )
    return " ".join(filter(None, sentences))


def residuals_svg(run: StoredRun, width: int = 520, height: int = 230) -> str:
    """The distance of each fitted trial from the drawn model, in percent, with the noise floor as a band."""
    fit = fit_of(run)
    model = _drawn_model(fit)
    rates = {r.trial.trial_id: rate_of_trial(r, fit.rate) for r in run.on_curve}
    valid = [r for r in run.on_curve if r.verdict.kind.is_fitted and (rates[r.trial.trial_id] or 0) > 0]
    if model is None or len({r.trial.level for r in valid}) < 2:  # of one level, the model is its mean
        return ""
    off = [(r, 100 * ((rates[r.trial.trial_id] or 0.0) / model_rate(model, r.trial.level) - 1)) for r in valid]
    noise = fit.noise_percent or 0.0
    reach = 1.15 * max([abs(v) for _, v in off] + [noise, 0.5])
    last = max(r.trial.level for r in run.on_curve)
    frame = Frame.about_zero(width, height, 1.06 * last, reach)
    band = (
        area(frame, [(0, -noise), (frame.x_max, -noise)], [(0, noise), (frame.x_max, noise)], "band") if noise else ""
    )
    marks = [
        marker(frame.x(r.trial.level), frame.y(v), r.verdict.kind, f"{r.trial.trial_id}: {v:+.1f} %", 3.5)
        for r, v in off
    ]
    name = f"% off the {NAMES[model.model]} fit" + (" (band: noise floor)" if noise else "")
    levels = [r.trial.level for r in run.on_curve]
    inner = band + axes(frame, x_levels(levels, width - 80), run.plan.sweep.axis, name) + "".join(marks)
    return drawing(width, height, f"Residuals: {name}", inner, "small")


def speedup_svg(run: StoredRun, both: ReferenceComparison, width: int = 520, height: int = 330) -> str:
    """Our speedup beside the published one. Machines differ, so rates are not drawn together."""
    theirs, ours = both.speedups(ours=False), both.speedups(ours=True)
    everything = [*theirs.items(), *ours.items()]
    if not everything:
        return ""
    base = both.base_published or both.base_ours or 1.0
    items = [(swatch(css) + _dot(8, 0, css), css) for css in ("published", "ours")] + [(swatch("ideal"), "ideal")]
    keys, above = legend(items, width, 8, 14)
    last = max(n for n, _ in everything)
    frame = Frame(
        width=width,
        height=height + above,
        left=54,
        right=16,
        top=above + 34,
        bottom=44,
        x_min=0.0,
        x_max=1.06 * last,
        y_min=0.0,
        y_max=1.06 * max(last / base, *(v for _, v in everything)),
    )
    parts = [
        keys,
        axes(
            frame,
            x_levels([n for n, _ in everything], width - 80),
            run.plan.sweep.axis,
            f"speedup, 1 at {format_number(base)}",
        ),
        clipped(frame, line(frame, [(0, 0), (frame.x_max, frame.x_max / base)], "ideal")),
    ]
    for css, side in (("published", theirs), ("ours", ours)):
        parts.append(line(frame, sorted(side.items()), css))
        parts += [_dot(frame.x(n), frame.y(v), css, f"{css}: {v:.2f} at {format_number(n)}") for n, v in side.items()]
    return drawing(width, frame.height, "Speedup, published and ours", "".join(parts), "small")


def _dot(x: float, y: float, css: str, title: str = "") -> str:
    shape = marker(x, y, VerdictKind.RESOURCE_NOT_SATURATED if css == "published" else VerdictKind.VALID, title, 3.8)
    return shape.replace('class="m invalid"', f'class="m {css}"').replace('class="m valid"', f'class="m {css}"')


def with_fit(run: StoredRun) -> StoredRun:
    """The run with its fit, so that the fit is made once for the whole document."""
    return run if run.fit else replace(run, fit=fit_of(run))
