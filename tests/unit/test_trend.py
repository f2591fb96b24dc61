"""Drift by regression on the order of the trials: found when it is there, taken out, its degree of freedom counted."""

import math
import random
import statistics
from dataclasses import replace

import pytest

from bench.method_drift import COURSES, covered, former, run_of
from bench.method_drift import planned as at_rest
from scale_sweep.analysis.fit.summaries import pooled_noise, usable
from scale_sweep.analysis.noise.drift_test import line_of, trend_of, without_drift
from scale_sweep.analysis.noise.spread import intervals, noise_report, rates_of
from scale_sweep.model.observed import Observation
from scale_sweep.report.noise import course_sentences, noise_sentences
from tests.unit.synthetic_run import synthetic_run

NOISE = 0.02


def runs(drift, count, levels=8, replicates=3, check=True, noise=NOISE):
    chance = random.Random(f"{levels}/{replicates}/{drift}")
    return [run_of(levels, replicates, check, drift, noise, chance) for _ in range(count)]


def share(found):
    return sum(found) / len(found)


@pytest.mark.parametrize(("drift", "least", "most"), [(0.0, 0.005, 0.06), (0.05, 0.70, 1.0), (0.10, 0.98, 1.0)])
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
    assert line.slope.value == pytest.approx(slope)
    assert line.squares == pytest.approx(sum((y - slope * x) ** 2 for x, y in centred))
    assert line.degrees == 25 - 8 - 1


def test_what_is_found_is_taken_out_of_points_noise_and_fits():
    observed = runs(0.20, 1)[0]
    rates, raw = rates_of(observed), rates_of([replace(o, order=0) for o in observed])
    assert raw.std > 2 * rates.std and rates.std < 1.6 * NOISE
    assert rates.degrees == 16, "24 trials and the drift check, less 8 means and a slope"
    middle = math.log1p(-0.2) / 2
    assert all(abs(math.log(i.mean / (1e5 * i.level)) - middle) < 3 * NOISE for i in intervals(rates))
    observed = runs(0.20, 1, check=False)[0]
    spread = pooled_noise(usable(without_drift(observed)))
    assert spread.std == pytest.approx(rates_of(observed).std, rel=1e-6)
    assert spread.degrees == 16
    assert [o.mark for o in without_drift(observed)] == [o.mark for o in observed]
    quiet = next(r for r in runs(0.0, 20) if not trend_of(r).is_drifting)
    assert without_drift(quiet) == tuple(quiet)
    assert rates_of(quiet).leverage == {}


def test_too_few_trials_say_nothing_and_those_that_do_not_count_do_not_drift():
    single = runs(0.1, 1, levels=5, replicates=1)[0]
    report = noise_report(single)
    assert report.trend is None and report.drift.ratio.low is None
    assert trend_of([Observation(level=1, value=5.0, order=at) for at in range(3)]) is None
    assert trend_of([Observation(level=1, value=5.0) for _ in range(9)]) is None, "no order, no drift"
    observed = runs(0.0, 1)[0]
    spoilt = [replace(o, value=1.0, mark="UNSTEADY") if o.order > 20 else o for o in observed]
    assert trend_of(spoilt).ratio.value == pytest.approx(1.0, abs=0.05)
    assert without_drift(spoilt)[21:] == tuple(spoilt[21:])


@pytest.mark.parametrize("drift", [0.0, 0.10])
def test_intervals_hold_with_and_without_drift(drift):
    assert 0.92 <= statistics.mean(covered(r, drift) for r in runs(drift, 200, levels=4)) <= 0.995


def test_the_report_says_what_was_found_and_what_could_have_been(wording):
    quiet = synthetic_run(replicates=4)
    falling = [
        replace(r, measurement=replace(r.measurement, rows_per_s=r.measurement.rows_per_s * 0.98**at))
        for at, r in enumerate(quiet.results)
    ]
    found = (noise_sentences(quiet), noise_sentences(replace(quiet, results=tuple(falling))))
    wording(*(sentence for sentences in found for sentence in sentences if "drift" in sentence))


def of_course(what, levels, replicates, count=200):
    """Trends of runs of a course of bench/method_drift.py."""
    course = next(c for c in COURSES if c.what == what)
    chance, made = random.Random(f"{what}/{levels}"), []
    for _ in range(count):
        observed = at_rest(levels, replicates, True, chance)
        logs = course.logs(len(observed), NOISE, chance)
        run = [replace(one, value=one.value * math.exp(y)) for one, y in zip(observed, logs, strict=True)]
        made.append((run, trend_of(run)))
    return made


@pytest.mark.parametrize(
    "what", ["φ = 0.6 between trials", "first trial 5 % slower", "first trial 10 % slower", "noise with heavy tails"]
)
def test_what_is_no_drift_is_seldom_called_one(what):
    made = of_course(what, 8, 3)
    assert share([trend.is_drifting for _, trend in made]) <= 0.10
    if what.startswith("φ"):
        assert share([former(run) for run, _ in made]) >= 0.15, "what independent errors would say"


def test_a_bend_is_found_and_taken_out():
    made = of_course("U: ends 20 % above the middle (± 10 %)", 8, 3, 40)
    assert share([trend.bend_percent is not None for _, trend in made]) >= 0.95
    assert statistics.mean(trend.bend_percent for _, trend in made if trend.bend_percent) == pytest.approx(20, abs=3)
    run = next(run for run, trend in made if trend.bend_percent)
    assert rates_of(run).std < 1.6 * NOISE
    assert rates_of(run).degrees <= 15, "a term more than a drift"
    spread = pooled_noise(usable(without_drift(run)))
    assert spread.degrees == 16 and spread.std < 1.7 * NOISE


def test_a_cold_first_trial_is_named_and_is_no_drift(wording):
    made = of_course("first trial 10 % slower", 8, 3, 60)
    assert share([trend.first_percent is not None for _, trend in made]) >= 0.65
    named = [trend.first_percent for _, trend in made if trend.first_percent is not None]
    assert statistics.mean(named) == pytest.approx(-10, abs=2)
    trend = replace(made[0][1], first_percent=-10.2, bend_percent=None)
    wording(course_sentences(trend, 8)[-1], course_sentences(replace(trend, bend_percent=9.1), 8)[0])
