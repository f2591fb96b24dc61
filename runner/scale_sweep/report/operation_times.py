"""The response times of all operations in one picture: a row for each operation and level, from p50 to p99.

All rows share one logarithmic axis, so that operations and levels can be compared. Refuses p99 of too few requests: the
picture then shows a lower quantile of all, and says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scale_sweep.base.units import format_number
from scale_sweep.model import StoredRun
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.markup import escape
from scale_sweep.report.operation_figures import (
    MIDDLE,
    mean_of,
    names_of,
    response,
    trials_by_level,
    upper_quantile,
)
from scale_sweep.report.svg import drawing, text
from scale_sweep.report.table import known, short

_ROW, _GAP, _TOP, _BOTTOM, _RIGHT = 17, 9, 40, 22, 66


@dataclass(frozen=True, kw_only=True)
class OperationTime:
    """An operation at a level."""

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
    """A sentence on the marks of the picture."""
    upper = upper_quantile(run)
    few = "" if upper == "p99" else " Too few requests for p99."
    return (
        f"Response time from the intended start of a request to the end of its answer: dot p50, bar to {upper}; means "
        f"over the fitted trials of a level (hollow: none is fitted). The axis is logarithmic.{few}"
    )


def times_rows(run: StoredRun) -> list[tuple[object, ...]]:
    """The data of the picture, for a file."""
    headers = ("operation", run.plan.sweep.axis, f"{MIDDLE}_ms", f"{upper_quantile(run)}_ms", "is_fitted")
    return [headers, *((t.name, t.level, t.middle, t.upper, t.is_fitted) for t in operation_times(run))]


def times_svg(run: StoredRun, width: int = 940) -> str:
    """The picture; "" if no operation has a response time. Its height follows the number of rows."""
    times = operation_times(run)
    values = [v for t in times for v in (t.middle, t.upper) if known(v) and v]
    if not values:
        return ""
    scale = _Scale.of(min(values), max(values), left=_left(times, width), right=width - _RIGHT)
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
        """The horizontal position in pixels."""
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.left + share * (self.right - self.left)

    def numbers(self) -> list[float]:
        """Powers of ten; with their halves and fifths over two decades or less."""
        powers = [10.0**p for p in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]
        steps = (1, 2, 5) if len(powers) < 4 else (1,)
        return [p * s for p in powers for s in steps if p * s <= self.high * 1.001]


def _left(times: list[OperationTime], width: int) -> float:
    """Room for the names of operations and levels."""
    return min(40 + 7.2 * max(len(t.name) for t in times), width / 2.5)


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
