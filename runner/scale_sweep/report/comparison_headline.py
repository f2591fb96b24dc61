"""The heading of a comparison of A and B, and its figures as tiles. Refuses a difference without its interval."""

from __future__ import annotations

from scale_sweep.base.units import change_words, format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.compared import Comparison
from scale_sweep.report.headline import Tile
from scale_sweep.report.table import rate

_SHOWN = 4  # levels that have a tile, the last ones


def title_of_comparison(comparison: Comparison, name: str) -> str:
    """ "B against A: -7.1 (-7.6 to -6.6) %"; without an interval of all points, the name of the sweep."""
    overall = comparison.overall
    if overall is None or overall.ratio is None or overall.low is None:
        return f"{name}: B against A"
    return f"B against A: {change_words(overall.ratio, overall.low, overall.high)} {comparison.rate}"


def tiles_of_comparison(comparison: Comparison) -> list[Tile]:
    """The change of each level, of at most four, and the smallest difference that can be seen."""
    axis = load_axis(comparison.axis)
    shown = [p for p in comparison.points if p.ratio is not None and p.level is not None]
    return [
        (
            change_words(p.ratio or 1.0, p.low, p.high),
            f"B against A at {axis.count(format_number(p.level or 0))} {p.variant}".rstrip()
            + f": {rate(p.rate_a)} → {rate(p.rate_b)} {comparison.rate}",
        )
        for p in shown[-_SHOWN:]
    ]
