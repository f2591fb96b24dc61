"""Curves of a part of the levels: what the models may have missed, for intervals to cover. Pure.

A model that is wrong misses the points, and its bootstrap does not know that: with more levels its interval shrinks
about a wrong curve. Between two levels the truth is near the straight line between their means. Beyond the levels it is
near curves of the last levels alone. The span of such curves is the discrepancy that Kennedy and O'Hagan (2001,
"Bayesian calibration of computer models") model as a process; with a dozen levels its correlation cannot be estimated.
Refuses to judge a misfit without replicates: the noise is then not known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.special import fdtrc, stdtrit

from scale_sweep.analysis.fit.candidates import CONFIDENCE, Candidate, fit_model
from scale_sweep.analysis.fit.choice import ModelChoice
from scale_sweep.analysis.fit.models import Floats, ModelName
from scale_sweep.analysis.fit.rows import Rows, make_rows

DOUBT_P = 0.4  # a misfit this likely by chance is still taken for one: missing it costs more than a wider interval
_TAIL_LEVELS_MIN = 3
_TAIL_MODELS: tuple[ModelName, ...] = ("affine", "power", "amdahl")


def misfit_p(chosen: Candidate, rows: Rows) -> float | None:
    """The probability of level means as far from the curve, by the replicates' spread: the F test of lack of fit.

    None without replicates, or with no more levels than free parameters.
    """
    pure = float(np.sum((rows.rates - rows.means[rows.of_level]) ** 2))
    within, left = len(rows.rates) - len(rows.distinct), len(rows.distinct) - len(chosen.free)
    if within < 1 or left < 1 or pure <= 0:
        return None
    ratio = max(chosen.rss - pure, 0.0) / left / (pure / within)
    return float(fdtrc(left, within, ratio))


def wider_curves(
    candidates: Mapping[ModelName, Candidate], choice: ModelChoice, rows: Rows, samples: int
) -> list[Candidate]:
    """The curves that intervals beyond the levels cover besides the plausible models.

    The USL, because few rows cannot exclude a peak still to come. Amdahl on the upper half of the levels, if AICc
    rejects Amdahl: for curves that bend more sharply than Amdahl and less than a knee. Where the level means may miss
    the chosen curve: lines, powers and Amdahl of the upper half and of the last three levels. If the rate falls, only a
    power from the peak on, for a fall that ends.
    """
    if not choice.model:
        return []
    if choice.verdict == "retrograde":
        first = min(int(rows.means.argmax()), len(rows.distinct) - _TAIL_LEVELS_MIN)
        return [fit_model("power", _last(rows, len(rows.distinct) - first), samples)]
    amdahl, usl = candidates.get("amdahl"), candidates.get("usl")
    half = max(_TAIL_LEVELS_MIN, (len(rows.distinct) + 1) // 2)
    wider = [usl] if usl is not None and "usl" not in choice.plausible else []
    p = misfit_p(candidates[choice.model], rows)
    if p is not None and p <= DOUBT_P:
        tails = [_last(rows, count) for count in sorted({half, _TAIL_LEVELS_MIN})]
        wider += [fit_model(model, tail, samples) for tail in tails for model in _TAIL_MODELS]
    elif amdahl is not None and amdahl.aicc is not None and "amdahl" not in choice.plausible:
        wider.append(fit_model("amdahl", _last(rows, half), samples))
    return wider


def _last(rows: Rows, count: int) -> Rows:
    upper = rows.levels >= rows.distinct[-count]
    return make_rows(rows.levels[upper], rows.rates[upper])


def between(rows: Rows, level: float) -> tuple[float, float] | None:
    """The 95 % interval of the chords between the means of the neighbouring levels: one straight over n, one over ln n.

    Student's t with the replicates' pooled relative spread. None outside the levels, and without replicates.
    """
    freedom = len(rows.rates) - len(rows.distinct)
    if freedom < 1 or not rows.distinct[0] <= level <= rows.distinct[-1] or len(rows.distinct) < 2:
        return None
    off = rows.rates / rows.means[rows.of_level] - 1
    spread = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(float(off @ off) / freedom)
    upper = min(max(int(np.searchsorted(rows.distinct, level)), 1), len(rows.distinct) - 1)
    pair = slice(upper - 1, upper + 1)
    ends, means = rows.distinct[pair], rows.means[pair]
    errors = spread * means / np.sqrt(rows.weights[pair])
    chords = [_chord(level, ends, means, errors), _chord(math.log(level), np.log(ends), means, errors)]
    return min(low for low, _ in chords), max(high for _, high in chords)


def _chord(at: float, ends: Floats, means: Floats, errors: Floats) -> tuple[float, float]:
    share = (at - float(ends[0])) / float(ends[1] - ends[0])
    parts = np.array([1 - share, share])
    value, error = float(parts @ means), float(np.linalg.norm(parts * errors))
    return value - error, value + error
