"""The SVG elements of the report: an axis frame, lines, areas, markers, text. Everything written is escaped here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from scale_sweep.base.units import format_number
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.markup import escape

Point = tuple[float, float]
Points = Sequence[Point]
PAST_LAST = 1.06  # where an axis of levels ends, in parts of the last level
_LETTER, _CAPITAL = 6.9, 8.7  # widths at 12 px, rather too large

# VALID trials are filled. Every other verdict is hollow with its own shape, so that nothing is shown by colour alone.
SHAPES = {
    VerdictKind.VALID: "circle",
    VerdictKind.SOFTWARE_BOTTLENECK: "right",
    VerdictKind.UNSTEADY: "triangle",
    VerdictKind.GENERATOR_BOUND: "square",
    VerdictKind.RESOURCE_NOT_SATURATED: "diamond",
    VerdictKind.OFFERED_NOT_MET: "down",
    VerdictKind.THROTTLED: "bar",
    VerdictKind.ERRORS: "cross",
    VerdictKind.LOST_ROWS: "plus",
    VerdictKind.WRONG_ROWS: "ladder",
    VerdictKind.WRONG_ANSWER: "tee",
    VerdictKind.ABORTED: "star",
}
_PATHS = {
    "circle": "M{r},0A{r},{r} 0 1 1 -{r},0A{r},{r} 0 1 1 {r},0Z",
    "triangle": "M0,-{b}L{b},{r}L-{b},{r}Z",
    "down": "M0,{b}L{b},-{r}L-{b},-{r}Z",
    "square": "M-{r},-{r}H{r}V{r}H-{r}Z",
    "diamond": "M0,-{b}L{b},0L0,{b}L-{b},0Z",
    "right": "M-{r},-{b}L{b},0L-{r},{b}Z",
    "left": "M{r},-{b}L-{b},0L{r},{b}Z",
    "hexagon": "M-{b},0L-{h},-{b}H{h}L{b},0L{h},{b}H-{h}Z",
    "hourglass": "M-{r},-{b}H{r}L-{r},{b}H{r}Z",
    "bar": "M-{b},-{h}H{b}V{h}H-{b}Z",
    "cross": "M-{r},-{r}L{r},{r}M-{r},{r}L{r},-{r}",
    "plus": "M-{b},0H{b}M0,-{b}V{b}",
    "ladder": "M-{h},-{b}V{b}M{h},-{b}V{b}M-{b},0H{b}",
    "tee": "M-{b},-{b}H{b}M0,-{b}V{b}",
    "star": "M-{b},0H{b}M0,-{b}V{b}M-{r},-{r}L{r},{r}M-{r},{r}L{r},-{r}",
}


@dataclass(frozen=True)
class Frame:
    """A plot area, with the ranges that its edges mean."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x_min: float
    x_max: float
    y_min: float
    y_max: float

    @classmethod
    def within(
        cls, size: tuple[int, int], edges: tuple[int, int, int, int], x: tuple[float, float], y: tuple[float, float]
    ) -> Self:
        """size: width and height. edges: room left, right, above and below, in pixels. x, y: the ranges."""
        (width, height), (left, right, top, bottom), (x_min, x_max), (y_min, y_max) = size, edges, x, y
        return cls(width, height, left, right, top, bottom, x_min, x_max, y_min, y_max)

    @classmethod
    def about_zero(cls, width: int, height: int, x_max: float, reach: float) -> Self:
        """For differences, with room for the labels of the axes."""
        return cls.within((width, height), (54, 14, 34, 42), (0.0, x_max), (-reach, reach))

    @classmethod
    def over_levels(cls, size: tuple[int, int], above: int, last: float, y_max: float, y_min: float = 0.0) -> Self:
        """For a rate over levels, from 0 to beyond the last. above: pixels of a legend, added to the height of size."""
        size = size[0], size[1] + above
        return cls.within(size, (54, 18, above + 36, 44), (0.0, PAST_LAST * last), (y_min, y_max))

    def x(self, value: float) -> float:
        span = self.x_max - self.x_min or 1.0
        return self.left + (value - self.x_min) / span * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        span = self.y_max - self.y_min or 1.0
        return self.height - self.bottom - (value - self.y_min) / span * (self.height - self.top - self.bottom)

    def at(self, points: Points) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)

    def y_ticks(self, unit: float) -> list[float]:
        return ticks(self.y_min / unit, self.y_max / unit, 5)


class LogFrame(Frame):
    """A plot area whose vertical axis is logarithmic. y_min is above 0."""

    def y(self, value: float) -> float:
        span = math.log(self.y_max / self.y_min) or 1.0
        share = math.log(max(value, self.y_min) / self.y_min) / span
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def y_ticks(self, unit: float) -> list[float]:
        low, high = self.y_min / unit, self.y_max / unit
        steps = (1, 2, 5) if high <= 1000 * low else (1,)
        powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
        return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def ticks(low: float, high: float, count: int) -> list[float]:
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def rate_scale(largest: float, words: str = "rows/s") -> tuple[float, str]:
    """The divisor and the unit for an axis of rates: 2.4e6 → 1e6, "M rows/s"."""
    return next(((s, f"{u} {words}") for s, u in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if largest >= s), (1.0, words))


