"""Levels in doubt: what the run shows with their rejected trials, beside what it shows without them.

Refuses to choose between the two.
"""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.fit.models import NAMES, ModelName
from scale_sweep.analysis.fit.words import Terms, speedup_words
from scale_sweep.base.units import counted
from scale_sweep.model import FitBeside, PointSummary


def with_rejected(
    beside: FitBeside | None, points: Sequence[PointSummary], chosen: ModelName | None, terms: Terms
) -> str:
    """Sentences that begin with a space: the speedup of the valid trials beside that of all trials, and the model of
    all. points, chosen: of the valid trials. "" for fewer than two levels."""
    if beside is None or len(points) < 2:
        return ""
    level = beside.levels[-1] if beside.levels[-1] != points[0].level else points[-1].level
    alone, together = (next(p for p in some if p.level == level) for some in (points, beside.points))
    trials = counted(sum(p.n for p in beside.points), "trial")
    return (
        f" The valid trials give a speedup of {speedup_words(alone)} at {terms.count(level)}; all {trials} give "
        f"{speedup_words(together)}{_model(beside, chosen)}."
    )


def _model(beside: FitBeside, chosen: ModelName | None) -> str:
    if beside.chosen is not None:
        return f". With all of them the verdict is {beside.verdict}, and {NAMES[beside.chosen]} fits best"
    return f". With all of them no model is chosen ({beside.verdict})" if chosen else ""
