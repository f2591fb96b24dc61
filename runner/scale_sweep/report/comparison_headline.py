"""The heading of a comparison of A and B, and its figures as tiles. Refuses a difference without its interval."""

from __future__ import annotations

from scale_sweep.base.units import change_words, format_number, format_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.compared import Comparison
from scale_sweep.report.headline import Tile

_SHOWN = 4  # levels that have a tile, the last ones


def title_of_comparison(comparison: Comparison, name: str) -> str:
    """ "B is slower than A: -7.1 % (-7.6 to -6.6 %)", or that no difference was found; of points that differ alone, the
    first words of the answer."""
    whole = comparison.overall or (comparison.points[0] if len(comparison.points) == 1 else None)
    if whole is not None and whole.ratio is not None and whole.low is not None and whole.differs:
        kind = "slower" if whole.ratio < 1 else "faster"
        return f"B is {kind} than A: {change_words(whole.ratio, whole.low, whole.high)} {comparison.rate}"
    verdict = comparison.sentence.partition(":")[0]
    return f"{name}: {verdict[:1].lower()}{verdict[1:]}".rstrip(".")


def tiles_of_comparison(comparison: Comparison) -> list[Tile]:
    """The change of each level, of at most four, and the smallest difference that can be seen."""
    axis = load_axis(comparison.axis)
    shown = [p for p in comparison.points if p.ratio is not None and p.level is not None]
    return [
        (
            change_words(p.ratio or 1.0, p.low, p.high),
            f"B against A at {axis.count(format_number(p.level or 0))} {p.variant}".rstrip()
            + f": {format_rate(p.rate_a)} → {format_rate(p.rate_b)} {comparison.rate}",
        )
        for p in shown[-_SHOWN:]
    ]
