"""Which laws the rows reject although they are too few for AICc: the F test of nested models."""

from __future__ import annotations

from collections.abc import Mapping

from scipy.special import fdtrc

from scale_sweep.analysis.fit.candidates import Candidate
from scale_sweep.analysis.fit.models import COUNTS, ModelName
from scale_sweep.analysis.fit.rows import Rows

REJECTED_P = 0.01
F_TEST = f"F test, {100 * REJECTED_P:g} %"
LAWS: tuple[ModelName, ...] = ("linear", "amdahl", "usl")  # each is a special case of the next one
_RESOLUTION = 1e-9  # of the mean rate; rates are not more exact


def rejected_laws(candidates: Mapping[ModelName, Candidate], rows: Rows) -> set[ModelName]:
    """Line and Amdahl, if a law with more parameters fits better than chance explains: the F test of nested models.

    Only of rows too few for the USL's AICc, at more levels than the USL has parameters: of as many levels it would miss
    nothing.
    """
    laws = [candidates[name] for name in LAWS if name in candidates]
    if len(laws) < len(LAWS) or laws[-1].aicc is not None or len(rows.distinct) <= COUNTS["usl"]:
        return set()
    return {law.model for at, law in enumerate(laws) if any(_rejects(one, law, rows) for one in laws[at + 1 :])}


def _rejects(richer: Candidate, law: Candidate, rows: Rows) -> bool:
    more = law.degrees - richer.degrees
    if more < 1 or richer.degrees < 1:
        return False
    least = len(rows.rates) * (_RESOLUTION * rows.unit) ** 2
    gain = (law.rss - richer.rss) / more / (max(richer.rss, least) / richer.degrees)
    return bool(fdtrc(more, richer.degrees, max(gain, 0.0)) < REJECTED_P)
