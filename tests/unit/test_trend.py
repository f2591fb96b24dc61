"""Drift by regression on the order of the trials: found when it is there, taken out, its degree of freedom counted."""

import math
import random
import statistics
from dataclasses import replace

import pytest

from bench.method_drift import covered, run_of
from scale_sweep.analysis.fit.summaries import noise_floor, usable
from scale_sweep.analysis.noise import intervals, line_of, noise_report, rates_of, trend_of, without_drift
from scale_sweep.model import Observation
from scale_sweep.report.noise import noise_sentences
from tests.unit.synthetic_run import synthetic_run

NOISE = 0.02


def runs(drift, count, levels=8, replicates=3, check=True, noise=NOISE):
    chance = random.Random(f"{levels}/{replicates}/{drift}")
    return [run_of(levels, replicates, check, drift, noise, chance) for _ in range(count)]


def share(found):
    return sum(found) / len(found)


@pytest.mark.parametrize(("drift", "least", "most"), [(0.0, 0.02, 0.08), (0.05, 0.85, 1.0), (0.10, 1.0, 1.0)])
def test_drift_is_found_as_often_as_the_method_says(drift, least, most):
    assert least <= share([trend_of(r).is_drifting for r in runs(drift, 400)]) <= most


def test_the_regression_is_that_of_a_textbook():
    observed = runs(0.05, 1)[0]
    line = line_of(observed)
    groups = {}
    for one in observed:
        groups.setdefault(one.level, []).append((one.order, math.log(one.value)))
    centred = [
        (x - statistics.mean(a for a, _ in g), y - statistics.mean(b for _, b in g))
        for g in groups.values()
        for x, y in g
    ]
    slope = statistics.linear_regression(*zip(*centred, strict=True), proportional=True).slope
    assert line.slope == pytest.approx(slope)
    assert line.squares == pytest.approx(sum((y - slope * x) ** 2 for x, y in centred))
    assert line.degrees == 25 - 8 - 1


def test_what_is_found_is_taken_out_of_points_and_noise():
    observed = runs(0.20, 1)[0]
    rates, raw = rates_of(observed), rates_of([replace(o, order=0) for o in observed])
    assert raw.std > 2 * rates.std and rates.std < 1.6 * NOISE
    assert rates.degrees == 16, "24 trials and the drift check, less 8 means and a slope"
    middle = math.log1p(-0.2) / 2
    assert all(abs(math.log(i.mean / (1e5 * i.level)) - middle) < 3 * NOISE for i in intervals(rates))


def test_without_a_finding_the_values_stay_as_measured():
    quiet = next(r for r in runs(0.0, 20) if not trend_of(r).is_drifting)
    assert without_drift(quiet) == tuple(quiet)
    assert rates_of(quiet).leverage == {}


def test_a_fit_is_given_values_without_drift_whose_spread_counts_the_slope():
    observed = runs(0.20, 1, check=False)[0]
    given = usable(without_drift(observed))
    assert noise_floor(given).std == pytest.approx(rates_of(observed).std, rel=1e-6)
    assert noise_floor(given).degrees == 16
    assert [o.mark for o in without_drift(observed)] == [o.mark for o in observed]


@pytest.mark.parametrize("drift", [0.0, 0.10])
def test_intervals_hold_with_and_without_drift(drift):
    assert 0.92 <= statistics.mean(covered(r, drift) for r in runs(drift, 200, levels=4)) <= 0.995


def test_too_few_trials_say_nothing_and_the_repeated_one_is_left():
    single = runs(0.1, 1, levels=5, replicates=1)[0]
    report = noise_report(single)
    assert report.trend is None and report.drift.ratio.low is None
    assert trend_of([Observation(level=1, value=5.0, order=at) for at in range(3)]) is None
    assert trend_of([Observation(level=1, value=5.0) for _ in range(9)]) is None, "no order, no drift"


def test_trials_that_do_not_count_do_not_drift():
    observed = runs(0.0, 1)[0]
    spoilt = [replace(o, value=1.0, mark="UNSTEADY") if o.order > 20 else o for o in observed]
    assert trend_of(spoilt).ratio.value == pytest.approx(1.0, abs=0.05)
    assert without_drift(spoilt)[21:] == tuple(spoilt[21:])


def test_the_report_says_what_was_found_and_what_could_have_been():
    quiet = synthetic_run(replicates=4)
    assert any("no drift was found" in s and "four times in five" in s for s in noise_sentences(quiet))
    falling = [
        replace(r, measurement=replace(r.measurement, rows_per_s=r.measurement.rows_per_s * 0.98**at))
        for at, r in enumerate(quiet.results)
    ]
    assert any("the rate drifted by -2" in s for s in noise_sentences(replace(quiet, results=tuple(falling))))
