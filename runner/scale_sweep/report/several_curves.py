"""Figures and the picture of several curves, of databases, variants or hosts: no order is stated but by intervals."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.experiment.work import Rate, stores
from scale_sweep.model.derived import counted_verdicts
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Measurement, TrialResult
from scale_sweep.model.observed import LevelInterval
from scale_sweep.report.figures import axis_facts, cpu_cost, shown_rates
from scale_sweep.report.noise import noise_of
from scale_sweep.report.svg import Frame, LogFrame, counted_lines, drawing, legend, rate_axes, shaped, swatch
from scale_sweep.report.table import known, mean, shown_trials
from scale_sweep.sweep.vary import slug

UNKNOWN = "not said"


@dataclass(frozen=True, kw_only=True)
class SubjectPoint:
    """A database at a level: means over the trials that count, else over all (is_counted says which)."""

    level: float
    is_counted: bool
    rates: tuple[float | None, ...]  # those of shown_rates, in their order, as measured
    # low, high: the 95 % interval of the first's geometric mean
    low: float | None
    high: float | None
    # against the database's own first level; None if no trial of either level counts, as rate_per_core
    speedup: float | None
    rate_per_core: float | None
    # server_cost, client_cost: CPU seconds for a million units of the work
    server_cost: float | None
    client_cost: float | None
    stored_bytes: float | None  # of the server's files for each row that the database counted
    written_bytes: float | None  # written to the disk by everybody for each acknowledged row
    response_ms_p50: float | None
    response_ms_p99: float | None
    verdicts: str
    used: tuple[TrialResult, ...]  # the trials that the means are of


@dataclass(frozen=True, kw_only=True)
class SubjectCurve:
    name: str  # its values alone
    reported: Mapping[str, str]  # its settings, from its first trial
    results: tuple[TrialResult, ...]  # on the curve, by level and replicate
    points: tuple[SubjectPoint, ...]  # its levels ascending

    def term(self, key: str) -> str:
        return self.reported.get(key) or UNKNOWN


def labels_of(run: StoredRun) -> list[str]:
    """In the order asked for."""
    names = dict.fromkeys(slug(t.variant) for t in sorted(run.plan.trials, key=lambda t: t.order))
    vary = run.plan.sweep.vary
    wanted = [slug(dict(zip(vary, values, strict=True))) for values in itertools.product(*vary.values())]
    return [name for name in wanted if name in names] if vary else list(names)


def curves(run: StoredRun) -> tuple[SubjectCurve, ...]:
    by_name: dict[str, list[TrialResult]] = {name: [] for name in labels_of(run)}
    for result in run.on_curve:
        by_name.setdefault(slug(result.trial.variant), []).append(result)
    intervals = {(i.level, i.variant): i for i in noise_of(run).levels}
    shown = shown_rates(run)
    return tuple(_curve(name, results, shown, intervals) for name, results in by_name.items() if results)


def _curve(
    name: str,
    results: list[TrialResult],
    shown: Sequence[Rate],
    intervals: Mapping[tuple[float, str], LevelInterval],
) -> SubjectCurve:
    ordered = tuple(sorted(results, key=lambda r: (r.trial.level, r.trial.replicate)))
    points: list[SubjectPoint] = []
    base: float | None = None
    first = min(r.trial.level for r in ordered)
    for level in sorted({r.trial.level for r in ordered}):
        here = [r for r in ordered if r.trial.level == level]
        points.append(_point(here, shown, base, first, intervals.get((level, name))))
        if len(points) == 1 and points[0].is_counted:
            base = points[0].rates[0]
    words = ", ".join(ordered[0].trial.variant.values()) or ordered[0].trial.subject.target
    reported = next((r.effective for r in ordered if r.effective), {})
    return SubjectCurve(name=words, reported=reported, results=ordered, points=tuple(points))


def _point(
    here: Sequence[TrialResult], shown: Sequence[Rate], base: float | None, first: float, interval: LevelInterval | None
) -> SubjectPoint:
    shown_here, is_counted = shown_trials(here)
    results = tuple(shown_here)
    used = [r.measurement for r in results]
    rates = tuple(mean(getattr(m, rate.field) for m in used) for rate in shown)
    speed, cores, is_first = rates[0], here[0].trial.cores, here[0].trial.level == first
    half = interval.half_percent if interval is not None and interval.mean is not None else None
    measured = [v for m in used if known(v := getattr(m, shown[0].field)) and v > 0]
    low, high = _around(statistics.geometric_mean(measured) if measured else None, half)
    return SubjectPoint(
        level=here[0].trial.level,
        is_counted=is_counted,
        rates=rates,
        low=low,
        high=high,
        speedup=(1.0 if is_first else speed / base if base else None) if is_counted and speed is not None else None,
        rate_per_core=speed / cores if speed is not None and cores and is_counted else None,
        server_cost=mean(cpu_cost(r.measurement.server_cpu_cores, r) for r in results),
        client_cost=mean(cpu_cost(r.measurement.generator_cpu_cores, r) for r in results),
        stored_bytes=mean(stored_bytes(m) for m in used),
        written_bytes=mean(m.disk_bytes_per_row for m in used),
        response_ms_p50=mean(m.response_ms_p50 for m in used),
        response_ms_p99=mean(m.response_ms_p99 for m in used),
        verdicts=counted_verdicts(here),
        used=results,
    )


def _around(value: float | None, half_percent: float | None) -> tuple[float | None, float | None]:
    if value is None or half_percent is None:
        return None, None
    factor = 1 + half_percent / 100
    return value / factor, value * factor


def stored_bytes(m: Measurement) -> float | None:
    """Bytes of the server's files for each row that the database counted."""
    return m.data_gb * 1e9 / m.rows_counted if m.data_gb is not None and m.rows_counted else None


