"""Which rates are steady: small cases of bench/method_steady.py, and each rule on a rate that only it refuses."""

import math
import random
import statistics
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.judge.figures.window_bounds import window_is_enough
from scale_sweep.judge.verdict.steady import (
    MeanError,
    correlation,
    look_at,
    look_seconds,
    mean_error,
    modes,
    spent,
    steadiness,
    troubles,
)
from scale_sweep.judge.verdict.window_start import claimed, seconds_to_claim, transient
from tests.unit.factories import as_rated, make_sweep
from tests.unit.test_settled import interval

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from method_steady import PROCESSES, correlated, tried

FEW = 40


def noisy(seconds, phi=0.5, spread=0.05, seed=1):
    chance, x, found = random.Random(seed), 0.0, []
    for _ in range(seconds):
        x = phi * x + chance.gauss(0, spread * math.sqrt(1 - phi * phi))
        found.append(1000 * (1 + x))
    return found


def reasons(rates, **how):
    return troubles(steadiness(rates), **{"claims": True, **how})


NEVER = ("random walk", "20 % noise, φ = 0.9", "falls", "half the rate", "stalls", "sine")


@pytest.mark.parametrize("name", [n for n in PROCESSES if n.startswith(("steady", "two values", *NEVER))])
def test_a_steady_rate_is_valid_and_a_number_that_is_off_seldom(name):
    valid, wrong, _ = tried(name, FEW, 3, 40, 60)
    if name.startswith(NEVER):
        assert wrong <= 0.1 * FEW
    else:
        assert valid >= 0.85 * FEW
        assert wrong <= 0.05 * FEW


@pytest.mark.monte_carlo
def test_the_error_of_the_mean_is_that_of_many_windows():
    for phi in (0.5, 0.0):
        correlations = [correlation(noisy(40, phi=phi, seed=n)) for n in range(200)]
        assert sum(correlations) / 200 == pytest.approx(phi, abs=0.05)
    errors = [steadiness(noisy(40, seed=n)).error_percent for n in range(200)]
    means = [sum(noisy(40, seed=n)) / 40 for n in range(200)]
    spread = 100 * math.sqrt(sum((m / 1000 - 1) ** 2 for m in means) / 200)
    assert sum(errors) / 200 == pytest.approx(spread, rel=0.15)
    assert spread > 1.5 * 100 * 0.05 / math.sqrt(40), "what independent seconds would have"
    windows = [correlated(random.Random(n), 60, 0.9, 0.1) for n in range(400)]  # few independent seconds
    found = [steadiness(w) for w in windows]
    spread = 100 * math.sqrt(statistics.fmean((statistics.fmean(w) - 1) ** 2 for w in windows))
    assert statistics.median(f.error_percent for f in found) < 0.9 * spread
    assert statistics.median(mean_error(f).percent for f in found) == pytest.approx(spread, rel=0.1)
    assert mean_error(steadiness([1000.0] * 40)).percent == 0


@pytest.mark.monte_carlo
def test_the_error_of_a_trend_knows_the_correlation_and_independent_seconds_do_not():
    found = [steadiness(noisy(40, seed=n)) for n in range(200)]
    drifts = math.sqrt(sum(f.drift_percent**2 for f in found) / 200)
    assert sum(f.drift_error_percent for f in found) / 200 < 0.7 * drifts
    assert sum(f.trend_error_percent for f in found) / 200 == pytest.approx(drifts, rel=0.15)
    walks = [PROCESSES["random walk, 5 %/s"](random.Random(n), 10)[0] for n in range(FEW)]
    passed = [not troubles(steadiness(walk), claims=False) for walk in walks]
    assert sum(passed) > 0.3 * FEW, "what the longer window and its rules are for"


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([1000 - 3 * t for t in range(40)], "the rate fell by 12 % over the window"),
        ([1000] * 20 + [930] * 20, "the second half of the window is 7 % below the first"),
        ([1000 + 300 * math.sin(t / 3) for t in range(40)], "the window holds few independent seconds"),
        (noisy(40, phi=0.0, spread=0.25), "from second to second"),
    ],
)
def test_each_rule_refuses_its_own(rates, told):
    assert any(told in reason for reason in reasons(rates)), reasons(rates)


def test_the_cap_on_drift_needs_no_significance_and_a_mean_that_one_window_cannot_know_is_said(wording):
    noise = [1000 * f for f in (1.4, 0.9, 1.3, 0.8, 1.2, 0.7, 1.1, 0.6, 1.0, 0.6)]
    found = steadiness(noise)
    assert found.drift_percent < -40
    assert found.trend_error_percent > 0.3 * abs(found.drift_percent)
    slow = replace(steadiness(noisy(40)), cv_percent=10.0, error_percent=10.0)
    wording(*reasons(noise, claims=False), *troubles(slow, claims=True))


def test_the_looks_are_spread_evenly_and_the_first_must_be_the_surest():
    assert look_seconds(40, 60) == (40, 45, 50, 55, 60)
    assert look_seconds(40, 40) == (40,)
    assert [look_at(s, (40, 50, 60)) for s in (39, 40, 49, 50, 70)] == [None, 1, 1, 2, 3]
    known = MeanError(percent=1.0, degrees=1e6)
    allowed = [5 / known.within(1 - spent(look) / 2) for look in (1, 2, 3, 4, 5)]
    assert allowed == sorted(allowed)
    assert (allowed[0], allowed[-1]) == pytest.approx((5 / 3.09, 5 / 2.37), abs=0.01)
    load = make_sweep(load__warmup="2s").load
    rates = [50, 50, *(1000 + t % 3 for t in range(60))]
    intervals = as_rated(interval(at_s, rows, 0) for at_s, rows in enumerate(rates, 1))
    enough = [n for n in range(60) if window_is_enough(load, intervals[: n + 2], 2 * 10**9)]
    assert enough == [39, 44, 49, 54, 59], "a window that carries the claim ends at a look only"
    assert claimed([1000.0 + t % 7 for t in range(60)], 40, 60) == (pytest.approx(1003, abs=1), 40)
    assert claimed([1000.0 * 0.98**t for t in range(60)], 40, 60) is None


def test_the_warm_up_is_found_and_not_a_stall():
    ramp = [60 * t for t in range(15)] + noisy(45, spread=0.02)
    assert transient(ramp).seconds in (10, 15)
    assert transient(noisy(10)) is None
    assert seconds_to_claim(ramp, 40) in (10, 15)
    assert seconds_to_claim(ramp, 55) is None, "too little would be left"
    assert seconds_to_claim(ramp, 0) is None, "nothing may be discarded"
    stalled = [1000, 1000, 0, 0, 0, 0, 0, 1000, 1000, 1000]
    assert seconds_to_claim(stalled + noisy(45), 40) is None, "a stall belongs into the number"
    assert not transient([1000 * 0.97**t for t in range(60)]).is_long_enough
    assert transient([500] * 10 + noisy(50)).is_long_enough


@pytest.mark.monte_carlo
def test_two_values_are_told_from_noise():
    jumps = [r * f for r, f in zip(noisy(60, phi=0.0, spread=0.02), [0.8, 1.2, 1.2] * 20, strict=True)]
    assert modes(jumps) == pytest.approx((800, 1200), rel=0.02)
    assert not any(modes(noisy(60, phi=0.0, spread=0.1, seed=n)) for n in range(100))
    assert modes([1000.0] * 60) is None
    assert modes([1000.0] * 59 + [0.0]) is None
