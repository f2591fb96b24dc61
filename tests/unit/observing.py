"""Fit and noise of trials, as the report makes them: trials become observations first."""

from __future__ import annotations

from scale_sweep.analysis.fit import curve
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.analysis.noise import spread
from scale_sweep.analysis.observations import observations
from scale_sweep.experiment.axes import load_axis


def fit_curve(results, *, rate="rows_per_s", axis="cores", **words):
    facts = load_axis(axis)
    terms = Terms(axis=facts.name, one=facts.unit, rate="rows/s")
    name = rate if isinstance(rate, str) else "rate"
    return curve.fit_curve(observations(results, rate), terms, rate=name, **words)


def noise_report(results, rate):
    return spread.noise_report(observations(results, rate))


def rates_of(results, rate):
    return spread.rates_of(observations(results, rate))
