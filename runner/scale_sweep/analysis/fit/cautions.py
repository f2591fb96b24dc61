"""The cautions of a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scale_sweep.analysis.confidence import (
    DIFFERENCE_MAX_PERCENT,
    REPEATS_MAX,
    SIGNIFICANCE,
    SOUGHT_PERCENT,
    replicates_for,
    smallest_of,
    student,
)
from scale_sweep.analysis.fit.choice import NEAR_AICC
from scale_sweep.analysis.fit.models import NAMES
from scale_sweep.analysis.fit.partial_curves import misfit_p
from scale_sweep.analysis.fit.rows import far_off
from scale_sweep.analysis.fit.summaries import Noise
from scale_sweep.analysis.fit.words import FitFindings, level_words, rejected_words
from scale_sweep.base.units import counted, format_number, format_rate, percent_words
from scale_sweep.model.fitted import PointSummary

_SUPERLINEAR_UNPROVEN = 1.05
_SUPERLINEAR_LEAST = 0.02  # of ln(efficiency), so that rounding is not reported
_MISFIT_P = 0.01
_LOST_SHOWN = 6
CONFOUNDS = (
    "possible causes: a slow first level (shared cores, a cold cache), memory or cache that grows with the axis, a "
    "knob that changes along it, a higher clock rate, larger batches"
)


def superlinear_levels(points: tuple[PointSummary, ...], noise: Noise | None) -> tuple[str, ...]:
    """Levels whose efficiency is above 1 beyond the noise (95 % for all together): "1.25 at 4"."""
    if noise is None:
        return _below_the_others(points)
    probability = 1 - SIGNIFICANCE / 2 / max(len(points) - 1, 1)
    levels = []
    for p in points[1:]:
        efficiency = p.efficiency or 0.0
        error = efficiency * p.speedup_std_err / p.speedup if p.speedup and p.speedup_std_err is not None else math.inf
        if efficiency > 1 + student(p.speedup_degrees or noise.degrees, probability) * error:
            levels.append(_efficiency_words(p))
    return tuple(levels)


def _efficiency_words(p: PointSummary) -> str:
    return f"{p.efficiency or 0.0:.2f} at {format_number(p.level)}"


def _below_the_others(points: tuple[PointSummary, ...]) -> tuple[str, ...]:
    logs = [math.log(p.efficiency) for p in points[1:] if p.efficiency]
    if len(logs) < 3:
        return ()
    middle = sum(logs) / len(logs)
    spread = math.sqrt(sum((v - middle) ** 2 for v in logs) / (len(logs) - 1))
    bound = student(len(logs) - 1)
    if middle <= max(bound * spread * math.sqrt(1 + 1 / len(logs)), _SUPERLINEAR_LEAST):
        return ()
    return tuple(_efficiency_words(p) for p in points[1:] if (p.efficiency or 0.0) > _SUPERLINEAR_UNPROVEN)


def all_cautions(f: FitFindings) -> tuple[str, ...]:
    """The most important first."""
    sentences = [c.sentence for c in f.confounds]
    for note, at in f.data.noted.items():
        sentences.append(f"{note} at {f.terms.named(level_words(at))}: these trials are fitted")
    sentences += [*_left_out(f), *_outliers(f)]
    if len(f.points) < 2:
        return tuple(sentences)
    sentences += _superlinear(f)
    if f.choice.model == "knee":
        sentences.append(
            "a hard limit explains the points better than every smooth curve: look for another resource that is full "
            "from there on"
        )
    amdahl = f.candidates.get("amdahl")
    if amdahl is not None and f.choice.verdict == "superlinear" and amdahl.value("alpha") <= 0:
        sentences.append(
            "α and β are kept at 0 or above: a negative one would fit better, and would mean that waiting makes work"
        )
    return (*sentences, *f.choice.doubts, *_model_doubts(f), *_few(f), *_noise(f))


def _left_out(f: FitFindings) -> list[str]:
    total = sum(f.data.left_out.values())
    if not total or not f.points:
        return []
    kinds = ", ".join(f"{n} {kind}" for kind, n in f.data.left_out.items())
    all_trials = total + len(f.data.rates)
    sentences = [f"{total} of {counted(all_trials, 'trial')} {'is' if total == 1 else 'are'} not fitted: {kinds}"]
    if f.data.lost:
        lost = f.terms.named(", ".join(format_number(r.level) for r in f.data.lost))
        shown = f.data.lost[:_LOST_SHOWN]
        rates = "; ".join(f"{rejected_words(r, f.terms)} at {format_number(r.level)}" for r in shown)
        sentences.append(f"no {f.terms.row} at {lost}: the curve does not cover it; measured: {rates}")
    for r in f.data.rejected:
        if r.is_doubted:
            share = f"{r.rejected} of {counted(r.rejected + r.kept, 'trial')} were rejected"
            measured = f"they measured {rejected_words(r, f.terms)}"
            sentences.append(f"{f.terms.count(r.level)}: {share}, so this level is in doubt; {measured}")
    return sentences


def _outliers(f: FitFindings) -> list[str]:
    return [
        f"one {f.terms.row} lies far off: {format_rate(one.rate, None)} {f.terms.rate} at {f.terms.count(one.level)}, "
        f"{f'{one.factor:.2g} times' if one.factor >= 1 else f'1/{1 / one.factor:.2g} of'} the value that its "
        "neighbours predict;  check it, because it changes the whole fit"
        for one in far_off(f.rows)
    ]


def _superlinear(f: FitFindings) -> list[str]:
    if f.superlinear:
        noise = "noise" if f.noise else "the scatter of the levels"
        sentences = [f"superlinear beyond {noise}: efficiency {_at_levels(f.superlinear, f)}"]
    elif f.choice.verdict == "superlinear":
        sentences = ["superlinear: the curve rises faster than a line through the origin, beyond its error"]
    else:
        seen = [_efficiency_words(p) for p in f.points[1:] if (p.efficiency or 0.0) > _SUPERLINEAR_UNPROVEN]
        unsure = f"superlinear: efficiency {_at_levels(seen, f)}; without replicates noise cannot be excluded"
        return [unsure] if seen and f.noise is None else []
    return [*sentences, CONFOUNDS]


def _at_levels(efficiencies: Sequence[str], f: FitFindings) -> str:
    """["1.25 at 4", "1.27 at 8"] → "1.25 at 4, 1.27 at 8 cores"."""
    is_one = len(efficiencies) == 1 and efficiencies[0].endswith(" at 1")
    return f"{', '.join(efficiencies)} {f.terms.unit if is_one else f.terms.axis}"


def _model_doubts(f: FitFindings) -> list[str]:
    if f.choice.model is None:
        return []
    name = NAMES[f.choice.model]
    sentences = []
    p = misfit_p(f.chosen, f.rows) if f.chosen is not None else None
    if p is not None and p < _MISFIT_P:
        sentences.append(f"the levels lie off the {name} curve by more than the replicates' spread explains")
    sentences += f.choice.skipped
    if f.choice.untested:
        sentences.append(f"{name} is not tested: the points are too few for its AICc; {f.choice.untested}")
    if near := [NAMES[n] for n in f.choice.supported]:
        verb = "explains" if len(near) == 1 else "explain"
        sentences.append(f"{_listed(near)} {verb} the points about as well as {name} (AICc within {NEAR_AICC:.0f})")
    return sentences


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _few(f: FitFindings) -> list[str]:
    levels, rows = len(f.points), len(f.data.rates)
    untested = [NAMES[m] for m, c in f.candidates.items() if c.aicc is None and m != "knee"]
    sentences = []
    if levels >= 3 and untested:
        where = f"{f.terms.rows(rows)} at {counted(levels, 'level')}"
        sentences.append(
            f"{where} cannot test {_listed(untested)}: any of them may lie behind these points, and "
            "only more levels or replicates can show which"
        )
    if 3 <= levels <= 5:
        many = counted(levels, "level")
        sentences.append(f"USL is weakly determined by {many} (3 parameters; 6 levels or more are needed)")
    return sentences


def smallest_percent(points: Sequence[PointSummary], noise_percent: float | None) -> float | None:
    """Difference of two levels seen four times in five; None for one level, or without replicates."""
    if noise_percent is None or len(points) < 2:
        return None
    return smallest_of(noise_percent / 100, degrees_of(points), min(p.n for p in points))


def trials_percent(points: Sequence[PointSummary], noise_percent: float | None) -> float | None:
    """Half of the range of 95 % of a level's trials; None without replicates."""
    return student(degrees_of(points)) * noise_percent if noise_percent is not None else None


