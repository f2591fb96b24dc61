"""The curve through observations: points, models, which one the points support, and how sure that is.

`fit_curve` is the door for observations, `fit_rows` for anybody's data. Pure: no I/O, no clock; its chance is seeded.
Refuses to fit what is marked, to choose a model that the points are too few for, and to claim a parameter, a peak or a
knee that its own error swallows.
"""

from runner.fit.curve import FitQuestions, fit_curve, fit_rows, model_rate, value_at
from runner.fit.models import NAMES, SYMBOLS, rate_at
from runner.fit.words import RATE_UNITS, Terms, pair, quantity, ranged

__all__ = [
    "NAMES",
    "RATE_UNITS",
    "SYMBOLS",
    "FitQuestions",
    "Terms",
    "fit_curve",
    "fit_rows",
    "model_rate",
    "pair",
    "quantity",
    "ranged",
    "rate_at",
    "value_at",
]
