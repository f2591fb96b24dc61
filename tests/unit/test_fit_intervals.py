"""The 95 % intervals hold the truth about as often as they say, for constant and for proportional noise."""

import numpy as np
import pytest

from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.models import PARAMETERS, rates
from scale_sweep.analysis.fit.rows import make_rows

DRAWS = 500
SAMPLES = 200  # of the bootstrap, for the sake of time; the ends of the interval are a little less sure than with 2,000
CASES = {
    "linear": (1e6,),
    "affine": (5e5, 1e6),
    "amdahl": (1e6, 0.05),
    "usl": (1e6, 0.05, 0.01),
    "knee": (1e6, 5.3e6),
    "power": (1e6, 0.8),
}


def coverage(model, truth, kind):
    levels = np.repeat(np.arange(1.0, 11), 3)
    exact = rates(model, np.array([truth]), levels)[0]
    inside = np.zeros(len(truth))
    draws = np.random.default_rng(11)
    for _ in range(DRAWS):
        chance = draws.standard_normal(len(levels))
        measured = exact * (1 + 0.03 * chance) if kind == "proportional" else exact + 0.03 * exact.mean() * chance
        found = fit_model(model, make_rows(levels, measured), SAMPLES)
        for i, name in enumerate(PARAMETERS[model]):
            low, high = found.interval(name)
            inside[i] += low <= truth[i] <= high
    return inside / DRAWS


@pytest.mark.monte_carlo
@pytest.mark.parametrize("kind", ["constant", "proportional"])
@pytest.mark.parametrize("model", ["linear", "amdahl", "usl"])
def test_coverage_of_the_interval(model, kind):
    found = coverage(model, CASES[model], kind)
    assert ((found >= 0.90) & (found <= 0.98)).all(), found


@pytest.mark.monte_carlo
@pytest.mark.parametrize("model", ["knee", "affine", "power"])
def test_coverage_of_the_other_models(model):
    found = coverage(model, CASES[model], "constant")
    assert ((found >= 0.90) & (found <= 0.98)).all(), found


def test_the_bootstrap_repeats_exactly():
    levels = np.arange(1.0, 9)
    rows = make_rows(levels, 1e6 * levels / (1 + 0.05 * (levels - 1)) * (1 + 0.01 * np.sin(levels)))
    assert np.array_equal(fit_model("usl", rows).samples, fit_model("usl", rows).samples)


def test_no_degree_of_freedom_no_interval():
    rows = make_rows(np.array([1.0, 2, 3]), np.array([1.0, 1.9, 2.5]))
    found = fit_model("usl", rows)
    assert found.rse is None or len(found.free) < 3
    exact = fit_model("affine", make_rows(np.array([1.0, 2]), np.array([1.0, 1.9])))
    assert exact.interval("slope") == (None, None)
    assert exact.std_errs == {}
