"""The formulas that intervals and tests share, against simulation, scipy and each other: replicates against the errors of their
windows, and the parts of the noise, on seconds with known variances."""

import math
import random
import statistics
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench.method_replicates import Truth, flagged, simulated, split
from bench.method_valid import LONG, QUICK, SHAPES, Counts, run
from scale_sweep.analysis import confidence
from scale_sweep.analysis.noise.agreement import agreement_of
from scale_sweep.analysis.noise.parts import parts_of, pooled_parts
from scale_sweep.analysis.noise.spread import noise_report, replicates_for_drift, with_intervals
from scale_sweep.analysis.observations import window_noise
from scale_sweep.judge.verdict.thresholds import STEADY_DRIFT_PERCENT
from scale_sweep.model.fitted import PointSummary
from scale_sweep.model.measured import Measurement
from scale_sweep.model.observed import NoisePart, NoiseParts, Observation, Ratio, Trend, WindowNoise
from scale_sweep.report.noise import trend_sentence

CALM = WindowNoise(seconds=40, spread=0.03, rest=0.03, correlation=0.0, error=0.03 / math.sqrt(40), halves=0.0)


def replicates(level, logs, window=CALM):
    return [
        Observation(level=level, value=1e5 * math.exp(log), order=at, block=at, window=window)
        for at, log in enumerate(logs)
    ]


def flagged_of(runs, seed, **truth):
    return flagged(Truth(**truth), runs, random.Random(seed))


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("levels", "blocks", "seconds", "phis", "most"),
    [(4, 3, 40, (0.0, 0.5, 0.8), 0.03), (1, 3, 60, (0.8,), 0.03), (2, 5, 8, (0.0,), 0.03), (2, 5, 8, (0.5,), 0.05)],
)
def test_windows_that_explain_the_replicates_raise_no_alarm(levels, blocks, seconds, phis, most):
    for phi in phis:
        truth = {"levels": levels, "blocks": blocks, "seconds": seconds, "phi": phi, "spread": 0.08}
        assert flagged_of(250, 5, **truth) <= most


@pytest.mark.monte_carlo
def test_a_server_start_that_shifts_the_rate_is_found_and_sessions_are_a_part_of_their_own():
    assert flagged_of(60, 6, start=0.05) >= 0.97
    assert flagged_of(60, 6, start=0.05, levels=1, blocks=5) >= 0.85
    parts, right = split(Truth(sessions=5, start=0.02, session=0.05), 60, random.Random(12))
    assert parts["session"] ** 2 == pytest.approx(0.05**2, rel=0.2)
    assert right > 0.8


def calm(*logs):
    return [one for level in (1.0, 2.0, 4.0) for one in replicates(level, logs)]


def test_the_level_that_disagrees_is_named_and_no_other():
    found = agreement_of([*calm(0.004, -0.003, 0.002), *replicates(8.0, (0.10, -0.12, 0.03))])
    assert [one.level for one in found.apart] == [8.0] and found.disagrees_at(8.0)
    assert found.apart[0].windows_percent == pytest.approx(3 / math.sqrt(39), rel=0.01)
    alone = agreement_of(calm(0.004, -0.003, 0.002))
    assert not alone.apart and not alone.disagrees
    exact = replace(CALM, spread=0.001, rest=0.001, error=0.0002)
    small = agreement_of(replicates(1.0, (0.010, -0.010, 0.001), exact))
    assert small.p_value < 1e-6 and not small.disagrees, "a spread that does not matter"
    slow = replace(CALM, seconds=30, correlation=0.95, error=0.05)  # less than one independent second
    for logs, window in (((0.1,), CALM), ((0.1, 0.2), None), ((0.1, -0.1), slow)):
        assert agreement_of(replicates(1.0, logs, window)) is None, "what cannot be tested is not"


