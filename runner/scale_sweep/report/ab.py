"""The report of a run of two variants: the answer, a picture of each block's difference, and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.compare.blocks import BlockPoint, block_points
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import StoredRun, VerdictKind
from scale_sweep.model.compared import Comparison, PointRatio
from scale_sweep.report.forms import Form
from scale_sweep.report.overlay import differing_table, ratio_table
from scale_sweep.report.page_parts import Section, figure_html
from scale_sweep.report.svg import Frame, axes, drawing, line, marker, text

_CAPTION = (
    "One mark for each block of A B B A: how much B's rate differs from A's in that block. The bar is the mean of the "
    "level with its 95 % interval, for that level alone."
)


def ab_sections(run: StoredRun, form: Form) -> tuple[Section, ...]:
    """The comparison as the first parts of a report, below its top."""
    comparison = compare_variants(run)

    def drawn() -> str:
        points = block_points(run)[0]
        picture, narrow = _picture(comparison, points), _picture(comparison, points, 400, 280)
        rows = _rows(comparison, points)
        return figure_html("blocks", picture, _CAPTION, rows, narrow=narrow, width=760) if picture else ""

    table = form.table(ratio_table(comparison))
    differ = form.table(differing_table(comparison)) or form.words("No recorded difference.")
    return (
        Section(name="ab", title="B against A", body=form.joined(form.on_page(drawn), table), is_titled=False),
        Section(name="differs", title="Differences between A and B", body=differ),
    )


def _rows(comparison: Comparison, points: Sequence[BlockPoint]) -> list[tuple[object, ...]]:
    """The differences as data, for a file: headers, then a row for each level and block."""
    rows: list[tuple[object, ...]] = [(comparison.axis, "block", "b_against_a_percent")]
    for point in points:
        rows += [(point.level, n, 100 * math.expm1(d)) for n, d in enumerate(point.differences, start=1)]
    return rows


def _picture(comparison: Comparison, points: Sequence[BlockPoint], width: int = 760, height: int = 300) -> str:
    """The levels side by side, each with its blocks in order. The zero line means "no difference"."""
    if not points:
        return ""
    rows = {p.level: p for p in comparison.points if p.level is not None}
    off = [100 * math.expm1(d) for p in points for d in p.differences]
    off += [100 * (v - 1) for p in comparison.points for v in (p.low, p.high) if v is not None]
    reach = 1.15 * max(*map(abs, off), 1.0)
    frame = Frame(
        width=width,
        height=height,
        left=54,
        right=14,
        top=34,
        bottom=44,
        x_min=0.0,
        x_max=float(len(points)),
        y_min=-reach,
        y_max=reach,
    )
    parts = [axes(frame, [], "", "B against A, %")]
    for at, point in enumerate(points):
        middle = at + 0.5
        name = load_axis(comparison.axis).count(format_number(point.level))
        parts.append(text(frame.x(middle), height - 26, name, anchor="middle"))
        parts += _blocks(frame, point, at)
        parts += _mean(frame, rows[point.level], middle)
    return drawing(width, height, f"B against A in each block. {comparison.sentence}", "".join(parts), "small")


def _blocks(frame: Frame, point: BlockPoint, at: int) -> list[str]:
    count = len(point.differences)
    markers = []
    for n, difference in enumerate(point.differences):
        x = frame.x(at + 0.12 + 0.60 * (n + 0.5) / count)
        percent = 100 * math.expm1(difference)
        markers.append(marker(x, frame.y(percent), VerdictKind.VALID, f"block {n + 1}: {percent:+.1f} %"))
    return markers


def _mean(frame: Frame, row: PointRatio, middle: float) -> list[str]:
    if row.ratio is None or row.low is None or row.high is None:
        return []
    at = middle + 0.32
    low, high, mean = (100 * (v - 1) for v in (row.low, row.high, row.ratio))
    wide = 0.05
    return [
        line(frame, [(at, low), (at, high)], "fit"),
        *(line(frame, [(at - wide, y), (at + wide, y)], "fit") for y in (low, mean, high)),
        text(frame.x(at), frame.y(high) - 8, f"{mean:+.1f} %", anchor="middle"),
    ]
