"""The operations of a load: each one's figures, its response times by level as a heat map, and small curves.

They use trials of the curve only, with means over the replicates of a level. Quantiles are means of the trials' own.
One drawing shows throughput against response time. Refuses it for loads that only write: their response time is that of
a whole request of rows, which the sweep chose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scale_sweep.base.units import format_number
from scale_sweep.model import OperationFigures, StoredRun, TrialResult
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.markup import code_html, escape, table_html
from scale_sweep.report.rows_and_answers import checks_table, preload_words, unchecked_words
from scale_sweep.report.svg import Frame, axes, drawing, legend, line, rate_scale, swatch, text, ticks, x_levels
from scale_sweep.report.table import ABSENT, Table, fixed, known, mean, rate, short

QUANTILES = ("min", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")
_HEAT_QUANTILES = ("p99", "p95", "p90", "p75", "p50")
_CELL_W, _CELL_H, _NAME_W, _HEAD_H, _TITLE_W = 84, 26, 170, 34, 460
_SMALL_W, _SMALL_H = 300, 180
Read = Callable[[OperationFigures], float | None]


def has_operations(run: StoredRun) -> bool:
    """Whether the load has an operation other than writing rows."""
    return run.plan.sweep.work.counts_requests and any(r.measurement.operations for r in run.results)


def operations_table(run: StoredRun) -> Table:
    """One row for each operation and level."""
    rows = [
        (
            name,
            format_number(level),
            rate(_of(trials, name, lambda o: o.requests_per_s)),
            rate(_of(trials, name, lambda o: o.read_rows_per_s)),
            rate(_of(trials, name, lambda o: o.read_values_per_s)),
            short(_of(trials, name, lambda o: o.read_mb_per_s)),
            fixed(_of(trials, name, lambda o: o.errors)),
            _empty(trials, name),
        )
        for name in _names(run)
        for level, trials in _levels(run)
    ]
    headers = (
        "Operation",
        axis_facts(run).title,
        "Requests/s",
        "Rows/s in answers",
        "Values/s",
        "MB/s",
        "Errors",
        "Empty answers",
    )
    note = "means over the trials of a level that count, else over all; of the whole window"
    return Table(title="Operations", headers=headers, rows=tuple(rows), words=(0,), notes=(note,))


def quantiles_table(run: StoredRun) -> Table:
    """Response times by operation and level, every quantile."""
    rows = [
        (name, format_number(level), *(short(_of(trials, name, _response(q))) for q in ("mean", *QUANTILES)))
        for name in _names(run)
        for level, trials in _levels(run)
    ]
    names = ["mean", *(q.replace("p999", "p99.9") for q in QUANTILES)]
    note = (
        "milliseconds, from the intended start of a request to the end of its answer; –: too few requests for this "
        "quantile"
    )
    headers = ("Operation", axis_facts(run).title, *names)
    return Table(title="Response times by operation (ms)", headers=headers, rows=tuple(rows), words=(0,), notes=(note,))


def heat_quantile(run: StoredRun) -> str:
    """p99, unless too few requests leave cells without it and a lower quantile has more of them."""

    def known_cells(quantile: str) -> int:
        return sum(known(_of(trials, name, _response(quantile))) for name in _names(run) for _, trials in _levels(run))

    return max(_HEAT_QUANTILES, key=known_cells)  # of equals the first


def heat_svg(run: StoredRun) -> str:
    """p99 of the response time by operation and level, or a lower quantile of short trials. Darker is longer; each row
    has its own scale. Each cell shows its number, so that nothing is shown by colour alone."""
    names, levels, quantile = _names(run), _levels(run), heat_quantile(run)
    title = f"{quantile} of the response time (ms) over {axis_facts(run).name}"
    title += "" if quantile == _HEAT_QUANTILES[0] else f" (too few requests for {_HEAT_QUANTILES[0]})"
    width = max(_NAME_W + _CELL_W * len(levels) + 10, _TITLE_W)
    height = _HEAD_H + _CELL_H * len(names) + 6
    parts = [text(4, 14, title, "dim")]
    for i, (level, _) in enumerate(levels):
        parts.append(text(_NAME_W + _CELL_W * (i + 0.5), 30, format_number(level), "dim", "middle"))
    for row, name in enumerate(names):
        y = _HEAD_H + _CELL_H * row
        values = [_of(trials, name, _response(quantile)) for _, trials in levels]
        top = max((v for v in values if known(v) and v is not None), default=0.0)
        parts.append(text(_NAME_W - 8, y + 17, name, "", "end"))
        for i, value in enumerate(values):
            x = _NAME_W + _CELL_W * i
            share = (value or 0.0) / top if top > 0 else 0.0
            cell = (
                f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL_W - 2}" height="{_CELL_H - 2}" rx="3" class="heat" '
                f'fill-opacity="{0.06 + 0.54 * share:.2f}"/>'
            )
            parts += [cell] if known(value) else []
            parts.append(text(x + _CELL_W / 2, y + 17, short(value), "", "middle"))
    drawn = drawing(width, height, f"{quantile} of the response time by operation and level", "".join(parts))
    return f'<figure style="max-width:{width}px">{drawn}</figure>'


def small_curves(run: StoredRun) -> str:
    """Requests/s of each operation over the axis: one small drawing each, from 0 on its own scale."""
    drawn = (_small(run, name) for name in _names(run))
    return '<div class="small-multiples">' + "".join(f"<figure>{svg}</figure>" for svg in drawn if svg) + "</div>"


def _small(run: StoredRun, name: str) -> str:
    means = [(level, _of(trials, name, lambda o: o.requests_per_s)) for level, trials in _levels(run)]
    points = [(level, value) for level, value in means if known(value) and value is not None]
    if not points:
        return ""
    top = max(value for _, value in points) * 1.15 or 1.0
    frame = Frame(
        width=_SMALL_W,
        height=_SMALL_H,
        left=52,
        right=12,
        top=30,
        bottom=46,
        x_min=0.0,
        x_max=max(level for level, _ in points) * 1.05,
        y_min=0.0,
        y_max=top,
    )
    counted = {level for level, trials in _levels(run) if any(r.verdict.kind.is_fitted for r in trials)}
    dots = "".join(
        f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="4" class="{"valid" if x in counted else "invalid"}">'
        f"<title>{escape(name)}: {short(y)} requests/s at {format_number(x)}</title></circle>"
        for x, y in points
    )
    levels = x_levels([x for x, _ in points], _SMALL_W - 64)
    inner = axes(frame, levels, axis_facts(run).title, f"{name} (requests/s)", 1.0) + line(frame, points, "fit") + dots
    return drawing(_SMALL_W, _SMALL_H, f"{name}: requests/s over {axis_facts(run).name}", inner)


def operations_html(run: StoredRun) -> str:
    """The part of the page; "" if the load only writes."""
    if not has_operations(run):
        return ""
    items = [
        f"<li>{code_html(words)}</li>"
        for words in (*preload_words(run), answers_words(run), unchecked_words(run))
        if words
    ]
    return (
        f"<h2>Each operation</h2><ul>{''.join(items)}</ul>{small_curves(run)}"
        f"<h3>Throughput against response time</h3>{response_curve(run, _levels(run))}"
        f'<div class="scroll" tabindex="0" role="region" aria-label="heat map">{heat_svg(run)}</div>'
        f"{table_html(operations_table(run), dense=True)}{table_html(quantiles_table(run), dense=True)}"
        f"{table_html(checks_table(run), dense=True)}\n"
    )


def answers_words(run: StoredRun) -> str:
    """The share of empty answers, in a sentence; "" if there were none."""
    total = sum(o.empty or 0 for r in run.on_curve for o in r.measurement.operations.values())
    requests = sum(
        o.requests or 0 for r in run.on_curve for o in r.measurement.operations.values() if o.empty is not None
    )
    return f"{total:,} of {requests:,} answers held no row: a query that finds nothing is fast." if total else ""


def _names(run: StoredRun) -> list[str]:
    return list(dict.fromkeys(name for r in run.results for name in r.measurement.operations))


def _levels(run: StoredRun) -> list[tuple[float, list[TrialResult]]]:
    """The trials of each level: those that count, else all."""
    levels = []
    for level in sorted({r.trial.level for r in run.on_curve}):
        here = [r for r in run.on_curve if r.trial.level == level]
        levels.append((level, [r for r in here if r.verdict.kind.is_fitted] or here))
    return levels


def _of(trials: Sequence[TrialResult], name: str, read: Read) -> float | None:
    return mean(read(r.measurement.operations[name]) for r in trials if name in r.measurement.operations)


def _response(quantile: str) -> Read:
    return lambda operation: operation.response_ms.get(quantile)


def _empty(trials: Sequence[TrialResult], name: str) -> str:
    operations = [r.measurement.operations[name] for r in trials if name in r.measurement.operations]
    counts = [(o.empty, o.requests) for o in operations if o.empty is not None and o.requests]
    if not counts:
        return ABSENT
    share = 100 * sum(e for e, _ in counts) / sum(n for _, n in counts)
    return f"{short(share)} %"


_WIDTH, _HEIGHT = 640, 320
_CURVES = (("response_ms_p50", "p50", "fit", "valid"), ("response_ms_p99", "p99", "limit", "invalid"))
Level = tuple[float, list[TrialResult]]
Point = tuple[float, float]


def response_curve(run: StoredRun, levels: Sequence[Level]) -> str:
    """The drawing, with a point for each level; "" if no level has a rate and a response time. levels: the trials of
    each level that are shown."""
    curves = [(name, line_css, dot_css, _points(levels, field)) for field, name, line_css, dot_css in _CURVES]
    points = [point for *_, at_levels in curves for _, point in at_levels]
    if not points:
        return ""
    rates, times = [x for x, _ in points], [y for _, y in points]
    divisor, unit = rate_scale(max(rates), run.plan.sweep.work.rate_words)
    frame = Frame(
        width=_WIDTH,
        height=_HEIGHT,
        left=60,
        right=40,
        top=52,
        bottom=48,
        x_min=0.0,
        x_max=max(rates) * 1.08 / divisor,
        y_min=0.0,
        y_max=max(times) * 1.12,
    )
    scaled = [
        (name, line_css, dot_css, [(level, (x / divisor, y)) for level, (x, y) in at_levels])
        for name, line_css, dot_css, at_levels in curves
    ]
    marks = ticks(frame.x_min, frame.x_max, 6)
    inner = axes(frame, marks, unit, "response time (ms)")
    inner += "".join(line(frame, [point for _, point in at_levels], css) for _, css, _, at_levels in scaled)
    inner += "".join(_dots(run, frame, name, css, at_levels) for name, _, css, at_levels in scaled)
    keys, _ = legend([(swatch(css), name) for name, css, _, at_levels in scaled if at_levels], _WIDTH, 10, 14)
    label = f"throughput against response time over {axis_facts(run).name}"
    drawn = drawing(_WIDTH, _HEIGHT, label, inner + keys)
    words = f"A point for each level, with its number of {axis_facts(run).name}; means over the trials of the level."
    return f'<figure style="max-width:{_WIDTH}px">{drawn}<figcaption>{escape(words)}</figcaption></figure>'


def _points(levels: Sequence[Level], field: str) -> list[tuple[float, Point]]:
    points = []
    for level, trials in levels:
        rate = mean(r.achieved_per_s for r in trials)
        time = mean(getattr(r.measurement, field) for r in trials)
        if known(rate) and known(time) and rate is not None and time is not None:
            points.append((level, (rate, time)))
    return points


def _dots(run: StoredRun, frame: Frame, name: str, css: str, points: Sequence[tuple[float, Point]]) -> str:
    parts = []
    for level, (x, y) in points:
        where = axis_facts(run).count(format_number(level))
        title = f"<title>{escape(where)}: {name} {short(y)} ms</title>"
        parts.append(f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="4" class="{css}">{title}</circle>')
        parts.append(text(frame.x(x) + 7, frame.y(y) - 6, format_number(level), "dim"))
    return "".join(parts)
