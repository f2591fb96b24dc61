"""Chooses the model that the points support, and the verdict in one word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from scale_sweep.analysis.fit import shapes
from scale_sweep.analysis.fit.candidates import Candidate, percentiles
from scale_sweep.analysis.fit.models import COUNTS, NAMES, PARAMETERS, WITH_BREAK, Floats, ModelName
from scale_sweep.analysis.fit.nested import F_TEST, LAWS, rejected_laws
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.model import Shape

NEAR_AICC = 2.0
PLAUSIBLE_AICC = 6.0  # less support than that is "considerably less" (Burnham and Anderson 2002, 2.6)
KNEE_MARGIN = 4.0  # of AICc: "considerably less support" for the other (Burnham and Anderson 2002, 2.6)
EFFICIENCY_SURE = 0.8  # to call a curve linear, the points must exclude an efficiency below this at the last level
LEVELS_FOR_A_MODEL = 3
FALLS: tuple[Shape, ...] = ("retrograde", "falls")
_NOISE_LEAST = 1e-9
# Of equally supported models with as many parameters: laws before descriptions.
_ORDER: tuple[ModelName, ...] = ("linear", "amdahl", "usl", "knee", "linear_break", "amdahl_break", "affine", "power")


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """The chosen model (None: too few points), the other supported models, the verdict, and the reasons."""

    model: ModelName | None
    supported: tuple[ModelName, ...]
    verdict: Shape
    doubts: tuple[str, ...] = ()
    plausible: tuple[ModelName, ...] = ()  # the models that an interval covers, with the chosen one
    skipped: tuple[str, ...] = ()  # sentences about models with a much lower AICc than the chosen one's
    untested: str = ""  # why a model without an AICc is chosen, a clause; "" if it has one

    @property
    def falls(self) -> bool:
        return self.verdict in FALLS


def choose(candidates: Mapping[ModelName, Candidate], rows: Rows, superlinear: bool) -> ModelChoice:
    """Chooses. superlinear: whether the points rise faster than a line beyond the noise."""
    fall: Shape | None = "retrograde" if shapes.falls(rows) else "falls" if shapes.falls_row_by_row(rows) else None
    retrograde = fall is not None
    if sum(c.aicc is not None for c in candidates.values()) < 2 or len(rows.distinct) < LEVELS_FOR_A_MODEL:
        verdict: Shape = fall or ("superlinear" if superlinear else "undecided")
        return ModelChoice(model=None, supported=(), verdict=verdict)
    able = _able(candidates, rows, retrograde)
    if not able:
        return _untested_fall(candidates, rows, fall or "retrograde")
    rejected = set() if retrograde else rejected_laws(candidates, rows)
    if "amdahl" in rejected:
        return _untested_law(candidates, rows, rejected)
    able = [c for c in able if c.model not in rejected] or able
    lowest = min(_aicc(c) for c in able)
    noise = _noise(min(able, key=_aicc), rows)
    near = [c for c in able if _aicc(c) <= lowest + NEAR_AICC]
    least = min(_error(c) for c in near)
    chosen = min((c for c in near if c.left_out_error is None or _error(c) <= least + noise), key=_simplest)
    line = next((c for c in near if c.model == "linear"), chosen)
    if shape_of(chosen, rows, superlinear=False) == "linear":
        chosen = line
    shape = fall or shape_of(chosen, rows, superlinear)
    doubts = [*_hidden(candidates, shape, rows), *_contradicted(chosen, able, shape, noise, rows, superlinear)]
    doubts = [] if retrograde else doubts
    return ModelChoice(
        model=chosen.model,
        supported=tuple(c.model for c in sorted(near, key=_aicc) if c is not chosen),
        verdict="undecided" if doubts else shape,
        doubts=tuple(doubts),
        plausible=_plausible(candidates, rows, chosen, retrograde),
        skipped=tuple(_skipped(candidates, rows, chosen, able, retrograde)),
    )


def _able(candidates: Mapping[ModelName, Candidate], rows: Rows, retrograde: bool) -> list[Candidate]:
    """The models that compete: those with an AICc, a knee only if it is clear, and only falling ones if the rate
    falls."""
    able = [c for c in candidates.values() if c.aicc is not None]
    if retrograde:
        falling = {c.model for c in _falling(_smooth_of(candidates), rows)}
        return [c for c in able if c.model in falling]
    smooth = [_aicc(c) for c in able if c.model != "knee"]
    return [c for c in able if c.model != "knee" or _clear_knee(c, rows, smooth)]


def _untested_fall(candidates: Mapping[ModelName, Candidate], rows: Rows, verdict: Shape) -> ModelChoice:
    """The rate falls, and no model with an AICc does. Of few levels, the falling model that fits best without one; it
    needs a degree of freedom for its interval. None if no model falls."""
    falling = _falling(_smooth_of(candidates), rows)
    chosen = min(falling, key=lambda c: c.rss, default=None)
    return ModelChoice(
        model=chosen.model if chosen else None,
        supported=(),
        verdict=verdict,
        plausible=(chosen.model,) if chosen else (),
        untested="no other model falls as the rate does" if chosen else "",
    )


def _smooth_of(candidates: Mapping[ModelName, Candidate]) -> list[Candidate]:
    return [c for c in candidates.values() if c.model != "knee" and len(c.samples)]


def _untested_law(candidates: Mapping[ModelName, Candidate], rows: Rows, rejected: Set[ModelName]) -> ModelChoice:
    chosen = candidates["usl"]
    others = {name: c for name, c in candidates.items() if name not in rejected}
    names = " and ".join(NAMES[name] for name in LAWS if name in rejected)
    return ModelChoice(
        model=chosen.model,
        supported=(),
        verdict=shape_of(chosen, rows, superlinear=False),
        plausible=_plausible(others, rows, chosen, retrograde=False),
        untested=f"the rates reject {names} ({F_TEST})",
    )


def _skipped(
    candidates: Mapping[ModelName, Candidate], rows: Rows, chosen: Candidate, able: Sequence[Candidate], falling: bool
) -> list[str]:
    """A sentence for each model whose AICc is lower than the chosen one's by more than 6, with the rule against it."""
    sentences = []
    for c in candidates.values():
        gain = _aicc(chosen) - c.aicc if c.aicc is not None else 0.0
        if gain <= PLAUSIBLE_AICC or c.model in {one.model for one in able}:
            continue
        if not falling:
            rule = _rule_against_the_knee(c, rows) if c.model == "knee" else f"the rates reject it ({F_TEST})"
        elif c.model == "knee" or not _falling([c], rows):
            rule = "it does not fall, and the rate does"
        else:
            rule = "it falls from the first level on, and the rate rises first"
        sentences.append(
            f"{NAMES[c.model]} has an AICc that is lower than {NAMES[chosen.model]}'s by {gain:.0f}; it is not chosen: "
            f"{rule}"
        )
    return sentences