@pytest.mark.parametrize(
    ("logs", "degree", "least", "most"),
    [((0.10, -0.12), 12.706, 0.999, 1.001), ((0.10, -0.12, 0.03), 4.302, 1.0, math.inf)],
)
def test_replicates_that_disagree_have_the_interval_of_their_own_spread(logs, degree, least, most):
    wide = [*calm(*(0.004, -0.003, 0.002)[: len(logs)]), *replicates(8.0, logs)]
    first, *_, level = noise_report(wide).levels
    assert level.disagrees and not first.disagrees
    own = degree * statistics.stdev(logs) / math.sqrt(len(logs))
    assert least * own <= math.log1p(level.half_percent / 100) <= most * own
    unknown = noise_report([replace(one, window=None) for one in wide]).levels[-1]
    assert (unknown.half_percent < level.half_percent) is (len(logs) == 2) and not unknown.disagrees


TRUTHS = [{"start": 0.04}, {"start": 0.02, "block": 0.05}, {"half": 0.05, "start": 0.02}, {"spread": 0.10, "phi": 0.3}]
TRUTHS += [{"start": 0.03, "block": 0.02, "half": 0.02, "spread": 0.06}]


@pytest.mark.monte_carlo
@pytest.mark.parametrize("truth", TRUTHS)
def test_each_part_of_the_noise_is_known_without_bias(truth):
    """The mean of the estimated variances over many runs, and not the variance of one."""
    expected = Truth(levels=6, blocks=6, **truth)
    parts, right = split(expected, 120, random.Random(11))
    whole = sum(value**2 for value in expected.parts.values())
    for name, std in expected.parts.items():
        assert parts[name] ** 2 == pytest.approx(std**2, rel=0.2, abs=0.15 * whole), name
    assert right > 0.6


@pytest.mark.parametrize(
    ("truth", "parts"),
    [
        (Truth(levels=1, blocks=5), ["seconds", "window", "start or block"]),
        (Truth(levels=2, blocks=5, seconds=7), ["seconds", "start", "block"]),  # no drift within a short window
        (Truth(levels=2, blocks=1), None),
    ],
)
def test_what_the_trials_cannot_tell_apart_is_one_part(truth, parts):
    found = parts_of(simulated(truth, random.Random(1)))
    assert found is parts or [part.name for part in found.parts] == parts
    assert parts_of([]) is pooled_parts([]) is None


def test_parts_of_several_runs_are_pooled_at_the_windows_of_the_first():
    def parts(degrees, window_s, **percents):
        named = tuple(NoisePart(name=name, percent=p) for name, p in percents.items())
        return NoiseParts(parts=named, trials=degrees + 2, degrees=degrees, window_s=window_s)

    both = pooled_parts([parts(6, 40.0, seconds=1.0, start=3.0), parts(2, 10.0, seconds=2.0, start=1.0)])
    assert {p.name: p.percent**2 for p in both.parts} == pytest.approx({"seconds": 1.0, "start": 7.0})
    assert (both.degrees, both.window_s, both.largest.name) == (8, 40.0, "start")
    assert both.share(both.largest) == pytest.approx(7 / 8)
    joined = pooled_parts([parts(4, 40.0, start=3.0, block=4.0), parts(4, 40.0, **{"start or block": 1.0})])
    assert {p.name: p.percent**2 for p in joined.parts} == pytest.approx({"start or block": 13.0})


def test_the_noise_of_a_window_is_read_from_its_figures():
    def noise(window_s=40.0, **figures):
        return window_noise(Measurement(window_s=window_s, **figures))

    figures = {"rate_cv_percent": 5.0, "rate_drift_error_percent": 2.7, "rate_correlation": 0.3}
    window = noise(rate_error_percent=1.1, rate_halves_percent=-2.0, **figures)
    assert (window.seconds, window.spread, window.halves) == (40, 0.05, -0.02)
    assert window.error == pytest.approx(0.011)
    assert window.rest == pytest.approx(0.027 * math.sqrt(40 * (40**2 - 1) / 12) / 39)
    assert noise() is noise(3.0, **figures) is noise(**figures | {"rate_cv_percent": 1e300}) is None


