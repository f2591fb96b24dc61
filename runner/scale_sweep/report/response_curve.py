"""Throughput against response time, in one picture over the levels of a run. Pure.

Refuses it for loads that only write: their response time is that of a whole request of rows, which the sweep chose.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from scale_sweep.base.units import format_number
from scale_sweep.model import StoredRun
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.markup import escape
from scale_sweep.report.operation_figures import Level
from scale_sweep.report.svg import Frame, Point, axes, counted_lines, drawing, legend, rate_scale, swatch, text, ticks
from scale_sweep.report.table import known, mean, short

_WIDTH, _HEIGHT = 640, 320
_CURVES = (  # field, name, classes of the line, of a filled mark and of a hollow one
    ("response_ms_p50", "p50", "fit", ("valid", "ours")),
    ("response_ms_p99", "p99", "limit", ("heat", "invalid")),
)
_Points = Sequence[tuple[float, Point, bool]]  # level, rate and time, whether the level's trials count


def response_curve(run: StoredRun, levels: Sequence[Level]) -> str:
    """The drawing, with a point for each level; "" if no level has a rate and a response time. levels: the trials of
    each level that are shown."""
    curves = [(name, line_css, dot_css, _points(levels, field)) for field, name, line_css, dot_css in _CURVES]
    points = [point for *_, at_levels in curves for _, point, _ in at_levels]
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
        (name, line_css, dot_css, [(level, (x / divisor, y), is_counted) for level, (x, y), is_counted in at_levels])
        for name, line_css, dot_css, at_levels in curves
    ]
    marks = ticks(frame.x_min, frame.x_max, 6)
    inner = axes(frame, marks, unit, "response time (ms)")
    inner += "".join(counted_lines(frame, [one[1:] for one in at_levels], css) for _, css, _, at_levels in scaled)
    inner += "".join(_dots(run, frame, name, css, at_levels) for name, _, css, at_levels in scaled)
    keys, _ = legend([(_key(*one), one[0]) for one in scaled if one[3]], _WIDTH, 10, 14)
    label = f"throughput against response time over {axis_facts(run).name}"
    drawn = drawing(_WIDTH, _HEIGHT, label, inner + keys)
    hollow = "" if all(is_counted for *_, is_counted in levels) else " (hollow: none is fitted)"
    words = f"A point for each level, with its number of {axis_facts(run).name}; means over its fitted trials{hollow}."
    return f'<figure style="max-width:{_WIDTH}px">{drawn}<figcaption>{escape(words)}</figcaption></figure>'


def _key(name: str, line_css: str, css: tuple[str, str], points: _Points) -> str:
    """The line and the mark of a percentile, as far as they are drawn."""
    counts = [is_counted for *_, is_counted in points]
    has_line = any(a and b for a, b in itertools.pairwise(counts))
    return (swatch(line_css) if has_line else "") + f'<circle cx="8" r="4" class="{css[not any(counts)]}"/>'


def _points(levels: Sequence[Level], field: str) -> _Points:
    points = []
    for level, trials, is_counted in levels:
        rate = mean(r.achieved_per_s for r in trials)
        time = mean(getattr(r.measurement, field) for r in trials)
        if known(rate) and known(time) and rate is not None and time is not None:
            points.append((level, (rate, time), is_counted))
    return points


def _dots(run: StoredRun, frame: Frame, name: str, css: tuple[str, str], points: _Points) -> str:
    parts = []
    for level, (x, y), is_counted in points:
        where = axis_facts(run).count(format_number(level))
        title = f"<title>{escape(where)}: {name} {short(y)} ms</title>"
        parts.append(
            f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="4" class="{css[not is_counted]}">{title}</circle>'
        )
        parts.append(text(frame.x(x) + 7, frame.y(y) - 6, format_number(level), "dim"))
    return "".join(parts)