def _rule_against_the_knee(knee: Candidate, rows: Rows) -> str:
    if not _inside(knee, rows):
        return "a hard limit needs two levels below it and two above"
    if _at_the_break(knee, rows):
        return f"at {rows.knot:g} the CPU placement changes, which is no hard limit"
    return "noise about the best smooth curve explains a hard limit as well"


def _falling(able: Sequence[Candidate], rows: Rows) -> list[Candidate]:
    """Those that fall at the end; where the rate rose before it fell, those that rise before they fall, if any do.

    With few rows AICc prefers a falling line or power to the USL, but neither can be what rises first.
    """
    curves = {c.model: c.rates(rows.distinct) for c in able}
    falling = [c for c in able if curves[c.model][-1] < curves[c.model].max()]
    rising = [c for c in falling if curves[c.model].argmax() > 0] if rows.means.argmax() > 0 else []
    return rising or falling


def _clear_knee(knee: Candidate, rows: Rows, smooth: Sequence[float]) -> bool:
    if not smooth or not _inside(knee, rows) or _at_the_break(knee, rows):
        return False
    return _aicc(knee) + KNEE_MARGIN < min(smooth) and shapes.bends(rows)


def _inside(knee: Candidate, rows: Rows) -> bool:
    if len(rows.distinct) < 4 or knee.value("lambda") <= 0:
        return False
    at = knee.value("capacity") / knee.value("lambda")
    return bool(rows.distinct[1] <= at * (1 + 1e-9) and at <= rows.distinct[-2] * (1 + 1e-9))


