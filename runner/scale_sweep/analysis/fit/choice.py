"""Chooses the model that the points support, and the verdict in one word.

The choice uses AICc and the holdout error at the last level. It takes the models within 2 of the lowest AICc, then
those whose error at the last level is within the noise of the smallest, then the one with the fewest parameters; laws
come before descriptions. A knee must beat every smooth model's AICc by 4, have two levels on either side, and be more
than noise about a smooth curve explains. If the rate falls at the end beyond the noise, only models that fall compete;
if it rose before, only those that rise before they fall.
Refuses to choose if fewer than two models can be tested, and to call a curve linear that could hide contention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scale_sweep.analysis.fit import shapes
from scale_sweep.analysis.fit.candidates import Candidate, percentiles
from scale_sweep.analysis.fit.models import MODELS, NAMES, PARAMETERS, Floats, ModelName
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.model import Shape

NEAR_AICC = 2.0
PLAUSIBLE_AICC = 6.0  # less support than that is "considerably less" (Burnham and Anderson 2002, 2.6)
KNEE_MARGIN = 4.0  # of AICc: "considerably less support" for the other (Burnham and Anderson 2002, 2.6)
EFFICIENCY_SURE = 0.8  # to call a curve linear, the points must exclude an efficiency below this at the last level
LEVELS_FOR_A_MODEL = 3
_NOISE_LEAST = 1e-9


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """The chosen model (None: too few points), the other supported models, the verdict, and the reasons.

    plausible: the models that an interval covers, with the chosen one.
    """

    model: ModelName | None
    supported: tuple[ModelName, ...]
    verdict: Shape
    doubts: tuple[str, ...] = ()
    plausible: tuple[ModelName, ...] = ()


def choose(candidates: Mapping[ModelName, Candidate], rows: Rows, superlinear: bool) -> ModelChoice:
    """Chooses. superlinear: whether the points rise faster than a line beyond the noise."""
    retrograde = shapes.falls(rows)
    if sum(c.aicc is not None for c in candidates.values()) < 2 or len(rows.distinct) < LEVELS_FOR_A_MODEL:
        verdict: Shape = "retrograde" if retrograde else "superlinear" if superlinear else "undecided"
        return ModelChoice(model=None, supported=(), verdict=verdict)
    able = _able(candidates, rows, retrograde)
    lowest = min(_aicc(c) for c in able)
    noise = _noise(min(able, key=_aicc), rows)
    near = [c for c in able if _aicc(c) <= lowest + NEAR_AICC]
    least = min(_error(c) for c in near)
    chosen = min((c for c in near if _error(c) <= least + noise), key=_simplest)
    line = next((c for c in near if c.model == "linear"), chosen)
    if shape_of(chosen, rows, superlinear=False) == "linear":
        chosen = line
    shape: Shape = "retrograde" if retrograde else shape_of(chosen, rows, superlinear)
    doubts = (
        []
        if retrograde
        else [*_hidden(candidates, shape, rows), *_contradicted(chosen, able, shape, noise, rows, superlinear)]
    )
    return ModelChoice(
        model=chosen.model,
        supported=tuple(c.model for c in sorted(near, key=_aicc) if c is not chosen),
        verdict="undecided" if doubts else shape,
        doubts=tuple(doubts),
        plausible=_plausible(candidates, rows, chosen, retrograde),
    )


def _able(candidates: Mapping[ModelName, Candidate], rows: Rows, retrograde: bool) -> list[Candidate]:
    """The models that compete: those with an AICc, a knee only if it is clear, and only falling ones if the rate
    falls."""
    able = [c for c in candidates.values() if c.aicc is not None]
    falling = _falling([c for c in able if c.model != "knee"], rows)
    if retrograde and falling:
        return falling
    smooth = [_aicc(c) for c in able if c.model != "knee"]
    return [c for c in able if c.model != "knee" or _clear_knee(c, rows, smooth)]


def _falling(able: Sequence[Candidate], rows: Rows) -> list[Candidate]:
    """Those that fall at the end; where the rate rose before it fell, those that rise before they fall, if any do.

    With few rows AICc prefers a falling line or power to the USL, but neither can be what rises first.
    """
    curves = {c.model: c.rates(rows.distinct) for c in able}
    falling = [c for c in able if curves[c.model][-1] < curves[c.model].max()]
    rising = [c for c in falling if curves[c.model].argmax() > 0] if rows.means.argmax() > 0 else []
    return rising or falling


def _clear_knee(knee: Candidate, rows: Rows, smooth: Sequence[float]) -> bool:
    return bool(smooth) and _inside(knee, rows) and _aicc(knee) + KNEE_MARGIN < min(smooth) and shapes.bends(rows)


def _inside(knee: Candidate, rows: Rows) -> bool:
    """Whether at least two levels are on either side of the knee."""
    if len(rows.distinct) < 4 or knee.value("lambda") <= 0:
        return False
    at = knee.value("capacity") / knee.value("lambda")
    return bool(rows.distinct[1] <= at * (1 + 1e-9) and at <= rows.distinct[-2] * (1 + 1e-9))


def _plausible(
    candidates: Mapping[ModelName, Candidate], rows: Rows, chosen: Candidate, retrograde: bool
) -> tuple[ModelName, ...]:
    """The chosen model, and those within 6 of the lowest AICc; a knee only with two levels on either side."""
    able = [c for c in candidates.values() if c.aicc is not None and (c.model != "knee" or _inside(c, rows))]
    if retrograde:
        able = _falling(able, rows)
    lowest = min((_aicc(c) for c in able), default=0.0)
    within = {c.model for c in able if _aicc(c) <= lowest + PLAUSIBLE_AICC}
    return tuple(m for m in MODELS if m in within | {chosen.model})


def _aicc(candidate: Candidate) -> float:
    assert candidate.aicc is not None
    return candidate.aicc


def _error(candidate: Candidate) -> float:
    return np.inf if candidate.left_out_error is None else candidate.left_out_error


def _noise(candidate: Candidate, rows: Rows) -> float:
    """The residual standard error as a share of the last level's mean, but not below the precision of the
    arithmetic."""
    return max((candidate.rse or 0.0) / float(rows.means[-1]), _NOISE_LEAST)


def _simplest(candidate: Candidate) -> tuple[int, int]:
    return len(PARAMETERS[candidate.model]), MODELS.index(candidate.model)


def shape_of(c: Candidate, rows: Rows, superlinear: bool) -> Shape:
    """The verdict of a model in one word, as far as its intervals support it."""
    if c.model == "knee":
        return "knee"
    if c.model == "power":
        shape = _by_interval(*c.interval("exponent"), 1.0)
    elif c.model == "affine":
        shape = _by_interval(*c.interval("intercept"), 0.0, rising=False)
    else:
        shape = _law_shape(c, rows)
    return "superlinear" if superlinear and shape == "linear" else shape


def _by_interval(low: float | None, high: float | None, linear: float, *, rising: bool = True) -> Shape:
    """The shape by an interval: above the value that means linear, below it, or neither."""
    above, below = low is not None and low > linear, high is not None and high < linear
    if above == below:
        return "linear"
    return "superlinear" if above is rising else "contended"


def _law_shape(c: Candidate, rows: Rows) -> Shape:
    """Contended if the whole interval of the efficiency at the last level is below 1."""
    if c.model == "linear" or not len(c.samples):
        return "linear"
    _, high = percentiles(_efficiencies(c, rows))
    return "contended" if high is not None and high < 1 - 1e-9 else "linear"


def _efficiencies(c: Candidate, rows: Rows) -> Floats:
    """X(n) / n over X(n₀) / n₀ of the last level n and the smallest n₀, in every bootstrap sample."""
    ends = rows.distinct[[0, -1]]
    each = c.curves(ends) / ends
    ratios: Floats = np.full(len(each), np.inf)
    np.divide(each[:, 1], each[:, 0], out=ratios, where=each[:, 0] > 0)
    return ratios


def _hidden(candidates: Mapping[ModelName, Candidate], shape: Shape, rows: Rows) -> list[str]:
    """The cautions about a linear curve whose points are too inexact to show contention."""
    amdahl = candidates.get("amdahl")
    if shape != "linear" or amdahl is None or not len(amdahl.samples):
        return []
    last = float(rows.distinct[-1])
    low, high = percentiles(_efficiencies(amdahl, rows))
    if high is not None and high < 1 - 1e-9:
        least = f"{amdahl.interval('alpha')[0]:.2g} or more"
        return [f"AICc prefers a line, but Amdahl's contention is significantly above 0 ({least})"]
    if low is None or low >= EFFICIENCY_SURE:
        return []
    return [f"a line fits, but an efficiency as low as {100 * low:.0f} % at {last:g} cannot be excluded"]


def _contradicted(
    chosen: Candidate, able: Sequence[Candidate], shape: Shape, noise: float, rows: Rows, superlinear: bool
) -> list[str]:
    """The cautions about a model of another kind that AICc rejects and that predicts the last level much better."""
    best = min(able, key=_error)
    gained = _error(chosen) - _error(best)
    if best is chosen or gained <= 3 * noise or shape_of(best, rows, superlinear) == shape:
        return []
    sentence = (
        f"AICc prefers {NAMES[chosen.model]}, but {NAMES[best.model]} predicts the last level better "
        f"({100 * _error(best):.1f} % off against {100 * _error(chosen):.1f} %)"
    )
    return [sentence]
