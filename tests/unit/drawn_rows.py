"""Rows drawn from a curve, and what the fit answers."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows
from scale_sweep.analysis.fit.rows import Rows, make_rows
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.model.fitted import FitReport

Curve = Callable[[float], float]


def law(alpha: float, beta: float = 0.0) -> Curve:
    return lambda n: n / (1 + alpha * (n - 1) + beta * n * (n - 1))


def drawn(curve: Curve, levels: Iterable[float] = range(1, 13), replicates=3, noise=0.01, seed: object = 1):
    """Levels and rates: 1e6 times the curve, with a noise that is a share of it."""
    chance = np.random.default_rng(seed)
    return [
        (float(n), 1e6 * curve(n) * math.exp(noise * chance.standard_normal()))
        for n in levels
        for _ in range(replicates)
    ]


def table(rows: Iterable[tuple[float, float]], **more) -> Rows:
    levels, rates = np.array(rows).T
    return make_rows(levels, rates, **more)


def answered(rows, predict: Iterable[float] = (), need: Iterable[float] = (), **more) -> FitReport:
    questions = FitQuestions(predict=list(predict), need=list(need))
    return fit_rows(rows, Terms(row="row"), questions=questions, **more)