def _at_the_break(knee: Candidate, rows: Rows) -> bool:
    if rows.knot is None or knee.value("lambda") <= 0:
        return False
    at, place = knee.value("capacity") / knee.value("lambda"), int(np.searchsorted(rows.distinct, rows.knot))
    below, above = max(place - 1, 0), min(place + 1, len(rows.distinct) - 1)
    return bool(rows.distinct[below] <= at <= rows.distinct[above])


def _plausible(
    candidates: Mapping[ModelName, Candidate], rows: Rows, chosen: Candidate, retrograde: bool
) -> tuple[ModelName, ...]:
    """The chosen model, and those within 6 of the lowest AICc; a knee only with two levels on either side."""
    able = [c for c in candidates.values() if c.aicc is not None and (c.model != "knee" or _inside(c, rows))]
    if retrograde:
        able = _falling(able, rows)
    lowest = min((_aicc(c) for c in able), default=0.0)
    within = {c.model for c in able if _aicc(c) <= lowest + PLAUSIBLE_AICC}
    return tuple(m for m in PARAMETERS if m in within | {chosen.model})


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
    return COUNTS[candidate.model], _ORDER.index(candidate.model)


def shape_of(c: Candidate, rows: Rows, superlinear: bool) -> Shape:
    """The verdict of a model in one word, as far as its intervals support it."""
    if c.model == "knee":
        return "knee"
    if c.model in WITH_BREAK and _by_interval(*c.interval("share"), 1.0) != "linear":
        return "break"
    if c.model == "power":
        shape = _by_interval(*c.interval("exponent"), 1.0)
    elif c.model == "affine":
        shape = _by_interval(*c.interval("intercept"), 0.0, rising=False)
    else:
        shape = _law_shape(c, rows)
    return "superlinear" if superlinear and shape == "linear" else shape


def _by_interval(low: float | None, high: float | None, linear: float, *, rising: bool = True) -> Shape:
    above, below = low is not None and low > linear, high is not None and high < linear
    if above == below:
        return "linear"
    return "superlinear" if above is rising else "contended"


def _law_shape(c: Candidate, rows: Rows) -> Shape:
    """Contended if the whole interval of the efficiency at the last level is below 1."""
    if c.model in ("linear", "linear_break") or not len(c.samples):
        return "linear"
    _, high = percentiles(_efficiencies(c, rows))
    return "contended" if high is not None and high < 1 - 1e-9 else "linear"


def _efficiencies(c: Candidate, rows: Rows) -> Floats:
    ends = rows.distinct[[0, -1]]
    each = c.curves(ends) / ends
    ratios: Floats = np.full(len(each), np.inf)
    np.divide(each[:, 1], each[:, 0], out=ratios, where=each[:, 0] > 0)
    return ratios


def _hidden(candidates: Mapping[ModelName, Candidate], shape: Shape, rows: Rows) -> list[str]:
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
    best = min(able, key=_error)
    gained = _error(chosen) - _error(best)
    if chosen.left_out_error is None:
        return []
    if best is chosen or gained <= 3 * noise or shape_of(best, rows, superlinear) == shape:
        return []
    prefers = f"AICc prefers {NAMES[chosen.model]}, but {NAMES[best.model]} predicts the last level better"
    return [f"{prefers} ({100 * _error(best):.1f} % off against {100 * _error(chosen):.1f} %)"]
