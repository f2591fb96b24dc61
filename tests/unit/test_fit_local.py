"""Curves that are none of the models: intervals cover chords between levels, and curves of the last levels beyond."""

import math

import numpy as np
import pytest

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_rows
from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.local import between, misfit_p
from scale_sweep.analysis.fit.rows import make_rows

LEVELS = tuple(map(float, range(1, 13)))


def drawn(curve, levels, noise, seed, replicates=3):
    chance = np.random.default_rng(seed)
    return [(n, 1e6 * curve(n) * (1 + noise * chance.standard_normal())) for n in levels for _ in range(replicates)]


def made(rows):
    levels, rates = np.array(rows).T
    return make_rows(levels, rates)


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    "curve",
    [
        lambda n: 1 + 1.5 * math.log(n),
        lambda n: n if n <= 6 else 6 + 0.55 * (n - 6),
        lambda n: n if n <= 7.2 else 7.2 + 0.25 * (n - 7.2),
        lambda n: n / (1 + (n / 6) ** 2) + 1.8 * (1 - math.exp(-n / 12)),
    ],
    ids=["log n", "NUMA step", "SMT siblings", "fall to a floor"],
)
def test_intervals_hold_curves_that_are_none_of_the_models(curve):
    asked = [2.5, 5.5, 8.5, 11.5, 15.0, 24.0]
    held = []
    for seed in range(5):
        rows = drawn(curve, LEVELS, 0.01, seed)
        fit = fit_rows(rows, Terms(), questions=FitQuestions(predict=asked), samples=100)
        held += [p.low <= 1e6 * curve(p.level) <= p.high for p in fit.predictions]
    assert sum(held) >= 0.9 * len(held)


def test_a_misfit_is_improbable_and_noise_is_not():
    bent = made(drawn(lambda n: min(n, 6.0), LEVELS, 0.01, 1))
    assert misfit_p(fit_model("linear", bent, 10), bent) < 1e-6
    straight = made(drawn(lambda n: n, LEVELS, 0.01, 1))
    assert misfit_p(fit_model("linear", straight, 10), straight) > 0.05


def test_without_replicates_the_noise_is_not_known():
    rows = made(drawn(lambda n: min(n, 6.0), LEVELS, 0.01, 1, replicates=1))
    assert misfit_p(fit_model("linear", rows, 10), rows) is None
    assert between(rows, 2.5) is None


def test_a_chord_joins_the_means_and_its_interval_shrinks_with_replicates():
    few, many = (made(drawn(lambda n: n, (1.0, 2.0, 4.0), 0.02, 2, replicates)) for replicates in (3, 30))
    for rows in (few, many):
        low, high = between(rows, 3.0)
        assert low < rows.means[1:].mean() < high
    assert np.ptp(between(many, 3.0)) < np.ptp(between(few, 3.0))
    assert between(few, 0.9) is None and between(few, 4.1) is None
    low, high = between(few, 2.0)
    assert low < few.means[1] < high
