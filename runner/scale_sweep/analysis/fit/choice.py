"""Chooses the model that the points support, and the verdict in one word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from scale_sweep.analysis.fit.candidates import Candidate, percentiles
from scale_sweep.analysis.fit.fall_and_limit_tests import bends, falls, falls_row_by_row
from scale_sweep.analysis.fit.models import COUNTS, NAMES, PARAMETERS, WITH_BREAK, Floats, ModelName
from scale_sweep.analysis.fit.rows import Rows
from scale_sweep.model.fitted import Shape

REJECTED_P = 0.01
F_TEST = f"F test, {100 * REJECTED_P:g} %"
LAWS: tuple[ModelName, ...] = ("linear", "amdahl", "usl")  # each is a special case of the next one
_RESOLUTION = 1e-9  # of the mean rate; rates are not more exact


def rejected_laws(candidates: Mapping[ModelName, Candidate], rows: Rows) -> set[ModelName]:
    """Line and Amdahl, if a law with more parameters fits better than chance (F test of nested models), for too few
    rows for the USL's AICc."""
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
    """The chosen model (None: too few points), and the reasons."""

    model: ModelName | None
    supported: tuple[ModelName, ...]
    verdict: Shape
    doubts: tuple[str, ...] = ()
    plausible: tuple[ModelName, ...] = ()  # those that an interval covers, with the chosen one
    skipped: tuple[str, ...] = ()  # sentences about models with a much lower AICc than the chosen one's
    untested: str = ""  # why a model without an AICc is chosen, a clause; "" if it has one

    @property
    def falls(self) -> bool:
        return self.verdict in FALLS


def choose(candidates: Mapping[ModelName, Candidate], rows: Rows, superlinear: bool) -> ModelChoice:
    """superlinear: whether the points rise faster than a line beyond the noise."""
    fall: Shape | None = "retrograde" if falls(rows) else "falls" if falls_row_by_row(rows) else None
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
    chosen = min(
        (c for c in near if c.left_out_error is None or _error(c) <= least + noise),
        key=lambda c: (COUNTS[c.model], _ORDER.index(c.model)),
    )
    line = next((c for c in near if c.model == "linear"), chosen)
    if shape_of(chosen, rows, superlinear=False) == "linear":
        chosen = line
    shape = fall or shape_of(chosen, rows, superlinear)
    doubts = [] if retrograde else _doubts(candidates, able, chosen, shape, noise, rows, superlinear)
    return ModelChoice(
        model=chosen.model,
        supported=tuple(c.model for c in sorted(near, key=_aicc) if c is not chosen),
        verdict="undecided" if doubts else shape,
        doubts=tuple(doubts),
        plausible=_plausible(candidates, rows, chosen, retrograde),
        skipped=tuple(_skipped(candidates, rows, chosen, able, retrograde)),
    )


def _able(candidates: Mapping[ModelName, Candidate], rows: Rows, retrograde: bool) -> list[Candidate]:
    able = [c for c in candidates.values() if c.aicc is not None]
    if retrograde:
        falling = {c.model for c in _falling(_smooth_of(candidates), rows)}
        return [c for c in able if c.model in falling]
    smooth = [_aicc(c) for c in able if c.model != "knee"]

    def is_clear(knee: Candidate) -> bool:
        is_apart = bool(smooth) and _inside(knee, rows) and not _at_the_break(knee, rows)
        return is_apart and _aicc(knee) + KNEE_MARGIN < min(smooth) and bends(rows)

    return [c for c in able if c.model != "knee" or is_clear(c)]