def curves_rows(
    run: StoredRun, drawn: Sequence[SubjectCurve], kind: str, rates: Sequence[str]
) -> list[tuple[object, ...]]:
    """The curves as data, for a file: headers, then a row for each curve and level. rates: the headers of the first."""
    headers = (kind, run.plan.sweep.axis, *rates, "low", "high", "is_fitted")
    rows = [(c.name, p.level, *p.rates[: len(rates)], p.low, p.high, p.is_counted) for c in drawn for p in c.points]
    return [headers, *rows]


def overlaps(run: StoredRun, compared: Sequence[SubjectCurve]) -> tuple[str, ...]:
    """Databases whose intervals overlap at a level, or why that is not known."""
    sentences = []
    for level in sorted({p.level for curve in compared for p in curve.points}):
        here = {curve.name: point for curve in compared for point in curve.points if point.level == level}
        intervals = {name: (p.low, p.high) for name, p in here.items() if p.low is not None and p.high is not None}
        at = f"At {axis_facts(run).count(format_number(level))}"
        lacking = [name for name in here if name not in intervals]
        if lacking:
            sentences.append(f"{at}: {', '.join(lacking)} not compared: fewer than two trials that count.")
        pairs = [
            f"{a} and {b}"
            for (a, (a_low, a_high)), (b, (b_low, b_high)) in itertools.combinations(intervals.items(), 2)
            if a_low <= b_high and b_low <= a_high
        ]
        if pairs:
            sentences.append(f"{at}: no difference is shown between {'; '.join(pairs)}, whose intervals overlap.")
        elif len(intervals) > 1:
            sentences.append(f"{at}: no two of the intervals overlap.")
    return tuple(sentences)


# Each has a dash of its own, in plot.css.
SHAPES = tuple("circle square triangle diamond down right bar left hexagon hourglass".split())
_PANEL_LEAST = 300  # pixels of a panel's width, so that its axes can be read
_MOST = 10.0  # between rates that a linear axis can show together


Named = Sequence[tuple[str, SubjectCurve]]