@pytest.mark.parametrize(("name", "how"), [("AR(1) φ = .5, 5 %", LONG), ("shift of 5 % per server start", QUICK)])
def test_the_simulation_of_method_valid_counts_what_it_says(name, how):
    counts, chance = Counts(), random.Random(3)
    for _ in range(3):
        run(SHAPES[name], how, chance, counts)
    assert counts.trials == 3 * how.levels * how.blocks
    assert counts.trials >= counts.valid >= counts.wrong >= counts.agreeing_wrong
    assert counts.levels >= counts.held and counts.levels >= counts.disagreeing
    valid, wrong = counts.valid / counts.trials, counts.wrong / counts.valid
    assert (valid > 0.8 and wrong == 0) if how is LONG else (wrong > 0.1 and counts.disagreeing > 0)


def half(count, own):
    return confidence.half_of_mean(count, own, 0.02, 10)


def test_the_formulas_are_those_of_scipy_and_of_the_verdict():
    assert confidence.SOUGHT_PERCENT == STEADY_DRIFT_PERCENT
    assert confidence.student(4) == pytest.approx(stats.t.ppf(0.975, 4))
    assert confidence.student(4, 0.8) == pytest.approx(stats.t.ppf(0.8, 4))
    assert half(3, 0.01) == pytest.approx(stats.t.ppf(0.975, 10) * 0.02 / math.sqrt(3))
    assert half(3, 0.2) == pytest.approx(stats.t.ppf(0.975, 2) * 0.2 / math.sqrt(3)), "noisier, from three trials on"
    assert half(2, 0.2) == half(2, 0.0)
    assert half(1, 0.0) == pytest.approx(stats.t.ppf(0.975, 10) * 0.02)
    assert confidence.half_of_mean(4, 0.0, 0.02, 10, 0.25) == pytest.approx(math.sqrt(2) * half(4, 0.0))


def run_of(levels, replicates, chance, spread, drift=0.0):
    """Observations in blocks, each in a random order. drift: of ln(value), from the first trial to the last."""
    order = [n for _ in range(replicates) for n in chance.permutation(levels)]
    slope = drift / (len(order) - 1)
    return [
        Observation(level=float(n + 1), value=float(np.exp(chance.normal(0, spread) + slope * at)), order=at)
        for at, n in enumerate(order)
    ]


@pytest.mark.monte_carlo
def test_that_many_replicates_do_find_a_drift_of_that_size():
    chance, levels, spread = np.random.default_rng(20261124), 4, 0.06
    trends = [noise_report(run_of(levels, 3, chance, spread)).trend for _ in range(60)]
    needed = [replicates_for_drift(trend, levels, confidence.SOUGHT_PERCENT) for trend in trends]
    count = int(np.median([n for n in needed if n]))
    drift = math.log1p(confidence.SOUGHT_PERCENT / 100)
    seen = [noise_report(run_of(levels, count, chance, spread, drift)).trend.is_drifting for _ in range(300)]
    assert np.mean(seen) > 0.7, count


def test_too_noisy_to_tell_is_an_answer_with_the_replicates_that_would_do(wording):
    def trend(low, high, drifting=False):
        ratio = Ratio(value=math.sqrt(low * high), low=low, high=high)
        return Trend(ratio=ratio, p_value=0.5, degrees=7, smallest_percent=4.2, is_drifting=drifting)

    assert 3 < replicates_for_drift(trend(0.76, 1.35), 4, 10.0) < 100
    for one in (trend(0.76, 1.35), trend(0.97, 1.03), trend(0.01, 90.0), trend(0.5, 0.8, drifting=True)):
        wording(trend_sentence(one, 4))


def test_the_points_of_a_fit_have_the_intervals_of_the_noise_also_where_a_drift_was_taken_out():
    drifting = run_of(3, 4, np.random.default_rng(3), 0.01, drift=0.3)
    point = PointSummary(level=1.0, n=4, rate_mean=2.0, rate_std=None, speedup=1, efficiency=1)
    first, second, absent = with_intervals([replace(point, level=n) for n in (1.0, 2.0, 9.0)], drifting)
    known = {i.level: 1 + i.half_percent / 100 for i in noise_report(drifting).levels}
    assert (first.mean_low, first.mean_high) == pytest.approx((2 / known[1], 2 * known[1]))
    assert second.mean_high == pytest.approx(2 * known[2])
    assert absent.mean_low is None
