"""Curves that are none of the models: intervals cover chords between levels, and curves of the last levels beyond."""

import math

import numpy as np
import pytest

from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows
from scale_sweep.analysis.fit.next_level import level_places
from scale_sweep.analysis.fit.partial_curves import between, misfit_p
from scale_sweep.analysis.fit.summaries import Usable, pooled_noise
from scale_sweep.analysis.fit.words import Terms
from tests.unit.drawn_rows import answered, drawn, law, table


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
        fit = answered(drawn(curve, seed=seed), predict=asked, samples=100)
        held += [p.low <= 1e6 * curve(p.level) <= p.high for p in fit.predictions]
    assert sum(held) >= 0.9 * len(held)


def test_a_misfit_is_improbable_noise_is_not_and_without_replicates_it_is_not_known():
    bent, straight = table(drawn(lambda n: min(n, 6.0))), table(drawn(lambda n: n))
    assert misfit_p(fit_model("linear", bent, 10), bent) < 1e-6
    assert misfit_p(fit_model("linear", straight, 10), straight) > 0.05
    once = table(drawn(lambda n: min(n, 6.0), replicates=1))
    assert misfit_p(fit_model("linear", once, 10), once) is None
    assert between(once, 2.5, noise_of(once)) is None


def test_a_chord_joins_the_means_and_its_interval_shrinks_with_replicates():
    few, many = (table(drawn(lambda n: n, (1, 2, 4), replicates, 0.02, 2)) for replicates in (3, 30))
    for rows in (few, many):
        low, high = between(rows, 3.0, noise_of(rows))
        assert low < rows.means[1:].mean() < high
    assert np.ptp(between(many, 3.0, noise_of(many))) < np.ptp(between(few, 3.0, noise_of(few)))
    assert between(few, 0.9, noise_of(few)) is None and between(few, 4.1, noise_of(few)) is None
    low, high = between(few, 2.0, noise_of(few))
    assert low < few.means[1] < high


def test_without_replicates_a_fall_has_no_curve_of_its_last_levels():
    """A power of three rows has one degree of freedom: its ends may be anything."""
    for seed in range(3):
        fit = answered(drawn(law(0.05, 0.95 / 7**2), replicates=1, seed=seed), predict=[24.0], samples=100)
        (predicted,) = fit.predictions
        assert fit.verdict == "retrograde"
        assert predicted.high < 2 * predicted.by_model["usl"].high


def asked_next(rows, *levels):
    questions = FitQuestions(predict=levels, next_level=True)
    return fit_rows(rows, Terms(), questions=questions, samples=200).predictions


@pytest.mark.monte_carlo
def test_the_level_that_halves_an_interval_does_so():
    curve = lambda n: n if n <= 6 else 6 + 0.55 * (n - 6)  # noqa: E731
    ratios = []
    for seed in range(6):
        rows = drawn(curve, seed=seed)
        (first,) = asked_next(rows, 24.0)
        if first.is_wide:
            assert 12 < first.halved_by <= 24 and first.halved_by == round(first.halved_by)
            (then,) = asked_next(rows + drawn(curve, [first.halved_by], seed=seed + 1000), 24.0)
            ratios.append((then.high - then.low) / (first.high - first.low))
    assert len(ratios) >= 3
    assert np.median(ratios) < 0.7


def test_a_narrow_interval_names_no_level():
    predictions = asked_next(drawn(lambda n: n, noise=0.001), 15.0, 24.0)
    assert [(p.is_wide, p.halved_by) for p in predictions] == [(False, None)] * 2


def test_the_levels_tried_are_whole_where_the_measured_ones_are():
    whole, parts = (table(drawn(lambda n: n, levels)) for levels in ((1, 2, 4), (0.5, 1.0)))
    assert level_places(whole, 8.0) == [5.0, 6.0, 7.0, 8.0]
    assert level_places(whole, 3.0) == [3.0]
    assert len(level_places(parts, 2.0)) == 12 and level_places(parts, 2.0)[-1] == 2.0
    assert level_places(whole, 0.5)[0] > level_places(whole, 0.5)[-1] == 0.5
