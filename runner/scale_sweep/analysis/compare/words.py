"""A comparison in words: the sentence, the cautions, the repeats that would show more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.analysis.compare.pairs import Unpaired
from scale_sweep.analysis.confidence import POWER, REPEATS_MAX, SIGNIFICANCE, SOUGHT_PERCENT, student
from scale_sweep.analysis.observations import point_name
from scale_sweep.base.units import change_words, counted, format_number
from scale_sweep.model.compared import Differing, FalseAlarms, Gate, PointRatio, Spread
from scale_sweep.model.declared import Sweep
from scale_sweep.model.declared_parts import CLAIM_S, STEP_S
from scale_sweep.model.derived import is_quick
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult

UNSEEN_PERCENT = 50.0  # if a rate could halve without being noticed, a figure does not help the reader

_SPREADS = {
    "seconds": "single trials in both runs: the interval covers the noise within two windows, not the spread between "
    "trials, and is too narrow; use --replicates 3",
    "common": "only one of the runs has replicates: the other is taken to be as noisy",
}
_HOST_MATTERS = {"hostname", "cpu_model", "cpus", "kernel", "governor"}


def ratio_words(point: PointRatio) -> str:
    """ "-4.2 (-6.1 to -2.3) %"."""
    return change_words(point.ratio, point.low, point.high) if point.ratio is not None else point.missing


def nothing_words(unpaired: Sequence[Unpaired]) -> str:
    if any(u.open_loop for u in unpaired):
        return (
            "Nothing can be compared: an open loop (--rate) measures response times at an offered rate, which is no "
            "capacity. scale show RUN shows its response times."
        )
    return "Nothing can be compared: no point has VALID trials in both runs."


def sentence(
    ratios: Sequence[PointRatio], overall: PointRatio | None, axis: str, repeats: Repeats | None = None
) -> str:
    """repeats: None if nothing shows the noise between trials."""
    if ratios[0].low is None:
        return untested(ratios, axis, "single trials with short windows, so it may be noise")
    changed = [p for p in ratios if p.differs]
    changes = ", ".join(f"{ratio_words(p)} at {point_name(p.level, p.variant, axis)}" for p in changed)
    whole = f"all points together {ratio_words(overall)}" if overall is not None else ""
    if changed:
        kind = _direction(changed)
        rest = f"; {whole}" if whole else ""
        return f"B is {kind} at {len(changed)} of {counted(len(ratios), 'point')}: {changes}{rest}."
    if overall is not None and overall.differs:
        return f"B is {_direction([overall])}: {whole}; no single point shows it by itself."
    return _not_significant(ratios, overall, whole, repeats)


def untested(ratios: Sequence[PointRatio], axis: str, why: str) -> str:
    changes = ", ".join(f"{ratio_words(p)} at {point_name(p.level, p.variant, axis)}" for p in ratios)
    return f"B against A: {changes}; {why}."


def _not_significant(
    ratios: Sequence[PointRatio], overall: PointRatio | None, whole: str, repeats: Repeats | None
) -> str:
    seen = sorted(p.smallest_percent or 100.0 for p in ratios)
    together = overall.smallest_percent or 100.0 if overall is not None else 100.0
    measured = whole or f"B against A {ratio_words(ratios[0])}"
    if min(seen[0], together) >= UNSEEN_PERCENT:
        tests = len(ratios) + (overall is not None)
        enough = enough_words(ratios, tests, repeats) if repeats is not None else ""
        enough = f". {enough[0].upper()}{enough[1:]}" if enough else ""
        return f"Too noisy to decide whether B differs from A: too few trials for this noise; {measured}{enough}."
    ends = list(dict.fromkeys(f"{p:.1f}" if p < UNSEEN_PERCENT else "50 or more" for p in (seen[0], seen[-1])))
    all_points = f", {together:.1f} % on all points together" if together < UNSEEN_PERCENT else ""
    return f"No difference found: {measured}. The test would see {' to '.join(ends)} % at a point{all_points}."


def smallest_words(percent: float) -> str:
    return f"{percent:.1f} %" if percent < UNSEEN_PERCENT else "too noisy"


def _at(point: PointRatio) -> str:
    return " ".join(part for part in (format_number(point.level or 0.0), point.variant) if part)


def _direction(points: Sequence[PointRatio]) -> str:
    below = sum((p.ratio or 1.0) < 1 for p in points)
    return "slower" if below == len(points) else "faster" if not below else "different"


@dataclass(frozen=True, kw_only=True)
class Sides:
    name_a: str
    name_b: str
    sweep: Sweep  # of A
    differing: tuple[Differing, ...]
    gate: Gate | None  # what a script asks
    same: bool = False  # A and B are one run
    chance: FalseAlarms | None = None  # false alarms of the runs' own noise
    not_judged_because: str = ""
    sessions: tuple[int, int] = (1, 1)  # the number of runs of A and of B
    session_percent: float | None = None
    order: str = ""  # of the sessions, like "ABBA"
    repeats: Repeats | None = None  # None if they are not known


def name_of(run: StoredRun) -> str:
    return run.path.rstrip("/").rpartition("/")[2]


def cautions(
    points: Sequence[PointRatio], tested: Sequence[PointRatio], sides: Sides, spread: Spread | None
) -> tuple[str, ...]:
    """tested: the points with a ratio, and all points together."""
    sentences = []
    if sides.same:
        sentences.append("A and B are the same run: the ratios are 1 by themselves, the false alarms are the answer")
    if spread in _SPREADS:
        sentences.append(_SPREADS[spread])
    if missing := [f"{_at(p)}: not compared, {p.missing}" for p in points if p.missing]:
        sentences.append("; ".join(missing))
    gate = sides.gate if sides.gate is not None and not sides.gate.must_be_shown else None
    blind = [p for p in tested if gate is not None and (p.smallest_percent or 0) > gate.percent]
    if gate is not None and blind:
        more = {"sessions": "runs a side", "blocks": "blocks"}.get(spread or "", "replicates")
        worst = max(p.smallest_percent or 0 for p in blind)
        sentences.append(
            f"{gate.percent:g} % is less than these trials can show at {len(blind)} of {len(tested)} "
            f"comparisons (smallest difference up to {worst:.1f} %): a pass is weak evidence; add {more}"
        )
    alone = [p for p in points if p.own_spread]  # if all points are, there is no caution: pooling is refused easily
    if alone and len(alone) < len([p for p in points if p.ratio is not None]):
        noisy = ", ".join(map(_at, alone))
        sentences.append(
            f"the trials at {noisy} spread far more than those of the other points and have a separate spread"
        )
    hosts = sorted({d.name for d in sides.differing if d.kind == "host"} & _HOST_MATTERS)
    if hosts:
        where = ", ".join(hosts)
        sentences.append(
            f"the runs were made on different machines ({where}): the ratio compares servers and machines together"
        )
    if not sides.same and spread in ("replicates", "common", "seconds"):
        sentences.append(
            "one run a side: the spread between sessions (a restart, neighbours, another day) is not known and not in "
            "the interval. Use scale ab, or compare several runs a side: scale compare A1,A2,... B1,B2,..."
        )
    if spread == "sessions" and min(sides.sessions) < 3:
        sentences.append("fewer than three runs a side: their spread is hardly known, so only large differences show")
    return tuple(sentences)


def quick_words(a: Sequence[TrialResult], b: Sequence[TrialResult]) -> tuple[str, ...]:
    sides = {name: [is_quick(r) for r in of if r.measurement.window_s] for name, of in (("A", a), ("B", b))}
    counts = [f"{sum(quick)} of {len(quick)} of {name}" for name, quick in sides.items() if any(quick)]
    if not counts:
        return ()
    if any(result.trial.load.objective is not None for result in (*a, *b)):
        return (f"quick: {' and '.join(counts)} trials have steps under {STEP_S:g} s, with few requests in each",)
    return (f"quick: {' and '.join(counts)} trials have windows under {CLAIM_S:g} s: a slow decline would not show",)


SIZES = (SOUGHT_PERCENT, 20.0, 50.0)  # differences in percent, the one that sweeps look for first


@dataclass(frozen=True, kw_only=True)
class Repeats:
    unit: str  # in words, "blocks"
    count: float  # their number; for unequal numbers of A and of B, the equal number with the same error
    degrees: float  # of freedom that this number gives

    def error_at(self, count: int, error: float) -> float:
        """error: with the repeats that there are."""
        return error * math.sqrt(self.count / count)

    def degrees_at(self, count: int, degrees: float) -> float:
        """degrees: with the repeats that there are."""
        return max(degrees * (count - 1) / self.degrees, 1.0)


def repeats_of_blocks(blocks: int) -> Repeats:
    return Repeats(unit="blocks", count=float(blocks), degrees=float(max(blocks - 1, 1)))


def repeats_of_sessions(sessions_a: int, sessions_b: int) -> Repeats:
    count = 2 / (1 / sessions_a + 1 / sessions_b)
    return Repeats(unit="runs of A and of B each", count=count, degrees=(sessions_a + sessions_b) / 2 - 1)


def repeats_of_trials(points: Sequence[PointRatio]) -> Repeats | None:
    """By the point with the fewest; None for single trials."""
    counts = [2 / (1 / p.trials_a + 1 / p.trials_b) for p in points if p.trials_a and p.trials_b]
    least = min(counts, default=1.0)
    return Repeats(unit="replicates", count=least, degrees=least - 1) if least > 1 else None


def repeats_to_see(percent: float, points: Sequence[PointRatio], tests: int, repeats: Repeats) -> int | None:
    """The fewest that show a B slower by this at each point, four times in five; None above REPEATS_MAX."""
    known = [(p.error, p.degrees) for p in points if p.error is not None and p.degrees is not None]

    def reach(count: int, error: float, degrees: float) -> float:
        free = repeats.degrees_at(count, degrees)
        return (student(free, 1 - SIGNIFICANCE / 2 / tests) + student(free, POWER)) * repeats.error_at(count, error)

    least = -math.log1p(-percent / 100)
    counts = (n for n in range(2, REPEATS_MAX + 1) if known and all(reach(n, *one) <= least for one in known))
    return next(counts, None)


def enough_words(points: Sequence[PointRatio], tests: int, repeats: Repeats) -> str:
    """ "27 blocks would show 10 % at every point"."""
    where = " at every point" if len(points) > 1 else ""
    for percent in SIZES:
        if (needed := repeats_to_see(percent, points, tests, repeats)) is not None:
            return f"{needed} {repeats.unit} would show {percent:g} %{where}"
    return f"more than {REPEATS_MAX} {repeats.unit} would be needed to show {SIZES[-1]:g} %{where}"
