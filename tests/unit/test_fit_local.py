"""Curves that are none of the models: intervals cover chords between levels, and curves of the last levels beyond."""

import math

import numpy as np
import pytest

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_rows
from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.local import between, misfit_p
from scale_sweep.analysis.fit.next_level import level_places
from scale_sweep.analysis.fit.rows import make_rows
from scale_sweep.analysis.fit.summaries import Usable, pooled_noise

LEVELS = tuple(map(float, range(1, 13)))


def drawn(curve, levels, noise, seed, replicates=3):
    chance = np.random.default_rng(seed)
    return [(n, 1e6 * curve(n) * (1 + noise * chance.standard_normal())) for n in levels for _ in range(replicates)]


def made(rows):
    levels, rates = np.array(rows).T
    return make_rows(levels, rates)


def noise_of(rows):
    return pooled_noise(Usable(levels=rows.levels, rates=rows.rates, left_out={}))


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
    assert between(rows, 2.5, noise_of(rows)) is None


def test_a_chord_joins_the_means_and_its_interval_shrinks_with_replicates():
    few, many = (made(drawn(lambda n: n, (1.0, 2.0, 4.0), 0.02, 2, replicates)) for replicates in (3, 30))
    for rows in (few, many):
        low, high = between(rows, 3.0, noise_of(rows))
        assert low < rows.means[1:].mean() < high
    assert np.ptp(between(many, 3.0, noise_of(many))) < np.ptp(between(few, 3.0, noise_of(few)))
    assert between(few, 0.9, noise_of(few)) is None and between(few, 4.1, noise_of(few)) is None
    low, high = between(few, 2.0, noise_of(few))
    assert low < few.means[1] < high


def test_without_replicates_a_fall_has_no_curve_of_its_last_levels():
    """A power of three rows has one degree of freedom: its ends may be anything."""
    curve = lambda n: n / (1 + 0.05 * (n - 1) + 0.95 / 7**2 * n * (n - 1))  # noqa: E731
    asked = FitQuestions(predict=[24.0])
    for seed in range(3):
        rows = drawn(curve, LEVELS, 0.01, seed, replicates=1)
        fit = fit_rows(rows, Terms(), questions=asked, samples=100)
        (predicted,) = fit.predictions
        assert fit.verdict == "retrograde"
        usl = predicted.by_model["usl"]
        assert predicted.high < 2 * usl.high


def measured_again(fit, levels, curve, seed):
    """The fit, and the same with the level that it names for its first prediction."""
    rows = drawn(curve, levels, 0.01, seed)
    at = fit.predictions[0].halved_by
    more = rows + [(n, x) for n, x in drawn(curve, (at,), 0.01, seed + 1000)]
    return fit_rows(more, Terms(), questions=FitQuestions(predict=[fit.predictions[0].level]), samples=200)


@pytest.mark.monte_carlo
def test_the_level_that_halves_an_interval_does_so():
    curve = lambda n: n if n <= 6 else 6 + 0.55 * (n - 6)  # noqa: E731
    ratios = []
    for seed in range(6):
        rows = drawn(curve, LEVELS, 0.01, seed)
        fit = fit_rows(rows, Terms(), questions=FitQuestions(predict=[24.0], next_level=True), samples=200)
        first = fit.predictions[0]
        if first.is_wide:
            assert 12 < first.halved_by <= 24 and first.halved_by == round(first.halved_by)
            then = measured_again(fit, LEVELS, curve, seed).predictions[0]
            ratios.append((then.high - then.low) / (first.high - first.low))
    assert len(ratios) >= 3
    assert np.median(ratios) < 0.7


def test_a_narrow_interval_names_no_level():
    fit = fit_rows(
        drawn(lambda n: n, LEVELS, 0.001, 1), Terms(), questions=FitQuestions(predict=[15.0, 24.0], next_level=True)
    )
    assert [(p.is_wide, p.halved_by) for p in fit.predictions] == [(False, None)] * 2


def test_the_levels_tried_are_whole_where_the_measured_ones_are():
    whole, parts = made(drawn(lambda n: n, (1.0, 2.0, 4.0), 0.02, 1)), made(drawn(lambda n: n, (0.5, 1.0), 0.02, 1))
    assert level_places(whole, 8.0) == [5.0, 6.0, 7.0, 8.0]
    assert level_places(whole, 3.0) == [3.0]
    assert len(level_places(parts, 2.0)) == 12 and level_places(parts, 2.0)[-1] == 2.0
    assert level_places(whole, 0.5)[0] > level_places(whole, 0.5)[-1] == 0.5
