"""Thousands of levels: what is repeated uses fewer of them, and says the same."""

import numpy as np
import pytest

from scale_sweep.analysis.fit import Terms, fit_rows, rows
from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.rows import MANY_LEVELS, make_rows
from scale_sweep.analysis.fit.shapes import bends, falls

MANY = 10_000


def drawn(curve, levels, noise=0.03, seed=1):
    chance = np.random.default_rng(seed)
    return make_rows(levels, curve(levels) * np.exp(noise * chance.standard_normal(len(levels))))


def usl(n):
    return 1000 * n / (1 + 0.002 * (n - 1) + 4e-6 * n * (n - 1))


@pytest.mark.parametrize("levels", [np.arange(1.0, MANY + 1), np.geomspace(0.01, 1e9, MANY), 1e6 + np.arange(1.0, 501)])
def test_groups_hold_every_row_and_are_few(levels):
    full = drawn(lambda n: n, levels)
    few = full.condensed
    assert MANY_LEVELS / 4 < len(few.distinct) <= MANY_LEVELS
    assert few.weights.sum() == len(few.rates) == len(levels)
    assert np.all(np.diff(few.distinct) > 0)
    assert few.distinct @ few.weights == pytest.approx(levels.sum())
    assert few.unit_level == full.unit_level
    small = drawn(usl, np.repeat(np.arange(1.0, MANY_LEVELS + 1), 2))
    assert small.condensed is small


def test_the_noise_within_groups_is_that_of_the_rows():
    few = drawn(lambda n: 1000 + 0 * n + 5 * n, np.arange(1.0, MANY + 1), noise=0.0).condensed
    assert few.rates == pytest.approx(few.means[few.of_level], rel=1e-9)
    few = drawn(usl, np.arange(1.0, MANY + 1)).condensed
    spread = np.sqrt(np.mean((few.rates / few.means[few.of_level] - 1) ** 2))
    assert spread == pytest.approx(0.03, rel=0.05)


@pytest.mark.parametrize("model", ["amdahl", "usl", "knee", "power"])
def test_intervals_are_those_of_all_levels(model, monkeypatch):
    full = drawn(usl, np.arange(1.0, 401))
    found = fit_model(model, full, 500)
    monkeypatch.setattr(rows, "MANY_LEVELS", MANY)
    exact = fit_model(model, drawn(usl, np.arange(1.0, 401)), 500)
    assert np.array_equal(found.values, exact.values)
    for name in found.names:
        (low, high), (exact_low, exact_high) = found.interval(name), exact.interval(name)
        assert high - low == pytest.approx(exact_high - exact_low, rel=0.2)
        assert abs(low - exact_low) < 0.2 * (exact_high - exact_low)


def test_shapes_are_told_at_thousands_of_levels():
    n = np.arange(1.0, MANY + 1)
    assert falls(drawn(lambda n: 1000 * n / (1 + 1e-4 * (n - 1) + 4e-8 * n * (n - 1)), n))
    assert not falls(drawn(lambda n: np.minimum(n, 5000), n))
    assert bends(drawn(lambda n: np.minimum(n, 5000), n))
    assert not bends(drawn(lambda n: n / (1 + 2e-4 * (n - 1)), n))


def test_thousands_of_levels_have_a_verdict_and_a_figure_for_each():
    n = np.arange(1.0, MANY + 1)
    table = drawn(lambda n: 1000 * n / (1 + 3e-4 * (n - 1)), n)
    found = fit_rows(list(zip(table.levels, table.rates, strict=True)), Terms(), samples=100)
    assert (found.verdict, found.chosen, len(found.points)) == ("contended", "amdahl", MANY)
    alpha = next(m for m in found.models if m.model == "amdahl").parameters["alpha"]
    assert alpha.low < 3e-4 < alpha.high
