"""Estimates the width of a prediction's interval before the first trial: runs of the plan are simulated and fitted.

The fit's interval covers several models, so no formula gives its width. The simulated curve is slightly contended.
Refuses a width if the fit would not answer in most runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_rows

CONTENTION = 0.03  # of the simulated curve
DRAWS = 9
_SAMPLES = 200  # of each fit's bootstrap
_SEED = 20260812


def prediction_percent(
    levels: Sequence[float], replicates: int, std: float, at: float, *, draws: int = DRAWS, seed: int = _SEED
) -> tuple[float, float] | None:
    """The ends of the fit's 95 % interval of X(at), in percent of the predicted rate; the median over simulated runs.

    std: of one trial's ln X. None if most fits have no model or no interval.
    """
    chance, unit = np.random.default_rng(seed), min(*levels, 1.0)
    ends = []
    for _ in range(draws):
        drawn = [
            (level, level / (1 + CONTENTION * (level / unit - 1)) * math.exp(error))
            for level in sorted(set(levels))
            for error in chance.normal(0, std, replicates)
        ]
        fit = fit_rows(drawn, Terms(axis="levels"), questions=FitQuestions(predict=(at,)), samples=_SAMPLES)
        found = fit.predictions[0]
        if found.rate and found.low is not None and found.high is not None:
            ends.append((100 * (found.low / found.rate - 1), 100 * (found.high / found.rate - 1)))
    if 2 * len(ends) <= draws:
        return None
    low, high = np.median(np.array(ends), axis=0)
    return float(low), float(high)
