"""Least squares: closed forms, scipy's own answers, standard errors, and what must not depend on units or order."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.curve import fit_rows
from scale_sweep.analysis.fit.models import MODELS, PARAMETERS, rate_at, rates
from scale_sweep.analysis.fit.rows import make_rows
from scale_sweep.analysis.fit.squares import solve
from scale_sweep.analysis.fit.words import Terms

TRUTHS = {
    "linear": (1e6,),
    "affine": (3e5, 8e5),
    "amdahl": (1e6, 0.06),
    "usl": (1e6, 0.06, 0.004),
    "knee": (1e6, 5.4e6),
    "power": (1e6, 0.8),
}


CASES = {**TRUTHS, "affine": (5e5, 1e6), "amdahl": (1e6, 0.05), "usl": (1e6, 0.05, 0.01), "knee": (1e6, 5.3e6)}
KINDS = ("constant", "proportional")


def noisy(model, levels, noise, seed):
    n = np.array(levels, dtype=float)
    exact = rates(model, np.array([TRUTHS[model]]), n)[0]
    return n, exact * (1 + noise * np.random.default_rng(seed).standard_normal(len(n)))


def fitted(model, n, x, samples=50):
    return fit_model(model, make_rows(n, x), samples)


def test_linear_and_affine_have_their_closed_forms():
    n, x = noisy("affine", [1, 2, 2, 3, 5, 8, 8, 8], 0.05, 1)
    linear, affine = fitted("linear", n, x), fitted("affine", n, x)
    assert linear.value("gamma") == pytest.approx(np.sum(n * x) / np.sum(n**2), rel=1e-10)
    slope, intercept = np.polyfit(n, x, 1)
    assert (affine.value("slope"), affine.value("intercept")) == pytest.approx((slope, intercept), rel=1e-9)
    residuals = x - linear.value("gamma") * n
    assert linear.rss == pytest.approx(np.sum(residuals**2), rel=1e-9)
    assert linear.rse == pytest.approx(math.sqrt(np.sum(residuals**2) / 7), rel=1e-9)
    assert linear.std_errs["gamma"] == pytest.approx(linear.rse / math.sqrt(np.sum(n**2)), rel=1e-9)
    aicc = 8 * math.log(linear.rss / 8) + 2 * 2 + 2 * 2 * 3 / (8 - 3)
    assert linear.aicc == pytest.approx(aicc, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model", ["linear", "affine", "amdahl", "usl", "power"])
def test_scipy_finds_the_same_parameters_and_standard_errors(model, seed):
    n, x = noisy(model, [1, 1, 2, 3, 4, 6, 6, 8, 12, 16], 0.02, seed)
    ours = fitted(model, n, x)

    def curve(level, *values):
        return rates(model, np.array([values]), level)[0]

    assert len(ours.free) == len(PARAMETERS[model])
    exactly = {**dict.fromkeys(("xtol", "ftol", "gtol"), 1e-14), "maxfev": 20000, "method": "trf"}
    theirs, covariance = curve_fit(curve, n, x, p0=TRUTHS[model], x_scale=np.abs(TRUTHS[model]), **exactly)
    assert ours.values == pytest.approx(theirs, rel=1e-5)
    errors = [ours.std_errs[name] for name in ours.names]
    assert errors == pytest.approx(list(np.sqrt(np.diag(covariance))), rel=1e-3)


def test_a_published_data_set_has_its_published_coefficients():
    """SPEC SDM91 on a SPARCcenter 2000, as the R package `usl` fits it: https://github.com/smoeding/usl, README."""
    load, throughput = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    found = fitted("usl", np.array(load, dtype=float), np.array(throughput))
    assert found.value("alpha") == pytest.approx(0.0277285, abs=5e-8)
    assert found.value("beta") == pytest.approx(0.0001044, abs=5e-8)
    assert found.std_errs["alpha"] == pytest.approx(0.0091217, abs=5e-8)
    assert found.std_errs["beta"] == pytest.approx(0.0000199, abs=5e-8)


