"""The formulas that intervals and tests share: against simulation, against scipy, and against each other."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from scale_sweep.analysis import confidence
from scale_sweep.analysis.noise.spread import noise_report, replicates_for_drift, with_intervals
from scale_sweep.judge.verdict.thresholds import STEADY_DRIFT_PERCENT
from scale_sweep.model import Observation, PointSummary, Ratio, Trend
from scale_sweep.report.noise import trend_sentence


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
