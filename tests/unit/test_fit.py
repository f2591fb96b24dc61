"""The fit: known curves are found again within their errors, and what the points cannot tell is not told."""

import csv
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.fit.curve import value_at
from scale_sweep.analysis.fit.models import rate_at
from scale_sweep.model.measured import Measurement, TrialResult, VerdictKind
from scale_sweep.model.planned import Confound
from scale_sweep.report.curve import drawn_model
from tests.unit.factories import make_result
from tests.unit.observing import fit_curve

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


def synthetic(levels, replicates, noise, seed, **parameters) -> list[TrialResult]:
    chance = random.Random(seed)
    return [
        make_result(float(n), rate_at(float(n), parameters) * math.exp(chance.gauss(0, noise)), r)
        for n in levels
        for r in range(1, replicates + 1)
    ]


def model(fit, name):
    return next(m for m in fit.models if m.model == name)


@pytest.mark.monte_carlo
def test_band_covers_the_true_curve():
    covered = 0
    for seed in range(40):
        fit = model(fit_curve(synthetic(range(1, 9), 3, 0.03, seed, gamma=1e6)), "linear")
        level, low, high = fit.band[-1]
        covered += low <= 1e6 * level <= high
    assert 33 <= covered <= 40


def test_superlinear_points_never_get_a_negative_contention(wording):
    fit = fit_curve([make_result(float(n), 1e6 * n**1.2, r) for n in range(1, 7) for r in (1, 2)])
    usl = model(fit, "usl")
    assert (fit.chosen, fit.verdict) == ("power", "superlinear")
    alpha, beta = (usl.parameters[name] for name in ("alpha", "beta"))
    assert (alpha.value, beta.value, alpha.std_err) == (0, 0, None)
    assert set(usl.on_bound) == {"alpha", "beta"}
    rates = {1: 4e5, 2: 1e6, 3: 1.5e6, 4: 2e6}
    noisy = fit_curve(
        [make_result(float(n), x * f, i) for n, x in rates.items() for i, f in enumerate((0.99, 1, 1.01))]
    )
    assert noisy.sentence.startswith("Superlinear")
    points = {1: 1e6, 2: 2.3e6, 3: 3.1e6, 4: 4.1e6, 5: 5.0e6, 6: 6.3e6}
    once = fit_curve([make_result(float(n), x) for n, x in points.items()])
    wording(*(c for one in (fit, noisy, once) for c in one.cautions if "superlinear" in c or "negative" in c))


def test_the_articles_table_with_its_confound():
    confound = Confound(knob="vgroups", values=("4", "12"), sentence="vgroups moves with the cores (4 at 1, 12 at 5)")
    with (REFERENCE / "tdengine-cpu.csv").open() as file:
        article = [make_result(float(r["cores"]), float(r["rows_per_s"])) for r in csv.DictReader(file)]
    fit = fit_curve(article, confounds=[confound])
    assert fit.chosen == "linear"
    assert model(fit, "linear").parameters["gamma"].value == pytest.approx(479_106, rel=1e-4)
    assert "vgroups" in fit.sentence and fit.cautions[0] == confound.sentence
    assert fit.points[-1].efficiency == pytest.approx(5_730_000 / 380_000 / 12)


def test_a_peak_is_named_within_the_levels_alone():
    fit = fit_curve(synthetic(range(1, 16), 3, 0.01, 3, gamma=1e6, alpha=0.02, beta=0.01))
    assert fit.peak_level == pytest.approx(math.sqrt(0.98 / 0.01), rel=0.05)
    assert not fit.peak_extrapolated
    beyond = fit_curve(synthetic(range(1, 8), 3, 0.005, 3, gamma=1e6, alpha=0.02, beta=0.008))
    assert beyond.peak is None and beyond.maximum is None and "up to 7 cores" in beyond.sentence


@pytest.mark.monte_carlo
def test_no_peak_where_its_error_swallows_it():
    for seed in range(20):
        fit = fit_curve(synthetic(range(1, 6), 2, 0.03, seed, gamma=1e6, alpha=0.02, beta=0.0005))
        assert fit.peak_level is None or fit.peak_std_err < fit.peak_level