def curves_svg(run: StoredRun, width: int = 940, height: int = 380) -> str:
    has_terms = stores(run.plan.sweep.work)
    named = [(f"{c.name}: {c.term('acknowledged')}" if has_terms else c.name, c) for c in curves(run)]
    return overlaid_svg(run, named, width, height)


def overlaid_svg(run: StoredRun, named: Named, width: int = 940, height: int = 380) -> str:
    """A panel for each rate, side by side if there is room; "" without the fitted rate. height: of a panel."""
    kept = [(words, curve) for words, curve in named if any(p.rates[0] for p in curve.points)]
    if not kept:
        return ""
    drawn_curves = [curve for _, curve in kept]
    keys, above = legend([(_key(i, curve), words) for i, (words, curve) in enumerate(kept)], width, 8, 14)
    panels = [shown.words for shown in shown_rates(run)]
    beside = len(panels) if width >= _PANEL_LEAST * len(panels) else 1
    each = width // beside
    parts = [keys]
    for index, words in enumerate(panels):
        drawn = _panel(run, drawn_curves, (each, height), words, index)
        row, column = divmod(index, beside)
        parts.append(f'<g transform="translate({column * each},{above + row * height})">{drawn}</g>')
    label = f"{', '.join(panels)} of {', '.join(c.name for c in drawn_curves)} over {run.plan.sweep.axis}"
    return drawing(width, above + height * (len(panels) // beside), label, "".join(parts))


def _panel(run: StoredRun, drawn_curves: Sequence[SubjectCurve], size: tuple[int, int], words: str, at: int) -> str:
    levels = sorted({p.level for c in drawn_curves for p in c.points})
    tops = [v for c in drawn_curves for p in c.points for v in (p.rates[at], None if at else p.high) if v]
    lowest = [v for c in drawn_curves for p in c.points for v in (p.rates[at], None if at else p.low) if v]
    is_log = _MOST * min(lowest, default=1.0) < max(tops, default=1.0)
    kind, y_min = (LogFrame, min(lowest) / 1.2) if is_log else (Frame, 0.0)
    frame = kind.over_levels(size, 0, levels[-1], 1.06 * max(tops, default=1.0), y_min)
    parts = [rate_axes(frame, levels, axis_facts(run).label, words, ", logarithmic" if is_log else "")]
    for index, curve in enumerate(drawn_curves):
        points = [(p, value) for p in curve.points if (value := p.rates[at]) is not None]
        parts.append(counted_lines(frame, [((p.level, value), p.is_counted) for p, value in points], _line_css(index)))
        if not at:  # the interval is of the first rate
            parts += [_bar(frame, p, index) for p, _ in points]
        parts += [_mark(frame, curve, p, value, index) for p, value in points]
    return "".join(parts)


def _bar(frame: Frame, p: SubjectPoint, index: int) -> str:
    if p.low is None or p.high is None:
        return ""
    x = frame.x(p.level)
    ends = f'y1="{frame.y(p.low):.1f}" y2="{frame.y(min(p.high, frame.y_max)):.1f}"'
    return f'<line x1="{x:.1f}" x2="{x:.1f}" {ends} class="subject s{index % len(SHAPES)}"/>'


def _mark(frame: Frame, curve: SubjectCurve, p: SubjectPoint, value: float, index: int) -> str:
    title = f"{curve.name} at {format_number(p.level)}: {format_rate(value)}, {p.verdicts}"
    return _shape(frame.x(p.level), frame.y(value), index, p.is_counted, title)


def _shape(x: float, y: float, index: int, is_counted: bool, title: str = "") -> str:
    style = index % len(SHAPES)
    return shaped(x, y, SHAPES[style], f"subject s{style}{' counted' if is_counted else ''}", title)


def _line_css(index: int) -> str:
    return f"subject s{index % len(SHAPES)} curve-line"


def _key(index: int, curve: SubjectCurve) -> str:
    counts = [p.is_counted for p in curve.points if p.rates[0]]
    has_line = any(a and b for a, b in itertools.pairwise(counts))
    return (swatch(_line_css(index)) if has_line else "") + _shape(8, 0, index, any(counts))
