"""Figures of the operations of a load at each level, and their pictures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scale_sweep.base.units import format_number
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.questions import OperationFigures
from scale_sweep.report.figures import at_level, axis_facts, levels_of
from scale_sweep.report.markup import escape
from scale_sweep.report.svg import Frame, Point, axes, counted_lines, drawing, legend, rate_scale, swatch, text, ticks
from scale_sweep.report.table import known, mean, short

QUANTILES = ("min", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")
MIDDLE = "p50"
_UPPER = ("p99", "p95", "p90", "p75")
Read = Callable[[OperationFigures], float | None]
Level = tuple[float, list[TrialResult], bool]  # with whether its trials count


def has_operations(run: StoredRun) -> bool:
    return run.plan.sweep.work.counts_requests and any(r.measurement.operations for r in run.results)


def names_of(run: StoredRun) -> list[str]:
    return list(dict.fromkeys(name for r in run.results for name in r.measurement.operations))


def trials_by_level(run: StoredRun) -> list[Level]:
    """Those that are fitted, else all."""
    return [(level, *at_level(run, level)) for level in levels_of(run)]


def mean_of(trials: Sequence[TrialResult], name: str, read: Read) -> float | None:
    return mean(read(r.measurement.operations[name]) for r in trials if name in r.measurement.operations)


def response(quantile: str) -> Read:
    """A quantile, in milliseconds."""
    return lambda operation: operation.response_ms.get(quantile)


def upper_quantile(run: StoredRun) -> str:
    def known_cells(quantile: str) -> int:
        levels = trials_by_level(run)
        return sum(
            known(mean_of(trials, name, response(quantile))) for name in names_of(run) for _, trials, _ in levels
        )

    return max(_UPPER, key=known_cells)  # of equals the first


_ROW, _GAP, _TOP, _BOTTOM, _RIGHT = 17, 9, 40, 22, 66


@dataclass(frozen=True, kw_only=True)
class OperationTime:
    name: str
    level: float
    # middle, upper: quantiles of the response time in ms; None: too few requests
    middle: float | None
    upper: float | None
    is_fitted: bool


def operation_times(run: StoredRun) -> list[OperationTime]:
    """By operation, then level."""
    upper = upper_quantile(run)
    return [
        OperationTime(
            name=name,
            level=level,
            middle=mean_of(trials, name, response(MIDDLE)),
            upper=mean_of(trials, name, response(upper)),
            is_fitted=is_fitted,
        )
        for name in names_of(run)
        for level, trials, is_fitted in trials_by_level(run)
    ]


def times_caption(run: StoredRun) -> str:
    upper = upper_quantile(run)
    few = "" if upper == "p99" else " Too few requests for p99."
    return (
        f"Response time from the intended start of a request to the end of its answer: dot p50, bar to {upper}; means "
        f"over the fitted trials of a level (hollow: none is fitted). The axis is logarithmic.{few}"
    )


def times_rows(run: StoredRun) -> list[tuple[object, ...]]:
    headers = ("operation", run.plan.sweep.axis, f"{MIDDLE}_ms", f"{upper_quantile(run)}_ms", "is_fitted")
    return [headers, *((t.name, t.level, t.middle, t.upper, t.is_fitted) for t in operation_times(run))]


def times_svg(run: StoredRun, width: int = 940) -> str:
    """ "" if no operation has a response time."""
    times = operation_times(run)
    values = [v for t in times for v in (t.middle, t.upper) if known(v) and v]
    if not values:
        return ""
    left = min(40 + 7.2 * max(len(t.name) for t in times), width / 2.5)
    scale = _Scale.of(min(values), max(values), left=left, right=width - _RIGHT)
    parts, y, before = [], _TOP + 0.0, ""
    for time in times:
        y += _GAP if before and time.name != before else 0
        parts += [text(4, y + 12, time.name)] if time.name != before else []
        parts.append(_row(run, time, scale, y))
        y, before = y + _ROW, time.name
    height = round(y + _BOTTOM)
    inner = _axis(scale, height) + text(4, 14, f"response time (ms) by operation and {axis_facts(run).name}", "dim")
    return drawing(width, height, f"{MIDDLE} and {upper_quantile(run)} of the response time by operation and level",
                   inner + "".join(parts))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """A logarithmic axis from low to high milliseconds, between two places in pixels."""

    low: float
    high: float
    left: float
    right: float

    @classmethod
    def of(cls, least: float, most: float, *, left: float, right: float) -> _Scale:
        """Whole parts of a decade around the values, so that the axis has two numbers at least."""
        low, high = 10 ** math.floor(math.log10(least)), 10 ** math.ceil(math.log10(most * 1.0001))
        return cls(low=low, high=high, left=left, right=right)

    def x(self, value: float) -> float:
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.left + share * (self.right - self.left)

    def numbers(self) -> list[float]:
        powers = [10.0**p for p in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]
        steps = (1, 2, 5) if len(powers) < 4 else (1,)
        return [p * s for p in powers for s in steps if p * s <= self.high * 1.001]


def _axis(scale: _Scale, height: int) -> str:
    parts = []
    for value in scale.numbers():
        x = scale.x(value)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{height - _BOTTOM}" class="grid"/>')
        parts.append(text(x, _TOP - 11, f"{value:g}", "dim", "middle"))
    return "".join(parts)


def _row(run: StoredRun, time: OperationTime, scale: _Scale, top: float) -> str:
    y, middle, upper = top + 8, time.middle, time.upper
    parts = [text(scale.left - 10, y + 4, format_number(time.level), "dim", "end")]
    if not known(middle) or middle is None:
        return "".join([*parts, text(scale.left + 4, y + 4, "too few requests", "dim")])
    has_upper = known(upper) and upper is not None
    end = upper if has_upper and upper is not None else middle
    where = f"{time.name}, {axis_facts(run).count(format_number(time.level))}"
    title = f"{where}: p50 {short(middle)} ms, {upper_quantile(run)} {short(upper)} ms"
    x0, x1 = scale.x(middle), scale.x(end)
    parts.append(f'<line x1="{x0:.1f}" x2="{x1:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="span"/>')
    parts.append(f'<line x1="{x1:.1f}" x2="{x1:.1f}" y1="{y - 5:.1f}" y2="{y + 5:.1f}" class="span"/>')
    css = "valid" if time.is_fitted else "invalid"
    hover = f"<title>{escape(title)}</title>"
    parts.append(f'<circle cx="{x0:.1f}" cy="{y:.1f}" r="4.5" class="m {css}">{hover}</circle>')
    words = f"{short(middle)} – {short(upper)}" if has_upper else short(middle)
    return "".join([*parts, text(x1 + 8, y + 4, words, "dim")])


_WIDTH, _HEIGHT = 640, 320
_CURVES = (  # field, name, classes of the line, of a filled mark and of a hollow one
    ("response_ms_p50", "p50", "fit", ("valid", "ours")),
    ("response_ms_p99", "p99", "limit", ("heat", "invalid")),
)
_Points = Sequence[tuple[float, Point, bool]]  # level, rate and time, whether the level's trials count


def response_curve(run: StoredRun, levels: Sequence[Level]) -> str:
    """A point for each level; "" if no level has a rate and a response time."""
    curves = [(name, line_css, dot_css, _points(levels, field)) for field, name, line_css, dot_css in _CURVES]
    points = [point for *_, at_levels in curves for _, point, _ in at_levels]
    if not points:
        return ""
    rates, times = [x for x, _ in points], [y for _, y in points]
    divisor, unit = rate_scale(max(rates), run.plan.sweep.work.rate_words)
    frame = Frame.within(
        (_WIDTH, _HEIGHT), (60, 40, 52, 48), (0.0, max(rates) * 1.08 / divisor), (0.0, max(times) * 1.12)
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