def text(x: float, y: float, words: str, css: str = "", anchor: str = "start") -> str:
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{where} class="t {css}">{escape(words)}</text>'


def across(frame: Frame, value: float, css: str) -> str:
    y = frame.y(value)
    return f'<line x1="{frame.left}" x2="{frame.width - frame.right}" y1="{y:.1f}" y2="{y:.1f}" class="{css}"/>'


def upright(frame: Frame, value: float, css: str) -> str:
    x = frame.x(value)
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame.top}" y2="{frame.height - frame.bottom}" class="{css}"/>'


def line(frame: Frame, points: Points, css: str) -> str:
    return f'<polyline points="{frame.at(points)}" class="{css}"/>' if len(points) > 1 else ""


def counted_lines(frame: Frame, points: Sequence[tuple[Point, bool]], css: str) -> str:
    """Lines through neighbouring points that count: none leads to or across another."""
    pieces: list[list[Point]] = [[]]
    for point, is_counted in points:
        if is_counted:
            pieces[-1].append(point)
        else:
            pieces.append([])
    return "".join(line(frame, piece, css) for piece in pieces)


def area(frame: Frame, low: Points, high: Points, css: str) -> str:
    return f'<polygon points="{frame.at([*low, *reversed(high)])}" class="{css}"/>' if len(low) > 1 else ""


def marker(x: float, y: float, kind: VerdictKind, title: str = "", size: float = 4.5, key: str = "") -> str:
    """key: the name of its row, to which it leads."""
    return shaped(x, y, SHAPES[kind], "valid" if kind.is_fitted else "invalid", title, size, key)


def shaped(x: float, y: float, shape: str, css: str, title: str = "", size: float = 4.5, key: str = "") -> str:
    path = _PATHS[shape].format(r=f"{size:g}", b=f"{size * 1.25:g}", h=f"{size * 0.55:g}")
    label = f"<title>{escape(title)}</title>" if title else ""
    row = f' data-trial="{escape(key)}"' if key else ""
    return f'<path transform="translate({x:.1f},{y:.1f})" d="{path}" class="m {css}"{row}>{label}</path>'


def clipped(frame: Frame, inner: str) -> str:
    w, h = frame.width - frame.left - frame.right, frame.height - frame.top - frame.bottom
    box = f"{frame.left} {frame.top} {w} {h}"
    return f'<svg x="{frame.left}" y="{frame.top}" width="{w}" height="{h}" viewBox="{box}">{inner}</svg>'


def axes(frame: Frame, x_ticks: Sequence[float], x_name: str, y_name: str, y_unit: float = 1.0) -> str:
    """Grid, numbers and names of both axes."""
    parts = []
    bottom, right = frame.height - frame.bottom, frame.width - frame.right
    for value in frame.y_ticks(y_unit):
        parts.append(across(frame, value * y_unit, "zero" if value == 0 else "grid"))
        parts.append(text(frame.left - 7, frame.y(value * y_unit) + 4, f"{value:g}", "dim", "end"))
    for value in x_ticks:
        x = frame.x(value)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}" class="tick"/>')
        parts.append(text(x, bottom + 19, format_number(round(value, 6)), "dim", "middle"))
    parts.append(f'<line x1="{frame.left}" x2="{right}" y1="{bottom}" y2="{bottom}" class="zero"/>')
    parts.append(text(right, bottom + 37, x_name, "dim", "end"))
    parts.append(text(6, frame.top - 12, y_name, "dim"))
    return "".join(parts)


def rate_axes(frame: Frame, levels: Sequence[float], x_name: str, words: str, remark: str = "") -> str:
    """words: the unit of the rate, like rows/s. remark: behind it."""
    unit, unit_name = rate_scale(frame.y_max, words)
    return axes(frame, x_levels(levels, frame.width - 80), x_name, unit_name + remark, unit)


def legend(items: Sequence[tuple[str, str]], width: int, x: float, y: float) -> tuple[str, int]:
    parts, at, row = [], x, 0
    for symbol, words in items:
        room = 26 + sum(_CAPITAL if c.isupper() or c == "_" else _LETTER for c in words)
        if at + room > width and at > x:
            at, row = x, row + 1
        parts.append(f'<g transform="translate({at:.0f},{y + 20 * row:.0f})">{symbol}{text(22, 4, words)}</g>')
        at += room + 14
    return "".join(parts), 20 * (row + 1)


def swatch(css: str) -> str:
    return f'<line x1="0" x2="17" y1="0" y2="0" class="{css}"/>'


def drawing(width: int, height: int, label: str, inner: str, css: str = "") -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" class="plot {css}" '
        f'aria-label="{escape(label)}">{inner}</svg>'
    )


def x_levels(levels: Sequence[float], room: float) -> list[float]:
    """All of them if there is room, else every n-th."""
    distinct = sorted(set(levels))
    most = max(int(room // 34), 2)
    step = max(math.ceil(len(distinct) / most), 1)
    return distinct[::step]