def degrees_of(points: Sequence[PointSummary]) -> int:
    return max(1, sum(p.n - 1 for p in points))


def _noise(f: FitFindings) -> list[str]:
    smallest = smallest_percent(f.points, 100 * f.noise.std if f.noise else None)
    if f.noise is None or smallest is None:
        one = f.terms.row.rpartition(" ")[2]
        why = f"one {one} per level: the noise is not known"
        return [f"{why}, so no rate has an interval, and no difference is significant"]
    if smallest >= DIFFERENCE_MAX_PERCENT:
        return [f"too noisy to detect a difference between two levels in {f.terms.whole}; {_enough(f.points, f.noise)}"]
    least, sought = percent_words(smallest), percent_words(SOUGHT_PERCENT)
    seen = f"{f.terms.whole} can detect differences of {least} or more between two levels"
    return [f"{seen}; {_enough(f.points, f.noise)}" if smallest > SOUGHT_PERCENT and least != sought else seen]


def _enough(points: Sequence[PointSummary], noise: Noise) -> str:
    count = replicates_for(SOUGHT_PERCENT, len(points), noise.std)
    many = counted(count, "replicate") if count is not None else f"more than {counted(REPEATS_MAX, 'replicate')}"
    return f"with {many} the limit is {percent_words(SOUGHT_PERCENT)}"