def _untested_fall(candidates: Mapping[ModelName, Candidate], rows: Rows, verdict: Shape) -> ModelChoice:
    chosen = min(_falling(_smooth_of(candidates), rows), key=lambda c: c.rss, default=None)
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
    sentences = []
    for c in candidates.values():
        gain = _aicc(chosen) - c.aicc if c.aicc is not None else 0.0
        if gain <= PLAUSIBLE_AICC or c.model in {one.model for one in able}:
            continue
        if not falling:
            rule = f"the rates reject it ({F_TEST})"
            if c.model == "knee" and not _inside(c, rows):
                rule = "a hard limit needs two levels below it and two above"
            elif c.model == "knee" and _at_the_break(c, rows):
                rule = f"at {rows.knot:g} the CPU placement changes, which is no hard limit"
            elif c.model == "knee":
                rule = "noise about the best smooth curve explains a hard limit as well"
        elif c.model == "knee" or not _falling([c], rows):
            rule = "it does not fall, and the rate does"
        else:
            rule = "it falls from the first level on, and the rate rises first"
        sentences.append(
            f"{NAMES[c.model]} has an AICc that is lower than {NAMES[chosen.model]}'s by {gain:.0f}; it is not chosen: "
            f"{rule}"
        )
    return sentences


def _falling(able: Sequence[Candidate], rows: Rows) -> list[Candidate]:
    """Those that fall at the end; if the rate rose first, prefer those that rise too."""
    curves = {c.model: c.rates(rows.distinct) for c in able}
    falling = [c for c in able if curves[c.model][-1] < curves[c.model].max()]
    rising = [c for c in falling if curves[c.model].argmax() > 0] if rows.means.argmax() > 0 else []
    return rising or falling


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
    """Those within 6 of the lowest AICc; a knee only with two levels on either side."""
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
    return max((candidate.rse or 0.0) / float(rows.means[-1]), _NOISE_LEAST)


def shape_of(c: Candidate, rows: Rows, superlinear: bool) -> Shape:
    """The verdict of a model, as far as its intervals support it."""
    if c.model == "knee":
        return "knee"
    if c.model in WITH_BREAK and _by_interval(*c.interval("share"), 1.0) != "linear":
        return "break"
    shape: Shape = "linear"
    if c.model == "power":
        shape = _by_interval(*c.interval("exponent"), 1.0)
    elif c.model == "affine":
        shape = _by_interval(*c.interval("intercept"), 0.0, rising=False)
    elif c.model not in ("linear", "linear_break") and len(c.samples):
        _, high = percentiles(_efficiencies(c, rows))
        shape = "contended" if high is not None and high < 1 - 1e-9 else "linear"
    return "superlinear" if superlinear and shape == "linear" else shape


def _by_interval(low: float | None, high: float | None, linear: float, *, rising: bool = True) -> Shape:
    above, below = low is not None and low > linear, high is not None and high < linear
    if above == below:
        return "linear"
    return "superlinear" if above is rising else "contended"


def _efficiencies(c: Candidate, rows: Rows) -> Floats:
    """At the last level, of each sample."""
    ends = rows.distinct[[0, -1]]
    each = c.curves(ends) / ends
    ratios: Floats = np.full(len(each), np.inf)
    np.divide(each[:, 1], each[:, 0], out=ratios, where=each[:, 0] > 0)
    return ratios


def _doubts(
    candidates: Mapping[ModelName, Candidate],
    able: Sequence[Candidate],
    chosen: Candidate,
    shape: Shape,
    noise: float,
    rows: Rows,
    superlinear: bool,
) -> list[str]:
    """Contention that a line hides, and another shape that predicts the last level better."""
    doubts = []
    amdahl = candidates.get("amdahl")
    if shape == "linear" and amdahl is not None and len(amdahl.samples):
        low, high = percentiles(_efficiencies(amdahl, rows))
        if high is not None and high < 1 - 1e-9:
            least = f"{amdahl.interval('alpha')[0]:.2g} or more"
            doubts.append(f"AICc prefers a line, but Amdahl's contention is significantly above 0 ({least})")
        elif low is not None and low < EFFICIENCY_SURE:
            at = f"{100 * low:.0f} % at {float(rows.distinct[-1]):g}"
            doubts.append(f"a line fits, but an efficiency as low as {at} cannot be excluded")
    best = min(able, key=_error)
    is_better = chosen.left_out_error is not None and _error(chosen) - _error(best) > 3 * noise
    if is_better and shape_of(best, rows, superlinear) != shape:
        prefers = f"AICc prefers {NAMES[chosen.model]}, but {NAMES[best.model]} predicts the last level better"
        doubts.append(f"{prefers} ({100 * _error(best):.1f} % off against {100 * _error(chosen):.1f} %)")
    return doubts
