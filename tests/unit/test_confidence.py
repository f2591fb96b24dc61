"""The formulas that intervals and tests share: against simulation, against scipy, and against each other."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from scale_sweep.analysis import confidence
from scale_sweep.analysis.noise import noise_report, replicates_for_drift, with_intervals
from scale_sweep.judge.verdict.thresholds import STEADY_DRIFT_PERCENT
from scale_sweep.model import Observation, PointSummary, Ratio, Trend
from scale_sweep.report.noise import trend_sentence


def test_the_effects_that_sweeps_look_for_are_those_of_the_verdict():
    assert confidence.SOUGHT_PERCENT == STEADY_DRIFT_PERCENT


def test_students_t_is_scipys():
    assert confidence.student(4) == pytest.approx(stats.t.ppf(0.975, 4))
    assert confidence.student(4, 0.8) == pytest.approx(stats.t.ppf(0.8, 4))


def test_a_level_that_is_noisier_than_the_others_has_its_own_interval_from_three_trials_on():
    def half(count, own):
        return confidence.half_of_mean(count, own, 0.02, 10)

    assert half(3, 0.01) == pytest.approx(stats.t.ppf(0.975, 10) * 0.02 / math.sqrt(3))
    assert half(3, 0.2) == pytest.approx(stats.t.ppf(0.975, 2) * 0.2 / math.sqrt(3))
    assert half(2, 0.2) == half(2, 0.0)
    assert half(1, 0.0) == pytest.approx(stats.t.ppf(0.975, 10) * 0.02)
    assert confidence.half_of_mean(4, 0.0, 0.02, 10, 0.25) == pytest.approx(math.sqrt(2) * half(4, 0.0))


@pytest.mark.parametrize("percent", [5.0, 10.0])
def test_the_replicates_for_a_difference_are_the_fewest(percent):
    count = confidence.replicates_for(percent, 4, 0.05)
    assert confidence.smallest_of(0.05, 4 * (count - 1), count) <= percent
    assert confidence.smallest_of(0.05, 4 * (count - 2), count - 1) > percent
    assert confidence.replicates_for(0.1, 4, 0.5) is None


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
    needed = []
    for _ in range(60):
        trend = noise_report(run_of(levels, 3, chance, spread)).trend
        needed.append(replicates_for_drift(trend, levels, confidence.SOUGHT_PERCENT))
    count = int(np.median([n for n in needed if n]))
    drift = math.log1p(confidence.SOUGHT_PERCENT / 100)
    seen = [noise_report(run_of(levels, count, chance, spread, drift)).trend.is_drifting for _ in range(300)]
    assert np.mean(seen) > 0.7, count


def trend_of(low, high, degrees=7, drifting=False):
    ratio = Ratio(value=math.sqrt(low * high), low=low, high=high)
    return Trend(ratio=ratio, p_value=0.5, degrees=degrees, smallest_percent=4.2, is_drifting=drifting)


def test_too_noisy_to_tell_is_an_answer_with_the_replicates_that_would_do():
    wide = trend_sentence(trend_of(0.76, 1.35), 4)
    assert wide.startswith("too noisy to see a drift of 10 %: +1.3 (-24.0 to +35.0) % from the first")
    count = replicates_for_drift(trend_of(0.76, 1.35), 4, 10.0)
    assert wide.endswith(f"; {count} replicates would be enough") and 3 < count < 100
    narrow = trend_sentence(trend_of(0.97, 1.03), 4)
    assert narrow.startswith("no drift was found: +0.0 (-3.0 to +3.0) %")
    assert narrow.endswith("under 4.2 % cannot be detected (80 % power)")
    assert "too noisy for a sweep" in trend_sentence(trend_of(0.01, 90.0), 4)
    found = trend_sentence(trend_of(0.5, 0.8, drifting=True), 4)
    assert found.startswith("the rate drifted by -36.8 (-50.0 to -20.0) %")


def test_the_points_of_a_fit_have_the_intervals_of_the_noise_also_where_a_drift_was_taken_out():
    chance = np.random.default_rng(3)
    drifting = run_of(3, 4, chance, 0.01, drift=0.3)
    point = PointSummary(level=1.0, n=4, rate_mean=2.0, rate_std=None, speedup=1, efficiency=1)
    points = [replace(point, level=n) for n in (1.0, 2.0, 9.0)]
    known = {i.level: i.half_percent for i in noise_report(drifting).levels}
    first, second, absent = with_intervals(points, drifting)
    assert (first.mean_low, first.mean_high) == pytest.approx((2 / (1 + known[1] / 100), 2 * (1 + known[1] / 100)))
    assert second.mean_high == pytest.approx(2 * (1 + known[2] / 100))
    assert absent.mean_low is None
