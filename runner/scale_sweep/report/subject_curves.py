"""The curves of several databases in one drawing: a panel for each rate of the run, and each name with its terms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.experiment.work import stores
from scale_sweep.model import StoredRun
from scale_sweep.report.figures import axis_facts, shown_rates
from scale_sweep.report.subject_points import SubjectCurve, SubjectPoint, curves
from scale_sweep.report.svg import Frame, LogFrame, counted_lines, drawing, legend, rate_axes, shaped, swatch

SHAPES = (
    "circle",
    "square",
    "triangle",
    "diamond",
    "down",
    "right",
    "bar",
    "left",
    "hexagon",
    "hourglass",
)  # each with a dash of its own, in style.py
_PANEL_LEAST = 300  # pixels of a panel's width, so that its axes can be read
_MOST = 10.0  # between rates that a linear axis can show together


Named = Sequence[tuple[str, SubjectCurve]]


def curves_svg(run: StoredRun, width: int = 940, height: int = 380) -> str:
    """The curves of all databases of the run; "" if none has the fitted rate."""
    return overlaid_svg(run, [(_named(run, curve), curve) for curve in curves(run)], width, height)


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


def _named(run: StoredRun, curve: SubjectCurve) -> str:
    return f"{curve.name}: {curve.term('acknowledged')}" if stores(run.plan.sweep.work) else curve.name


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