@pytest.mark.parametrize("seed", range(6))
def test_no_knee_on_a_fine_grid_is_better_than_the_exact_one(seed):
    n, x = noisy("knee", [1, 2, 3, 4, 5, 6, 7, 8, 8], 0.05, seed)
    ours = fitted("knee", n, x)
    gradient, at = np.meshgrid(np.linspace(0.8e6, 1.2e6, 161), np.linspace(1, 8, 281))
    every = rates("knee", np.column_stack([gradient.ravel(), (gradient * at).ravel()]), n)
    assert ours.rss <= np.min(np.sum((every - x) ** 2, axis=1)) * (1 + 1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_exact_points_give_back_the_exact_parameters_and_both_ways_of_a_rate_are_the_same_curve(model):
    n, x = noisy(model, range(1, 13), 0.0, 0)
    assert fitted(model, n, x).values == pytest.approx(TRUTHS[model], rel=1e-6)
    named = dict(zip(PARAMETERS[model], TRUTHS[model], strict=True))
    levels = np.array([0.5, 1, 3, 7.5])
    told = rates(model, np.array([TRUTHS[model]]), levels)[0]
    assert [rate_at(float(n), named) for n in levels] == pytest.approx(list(told))


def test_replicates_weigh_as_rows_of_their_own():
    n, x = noisy("amdahl", [1, 2, 3, 4, 4, 4, 8], 0.1, 3)
    means = np.array([x[n == level].mean() for level in np.unique(n)])
    counted = solve("amdahl", np.unique(n), np.array([1, 1, 1, 3, 1.0]), means[None] / 1e6)[0]
    assert fitted("amdahl", n, x).values == pytest.approx(counted * [1e6, 1], rel=1e-9)


data = st.lists(st.tuples(st.integers(1, 64), st.floats(1.0, 1e4, allow_nan=False)), min_size=3, max_size=14).filter(
    lambda rows: len({n for n, _ in rows}) >= 3
)


@given(data)
def test_contention_and_coherency_are_never_negative_and_a_richer_law_never_fits_worse(rows):
    n, x = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    found = {model: fitted(model, n, x, samples=20) for model in ("linear", "amdahl", "usl", "knee")}
    for one in (found["amdahl"], found["usl"]):
        assert (one.values[1:] >= 0).all() and (one.values[1:] <= 1).all()
        assert one.values[0] > 0
        assert not one.samples.size or (one.samples[:, 1:] >= 0).all()
    linear, amdahl, usl, knee = (one.rss for one in found.values())
    slack = 1e-6 * float(np.sum(x**2))
    assert usl <= amdahl + slack
    assert amdahl <= linear + slack
    assert knee <= linear + slack


@settings(max_examples=8)
@given(st.integers(0, 1000), st.floats(1e-6, 1e9))
def test_the_unit_of_the_rate_changes_nothing_but_the_unit(seed, unit):
    n, x = noisy("usl", [1, 2, 3, 4, 6, 8, 12], 0.03, seed)
    one = fit_rows(list(zip(n, x, strict=True)), Terms())
    other = fit_rows(list(zip(n, x * unit, strict=True)), Terms())
    assert (one.chosen, one.verdict, one.supported) == (other.chosen, other.verdict, other.supported)
    for a, b in zip(one.models, other.models, strict=True):
        for name, estimate in a.parameters.items():
            scale = 1 if name in ("alpha", "beta", "exponent") else unit
            assert b.parameters[name].value == pytest.approx(scale * estimate.value, rel=1e-4, abs=1e-7 * scale)


@settings(max_examples=8)
@given(st.permutations(range(9)))
def test_the_order_of_the_rows_changes_nothing(order):
    n, x = noisy("amdahl", [1, 1, 2, 2, 4, 4, 8, 8, 8], 0.03, 4)
    rows = list(zip(n, x, strict=True))
    assert fit_rows(rows, Terms()) == fit_rows([rows[i] for i in order], Terms())


def coverage(model, kind):
    """How often the 95 % interval of each parameter holds it. kind: of the noise."""
    truth, levels = np.array(CASES[model]), np.repeat(np.arange(1.0, 11), 3)
    exact = rates(model, truth[None], levels)[0]
    draws, inside = np.random.default_rng(11), []
    for _ in range(500):
        chance = 0.03 * draws.standard_normal(len(levels))
        measured = exact * (1 + chance) if kind == "proportional" else exact + exact.mean() * chance
        found = fitted(model, levels, measured, samples=200)
        low, high = np.array([found.interval(name) for name in PARAMETERS[model]]).T
        inside.append((low <= truth) & (truth <= high))
    return np.mean(inside, axis=0)


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        *itertools.product(("linear", "amdahl", "usl"), KINDS),
        ("knee", KINDS[0]),
        ("affine", KINDS[0]),
        ("power", KINDS[0]),
    ],
)
def test_the_interval_holds_the_truth_about_as_often_as_it_says(model, kind):
    found = coverage(model, kind)
    assert ((found >= 0.90) & (found <= 0.98)).all(), found


def test_the_bootstrap_repeats_exactly_and_without_a_degree_of_freedom_there_is_no_interval():
    n, x = noisy("amdahl", range(1, 9), 0.01, 1)
    assert np.array_equal(fitted("usl", n, x).samples, fitted("usl", n, x).samples)
    found = fitted("usl", np.array([1.0, 2, 3]), np.array([1.0, 1.9, 2.5]))
    assert found.rse is None or len(found.free) < 3
    exact = fitted("affine", np.array([1.0, 2]), np.array([1.0, 1.9]))
    assert exact.interval("slope") == (None, None)
    assert exact.std_errs == {}
