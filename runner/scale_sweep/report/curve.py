"""The curve as SVG, with its caption and its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.fit.curve import model_rate
from scale_sweep.analysis.fit.models import NAMES
from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.model.derived import verdict_words
from scale_sweep.model.fitted import FitReport, ModelFit, PointSummary, StoredRun, is_off_linear
from scale_sweep.model.measured import Measurement, TrialResult, VerdictKind
from scale_sweep.report.disk_tables import ceiling_points
from scale_sweep.report.figures import axis_facts, cores_given, fit_of
from scale_sweep.report.style import PLOT_STYLE
from scale_sweep.report.svg import (
    PAST_LAST,
    Frame,
    area,
    clipped,
    drawing,
    legend,
    line,
    marker,
    rate_axes,
    swatch,
    text,
    upright,
)
from scale_sweep.report.table import fixed, known, short
from scale_sweep.report.trials import key_of

_STEPS = 120  # of a drawn curve
_BESIDE = 16.0  # the marks of the trials stand right of the bar of their interval
_MARK = 4.5  # the size of a trial's mark
_ROOM = 46.0  # of a level with its trials
_BAR_TALLER = 1.5  # of its mean; a longer bar is cut
_IDEAL_TALLER = 2.2  # the ideal line may make the plot this much taller than the data; beyond that it is cut


def curve_svg(run: StoredRun, width: int = 940, height: int = 410) -> str:
    """Trials, means, the fit with its band, the ideal line."""
    fit = fit_of(run)
    drawn = _with_rate(run, fit)
    if not drawn:
        return ""
    model = drawn_model(fit)
    items = _legend_items(run, drawn, fit, model)
    keys, keys_height = legend(items, width, 8, 14)
    frame = _frame(run, fit, drawn, width, height, keys_height)
    remark = " to the end of flush and sync" if fit.rate == "durable_rows_per_s" else ""
    levels = [r.trial.level for r in run.on_curve]
    inner = [
        keys,
        rate_axes(frame, levels, axis_facts(run).label, run.plan.rate_words, remark),
        clipped(frame, _lines(frame, fit, model) + line(frame, ceiling_points(run), "limit")),
        _limits(frame, fit),
        *_marks(frame, drawn, fit),
    ]
    return drawing(width, height + keys_height, f"Rate over {run.plan.sweep.axis}. {fit.sentence}", "".join(inner))


def curve_svg_bytes(run: StoredRun) -> bytes:
    head, mark, rest = curve_svg(run).partition(">")
    return f"{head}><style>{PLOT_STYLE}</style>{rest}".encode() if mark else b""


def rate_of_trial(result: TrialResult, name: str) -> float | None:
    value = getattr(result.measurement, name if name in Measurement.__dataclass_fields__ else "rows_per_s")
    return value if isinstance(value, (int, float)) else None


def drawn_model(fit: FitReport) -> ModelFit | None:
    """The chosen model, else the line through the origin; None for one level, and where the speedup excludes the
    line."""
    if len(fit.points) < 2 or (fit.chosen is None and is_off_linear(fit.points)):
        return None
    return next((m for m in fit.models if m.model == (fit.chosen or "linear")), None)


def _frame(run: StoredRun, fit: FitReport, drawn: Sequence[TrialResult], width: int, height: int, above: int) -> Frame:
    rates = [rate_of_trial(r, fit.rate) or 0.0 for r in drawn]
    last = max(r.trial.level for r in run.on_curve)
    means = (min(p.mean_high or p.rate_mean, _BAR_TALLER * p.rate_mean) for p in fit.points)
    top = max([*rates, *means, *(y for _, y in ceiling_points(run))])
    ideal = fit.points[0].rate_mean / fit.points[0].level * last if fit.points else top
    y_max = 1.06 * max(top, min(ideal, _IDEAL_TALLER * top)) or 1.0
    return Frame.over_levels((width, height), above, last, y_max)


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
        parts.append(model_line(frame, model, (first, last), "fit" if fit.chosen else "fit unsure"))
    if fit.beside is not None and fit.beside.model is not None:
        parts.append(model_line(frame, fit.beside.model, drawn_range(fit, frame.x_max), "fit doubted"))
    return "".join(parts)


def model_line(frame: Frame, model: ModelFit, levels: tuple[float, float], css: str) -> str:
    """A model has no rate at 0, so the curve begins beside it."""
    first, last = levels
    steps = [first + (last - first) * i / _STEPS for i in range(0 if first else 1, _STEPS + 1)]
    return line(frame, [(n, model_rate(model, n)) for n in steps], css)


def _has_band(run: StoredRun) -> bool:
    fit = fit_of(run)
    model, drawn = drawn_model(fit), _with_rate(run, fit)
    return (
        model is not None
        and bool(drawn)
        and bool(_band(fit, model, PAST_LAST * max(r.trial.level for r in run.on_curve)))
    )


def _band(fit: FitReport, model: ModelFit, x_max: float) -> list[tuple[float, float, float]]:
    first, last = drawn_range(fit, x_max)
    return [(n, low, high) for n, low, high in fit.band or model.band if first <= n <= last] if fit.chosen else []


def _with_rate(run: StoredRun, fit: FitReport) -> list[TrialResult]:
    return [r for r in run.on_curve if known(rate_of_trial(r, fit.rate))]


def drawn_range(fit: FitReport, end: float) -> tuple[float, float]:
    """The fitted levels alone, if every trial beyond them was rejected."""
    first, last = (fit.points[i].level for i in (0, -1)) if fit.points else (0.0, end)
    lost = [r.level for r in fit.rejected if r.is_lost]
    return first if any(n < first for n in lost) else 0.0, last if any(n > last for n in lost) else end


def _limits(frame: Frame, fit: FitReport) -> str:
    figures, low = ((fit.peak_level, "peak"), (fit.knee_level, "hard limit")), frame.height - frame.bottom - 8
    limits = [(level, f"{name} {level:.1f}", low) for level, name in figures if level is not None][:1]
    limits += [(one.after, f"{one.label} beyond {format_number(one.after)}", frame.top + 12) for one in fit.breaks]
    return "".join(
        upright(frame, level, "limit") + text(frame.x(level) - 5, y, words, "dim", "end")
        for level, words, y in limits
        if level <= frame.x_max
    )


def _marks(frame: Frame, drawn: Sequence[TrialResult], fit: FitReport) -> list[str]:
    """Replicates are side by side, so that none hides another; closer together where levels are."""
    levels = sorted({r.trial.level for r in drawn} | {p.level for p in fit.points})
    sizes = {level: _size(frame, levels, level) for level in levels}
    parts = [_mean(frame, p, sizes[p.level]) for p in fit.points]
    with_bar = {p.level for p in fit.points if p.mean_low is not None}
    for r in drawn:
        peers = sorted(o.trial.replicate for o in drawn if o.trial.level == r.trial.level)
        apart = min(9.0, 30.0 / max(len(peers), 1))
        at = peers.index(r.trial.replicate)
        shift = _BESIDE + apart * at if r.trial.level in with_bar else apart * (at - (len(peers) - 1) / 2)
        size = sizes[r.trial.level]
        x, y = frame.x(r.trial.level) + size * shift, frame.y(rate_of_trial(r, fit.rate) or 0.0)
        parts.append(marker(x, y, r.verdict.kind, _title(r, fit), _MARK * size**0.5, key_of(r)))
    return parts


def _size(frame: Frame, levels: Sequence[float], level: float) -> float:
    """At most 1, by the room up to the next level."""
    next_one = next((n for n in levels if n > level), None)
    room = frame.x(next_one) - frame.x(level) if next_one is not None else _ROOM
    if next_one is None and len(levels) > 1:
        room = frame.x(levels[-1]) - frame.x(levels[-2])
    return min(1.0, room / _ROOM)


def _mean(frame: Frame, p: PointSummary, size: float) -> str:
    x, y = frame.x(p.level), frame.y(p.rate_mean)
    half, end = 11 * size, 5 * size
    mean = f'<line x1="{x - half:.1f}" x2="{x + half:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="mean"/>'
    if p.mean_low is None or p.mean_high is None:
        return mean
    low, high = frame.y(max(p.mean_low, frame.y_min)), frame.y(min(p.mean_high, frame.y_max))
    bar = f"M{x - end:.1f},{low:.1f}h{2 * end:.3g}M{x - end:.1f},{high:.1f}h{2 * end:.3g}M{x:.1f},{low:.1f}V{high:.1f}"
    title = f"mean {format_rate(p.rate_mean)}, 95 % interval {format_rate(p.mean_low)} to {format_rate(p.mean_high)}"
    return f'{mean}<path d="{bar}" class="interval"><title>{title}</title></path>'


def _title(r: TrialResult, fit: FitReport) -> str:
    m = r.measurement
    lines = [
        f"{r.trial.trial_id}: {format_rate(rate_of_trial(r, fit.rate))} {r.trial.work.rate_words}",
        verdict_words(r),
        f"server: {fixed(m.server_cpu_cores, 2)} of {counted(cores_given(r), 'core')}",
        f"response: p50 {short(m.response_ms_p50)} ms, p99 {short(m.response_ms_p99)} ms",
    ]
    return "\n".join(lines)


def curve_rows(run: StoredRun) -> list[tuple[object, ...]]:
    fit = fit_of(run)
    headers = ("trial", run.plan.sweep.axis, "replicate", fit.rate, "verdict", "is_fitted")
    rows: list[tuple[object, ...]] = [headers]
    for r in run.on_curve:
        verdict = r.verdict.kind
        at = (r.trial.trial_id, r.trial.level, r.trial.replicate)
        rows.append((*at, rate_of_trial(r, fit.rate), verdict.value, verdict.is_fitted))
    return rows


def _legend_items(
    run: StoredRun, drawn: Sequence[TrialResult], fit: FitReport, model: ModelFit | None
) -> list[tuple[str, str]]:
    items = []
    counts = Counter(r.verdict.kind for r in drawn)
    for kind in (kind for kind in VerdictKind if counts[kind]):
        words = "valid trial" if kind is VerdictKind.VALID else kind.value
        items.append((marker(8, 0, kind), f"{words} ({counts[kind]})"))
    if fit.points:
        has_bars = any(p.mean_low is not None for p in fit.points)
        items.append(
            (swatch("mean"), "mean of the valid trials, 95 % interval" if has_bars else "mean of the valid trials")
        )
    if model is not None:
        name, ends = NAMES[model.model], ""
        if fit.ends_before:
            ends = f"; ends before {format_number(fit.ends_before)}: every trial there was rejected"
        items.append(
            (swatch("fit"), f"{name} fit, 95 % band{ends}")
            if _has_band(run)
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
        items.append((swatch("limit"), "ceiling of the disks alone (fio), at this database's bytes per row"))
    return items


def caption(run: StoredRun) -> str:
    """Sentences on what the curve shows, and what it does not show."""
    others = len(run.results) - len(run.on_curve)
    drawn = _with_rate(run, fit_of(run))
    left = [r for r in run.on_curve if not known(rate_of_trial(r, fit_of(run).rate))]
    absent = [f"{r.trial.trial_id} ({r.verdict.kind.value})" for r in left]
    counted = [r.verdict.kind.is_fitted for r in drawn]
    sentences = (
        "The trials of each level are side by side."
        + ("" if all(counted) else " Hollow marks do not count." if any(counted) else " None of them counts."),
        "The band is 95 % for the curve, over the models that the points support." if _has_band(run) else "",
        f"Sentinels, drift checks, ablation trials, connections checks and confirming trials ({others}) are only in "
        "the table of trials."
        if others
        else "",
        f"Not drawn, because they have no rate: {', '.join(absent)}." if absent else "",
    )
    return " ".join(filter(None, sentences))


def with_fit(run: StoredRun) -> StoredRun:
    """The fit is made once for the whole document."""
    return run if run.fit else replace(run, fit=fit_of(run))
