"""The curve through observations, and its uncertainty."""

from scale_sweep.analysis.fit.beyond import goes_on
from scale_sweep.analysis.fit.cautions import smallest_percent, trials_percent
from scale_sweep.analysis.fit.curve import FitQuestions, fit_curve, fit_rows, model_rate, value_at
from scale_sweep.analysis.fit.models import NAMES, SYMBOLS, rate_at
from scale_sweep.analysis.fit.rows import known_breaks
from scale_sweep.analysis.fit.summaries import another_day, holds_median
from scale_sweep.analysis.fit.words import RATE_UNITS, Terms, ranged, speedup_words

__all__ = [
    "NAMES",
    "RATE_UNITS",
    "SYMBOLS",
    "FitQuestions",
    "Terms",
    "another_day",
    "fit_curve",
    "fit_rows",
    "goes_on",
    "holds_median",
    "known_breaks",
    "model_rate",
    "ranged",
    "rate_at",
    "smallest_percent",
    "speedup_words",
    "trials_percent",
    "value_at",
]