def test_a_hard_limit_is_named_and_no_peak_claimed():
    chance = random.Random(7)
    rates = {n: [1e6 * min(n, 4) * math.exp(chance.gauss(0, 0.01)) for _ in range(2)] for n in range(1, 9)}
    fit = fit_curve([make_result(float(n), x, r) for n, each in rates.items() for r, x in enumerate(each)])
    assert (fit.verdict, fit.peak_level) == ("knee", None)
    assert fit.knee_level == pytest.approx(4, abs=0.2)
    assert "limit at 4.0" in fit.sentence and " to 4.0" in fit.sentence
    assert fit_curve(synthetic(range(1, 9), 3, 0.02, 1, gamma=1e6, alpha=0.05)).knee_level is None


def test_two_levels_give_a_speedup_and_no_model():
    fit = fit_curve(synthetic((1, 2), 3, 0.02, 1, gamma=5e5))
    assert fit.chosen is None and drawn_model(fit)
    assert fit.sentence.startswith("1 → 2 cores: speedup ") and "rows/s per core" in fit.sentence
    assert all(m.aicc is None for m in fit.models if m.model != "linear")
    bent = fit_curve(synthetic((1, 2), 3, 0.01, 1, gamma=5e5, alpha=0.3))
    assert "a speedup of 2, is outside" in bent.sentence and "rows/s per core" not in bent.sentence
    assert drawn_model(bent) is None
    one = fit_curve(synthetic((1,), 3, 0.02, 1, gamma=5e5))
    assert (one.chosen, one.points[0].speedup) == (None, 1)


def test_three_levels_once_are_too_few_for_aicc_and_with_replicates_choose_but_not_usl(wording):
    once = fit_curve(synthetic((1, 2, 3), 1, 0.02, 1, gamma=5e5))
    assert once.chosen is None
    assert all(m.aicc is None for m in once.models)
    fit = fit_curve(synthetic((1, 2, 3), 4, 0.01, 1, gamma=5e5))
    assert fit.chosen in ("linear", "amdahl")
    assert model(fit, "usl").aicc is None
    wording(*(c for one in (once, fit) for c in one.cautions if "per level" in c or "USL" in c))


def test_no_valid_trial(wording):
    fit = fit_curve([make_result(1.0, 1e6, 1, VerdictKind.GENERATOR_BOUND), make_result(2.0, None, 1)])
    assert (fit.points, fit.models, fit.chosen) == ((), (), None)
    wording(fit.sentence, fit_curve([]).sentence)


@pytest.mark.parametrize("rate", [None, math.nan, math.inf, 0.0, -1.0])
def test_unusable_rates_are_left_out_and_counted(rate):
    fit = fit_curve([*synthetic((1, 2, 3), 3, 0.02, 1, gamma=1e6), make_result(4.0, rate)])
    assert [p.level for p in fit.points] == [1, 2, 3]
    assert "1 of 10 trials is not fitted: 1 VALID without a rate" in fit.cautions
    assert any("at 4 cores" in c for c in fit.cautions)


def test_only_valid_trials_are_fitted():
    good = synthetic(range(1, 7), 3, 0.02, 5, gamma=1e6, alpha=0.04)
    bad = [make_result(4.0, 1.0, 9, VerdictKind.UNSTEADY)]
    assert fit_curve([*good, *bad]).models == fit_curve(good).models


def test_the_rate_is_a_parameter():
    results = [
        replace(r, measurement=Measurement(rows_per_s=1.0, durable_rows_per_s=5e5 * r.trial.level))
        for r in synthetic((1, 2, 3), 2, 0, 1, gamma=1.0)
    ]
    by_name = fit_curve(results, rate="durable_rows_per_s")
    by_function = fit_curve(results, rate=lambda r: r.measurement.durable_rows_per_s)
    assert by_name.points == by_function.points
    assert by_name.points[0].rate_mean == 5e5
    with pytest.raises(ValueError, match="not a figure"):
        fit_curve(results, rate="rows_per_second")


def test_a_perfect_line_is_linear_and_has_a_value_at_a_level():
    fit = fit_curve([make_result(float(n), 1e6 * n) for n in range(1, 9)])
    assert fit.chosen == "linear" and "1 M rows/s" in fit.sentence
    assert value_at(fit, 3) == pytest.approx(3e6)
    assert value_at(fit, 0) is None
    assert value_at(fit_curve([]), 3) is None
    disks = fit_curve(synthetic((1, 2, 3), 3, 0.01, 1, gamma=1e3), axis="disks")
    assert disks.axis == "disks" and "per disk" in disks.sentence
