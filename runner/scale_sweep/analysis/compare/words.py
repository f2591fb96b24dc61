"""A comparison in words: one sentence, and the cautions that a reader needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.analysis.compare.pairs import Unpaired
from scale_sweep.analysis.compare.repeats import Repeats, enough_words
from scale_sweep.base.units import change_words, counted, format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import CLAIM_S, STEP_S, StoredRun, TrialResult, is_quick
from scale_sweep.model.compared import Differing, Gate, PointRatio, Spread

UNSEEN_PERCENT = 50.0  # if a rate could halve without being noticed, a figure does not help the reader

_SPREADS = {
    "seconds": "single trials in both runs: the interval covers the noise within two windows, not the spread between "
    "trials, and is too narrow; use --replicates 3",
    "common": "only one of the runs has replicates: the other is taken to be as noisy",
}
_HOST_MATTERS = {"hostname", "cpu_model", "cpus", "kernel", "governor"}


def point_name(level: float | None, variant: str, axis: str) -> str:
    """4, "", "cores" → "4 cores"."""
    if level is None:
        return "all points"
    return load_axis(axis).count(format_number(level)) + (f" ({variant})" if variant else "")


def ratio_words(point: PointRatio) -> str:
    """The ratio as a change with its interval: "-4.2 (-6.1 to -2.3) %"."""
    return change_words(point.ratio, point.low, point.high) if point.ratio is not None else point.missing


def nothing_words(unpaired: Sequence[Unpaired]) -> str:
    """Why there is no answer."""
    if any(u.open_loop for u in unpaired):
        return (
            "Nothing can be compared: an open loop (--rate) measures response times at an offered rate, which is no "
            "capacity. scale show RUN shows its response times."
        )
    return "Nothing can be compared: no point has VALID trials in both runs."


def sentence(
    ratios: Sequence[PointRatio], overall: PointRatio | None, axis: str, repeats: Repeats | None = None
) -> str:
    """The answer, from one ratio or more. repeats: None if nothing shows the noise between trials."""
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
    """No difference, and the smallest that the trials would have shown; or that they could not have shown any, and how
    many repeats would show the differences that sweeps look for."""
    seen = sorted(p.smallest_percent or 100.0 for p in ratios)
    together = overall.smallest_percent or 100.0 if overall is not None else 100.0
    measured = whole or f"B against A {ratio_words(ratios[0])}"
    if min(seen[0], together) >= UNSEEN_PERCENT:
        tests = len(ratios) + (overall is not None)
        enough = f". {_upper(enough_words(ratios, tests, repeats))}" if repeats is not None else ""
        return f"Too noisy to decide whether B differs from A: too few trials for this noise; {measured}{enough}."
    ends = list(dict.fromkeys(f"{p:.1f}" if p < UNSEEN_PERCENT else "50 or more" for p in (seen[0], seen[-1])))
    all_points = f", {together:.1f} % on all points together" if together < UNSEEN_PERCENT else ""
    return f"No difference found: {measured}. The test would see {' to '.join(ends)} % at a point{all_points}."


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def smallest_words(percent: float) -> str:
    """The smallest difference that the trials could have shown; no figure if a rate could halve without being
    noticed."""
    return f"{percent:.1f} %" if percent < UNSEEN_PERCENT else "too noisy"


def _at(point: PointRatio) -> str:
    return " ".join(part for part in (format_number(point.level or 0.0), point.variant) if part)


def _direction(points: Sequence[PointRatio]) -> str:
    below = sum((p.ratio or 1.0) < 1 for p in points)
    return "slower" if below == len(points) else "faster" if not below else "different"


@dataclass(frozen=True, kw_only=True)
class CautionInputs:
    """Inputs of the cautions besides the ratios."""

    spread: Spread | None
    differing: Sequence[Differing]
    gate: Gate | None  # what a script asks
    same: bool  # A and B are one run
    sessions: tuple[int, int]  # the number of runs of A and of B


def name_of(run: StoredRun) -> str:
    return run.path.rstrip("/").rpartition("/")[2]


def cautions(points: Sequence[PointRatio], tested: Sequence[PointRatio], inputs: CautionInputs) -> tuple[str, ...]:
    """Sentences that a reader must know before the ratios. tested: the points with a ratio, and all points together."""
    sentences = []
    if inputs.same:
        sentences.append("A and B are the same run: the ratios are 1 by themselves, the false alarms are the answer")
    if inputs.spread in _SPREADS:
        sentences.append(_SPREADS[inputs.spread])
    if missing := [f"{_at(p)}: not compared, {p.missing}" for p in points if p.missing]:
        sentences.append("; ".join(missing))
    gate = inputs.gate if inputs.gate is not None and not inputs.gate.must_be_shown else None
    blind = [p for p in tested if gate is not None and (p.smallest_percent or 0) > gate.percent]
    if gate is not None and blind:
        worst = max(p.smallest_percent or 0 for p in blind)
        sentences.append(
            f"{gate.percent:g} % is less than these trials can show at {len(blind)} of {len(tested)} "
            f"comparisons (smallest difference up to {worst:.1f} %): a pass is weak evidence; add "
            f"{_more(inputs)}"
        )
    sentences += _own_spread(points)
    hosts = sorted({d.name for d in inputs.differing if d.kind == "host"} & _HOST_MATTERS)
    if hosts:
        where = ", ".join(hosts)
        sentences.append(
            f"the runs were made on different machines ({where}): the ratio compares servers and machines together"
        )
    if not inputs.same and inputs.spread in ("replicates", "common", "seconds"):
        sentences.append(
            "one run a side: the spread between sessions (a restart, neighbours, another day) is not known and not in "
            "the interval. Use scale ab, or compare several runs a side: scale compare A1,A2,... B1,B2,..."
        )
    if inputs.spread == "sessions" and min(inputs.sessions) < 3:
        sentences.append("fewer than three runs a side: their spread is hardly known, so only large differences show")
    return tuple(sentences)


def _more(inputs: CautionInputs) -> str:
    return {"sessions": "runs a side", "blocks": "blocks"}.get(inputs.spread or "", "replicates")


def _own_spread(points: Sequence[PointRatio]) -> list[str]:
    """A caution for points that are noisier than the others. If all points have their own spread, there is none:
    pooling is refused easily."""
    alone = [p for p in points if p.own_spread]
    if not alone or len(alone) == len([p for p in points if p.ratio is not None]):
        return []
    noisy = ", ".join(map(_at, alone))
    return [f"the trials at {noisy} spread far more than those of the other points and have a separate spread"]


def quick_words(a: Sequence[TrialResult], b: Sequence[TrialResult]) -> tuple[str, ...]:
    """A caution if numbers of A or B are quick. a, b: all trials of A and B; one without a window does not count."""
    sides = {name: [is_quick(r) for r in of if r.measurement.window_s] for name, of in (("A", a), ("B", b))}
    counts = [f"{sum(quick)} of {len(quick)} of {name}" for name, quick in sides.items() if any(quick)]
    if not counts:
        return ()
    if any(result.trial.load.objective is not None for result in (*a, *b)):
        return (f"quick: {' and '.join(counts)} trials have steps under {STEP_S:g} s, with few requests in each",)
    return (f"quick: {' and '.join(counts)} trials have windows under {CLAIM_S:g} s: a slow decline would not show",)
