"""Several runs a side, equal variances, and drift within runs: false alarms near 5 % where one run a side has many."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench.method_compare import SEED, between, naive_between, within
from scale_sweep.analysis.compare import compare_runs, compare_sessions
from scale_sweep.analysis.compare import sessions as between_runs
from scale_sweep.analysis.compare.ratios import bartlett, own_spread
from scale_sweep.base.errors import UsageError
from scale_sweep.model.measured import VerdictKind
from tests.unit.factories import SLOWER, offered, with_rates
from tests.unit.synthetic_run import synthetic_run


def chance(*name):
    return np.random.default_rng([SEED, *name])


def sessions(count, session=0.0, first=0, gamma=4.1e5, **changes):
    draws = chance(first).normal(0, session, count)
    given = [(first + at, gamma * math.exp(off)) for at, off in enumerate(draws)]
    runs = [(seed, synthetic_run(seed=seed, gamma=speed, alpha=0.03, **changes)) for seed, speed in given]
    return [replace(run, path=f"/results/{seed}") for seed, run in runs]


@pytest.mark.monte_carlo
def test_sessions_that_differ_are_not_taken_for_a_difference_of_the_server():
    draws = chance(1)
    honest = sum(between(draws, 4, 3, 0.03, 0.0) for _ in range(400)) / 400
    assert 0.015 <= honest <= 0.085
    naive = sum(naive_between(draws, 4, 0.03) for _ in range(60)) / 60
    assert naive > 0.30, "what one run a side would have called different"


@pytest.mark.monte_carlo
def test_a_slow_down_is_seen_through_the_sessions_and_through_drift_within_them():
    draws = chance(2)
    assert sum(between(draws, 4, 5, 0.01, math.log(0.95)) for _ in range(100)) > 95
    draws = chance(8)
    assert sum(within(draws, 4, 3, [0.02] * 4, 0.10, math.log(0.95)) for _ in range(60)) > 54


def test_one_point_is_welch_s_test_with_fewer_degrees_of_freedom():
    a, b = chance(3).normal(0, 0.02, (4, 1)), chance(4).normal(0.01, 0.05, (6, 1))
    found, wanted = between_runs.tested_sessions(a, b), stats.ttest_ind(b[:, 0], a[:, 0], equal_var=False)
    assert found.difference[0] / found.error[0] == pytest.approx(wanted.statistic)
    assert 3 <= found.degrees[0] <= wanted.df
    assert found.p_value[0] == pytest.approx(2 * stats.t.sf(abs(wanted.statistic), found.degrees[0]))
    draws = chance(5)
    a, b = (draws.normal(0, 0.03, (200, 1)) + draws.normal(0, 0.03, (200, 4)) for _ in range(2))
    assert between_runs.session_share(a, b) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("given", [(1.0, 1.0, 2, 2), (0.2, 8.0, 4, 1), (0.2, 0.1, 4, 1), (3.0, 1.0, 9, 5)])
def test_the_degrees_of_freedom_are_those_of_the_worst_ratio_that_the_sessions_make_likely(given):
    part_a, part_b, degrees_a, degrees_b = given
    low, high = (1 - between_runs.RATIO_LEVEL) / 2, (1 + between_runs.RATIO_LEVEL) / 2
    likely = part_a / part_b / stats.f.ppf(np.linspace(low, high, 999), degrees_a, degrees_b)
    share = likely / (1 + likely)
    worst = (1 / (share**2 / degrees_a + (1 - share) ** 2 / degrees_b)).min()  # Satterthwaite's formula
    assert between_runs.careful_degrees(*np.array(given, dtype=float)[:, None])[0] == pytest.approx(worst)
    assert worst >= min(degrees_a, degrees_b)
    assert np.isfinite(between_runs.careful_degrees(*np.array([[0.0], [0.0], [2.0], [2.0]])))[0]


@pytest.mark.monte_carlo
def test_two_sessions_that_are_four_times_as_noisy_raise_no_more_false_alarms():
    draws = chance(9)
    a, b = draws.normal(0, 0.01, (4000, 5, 1)), draws.normal(0, 0.04, (4000, 2, 1))
    assert (between_runs.tested_sessions(a, b).p_value < 0.05).mean() < 0.07
    naive = np.mean([stats.ttest_ind(one[:, 0], other[:, 0]).pvalue < 0.05 for one, other in zip(a, b, strict=True)])
    assert naive > 0.15, "Student's test, which takes both to be equally noisy"


def test_a_slower_build_over_sessions_and_one_run_against_several(wording):
    found = compare_sessions(sessions(3), sessions(3, first=10, gamma=3.5e5), SLOWER)
    assert found.overall.ratio == pytest.approx(0.854, abs=0.02)
    assert found.overall.low < 0.854 < found.overall.high
    assert "all points" in found.slower and found.not_judged_because == ""
    assert (found.overall.spread, found.sessions_a, found.sessions_b) == ("sessions", 3, 3)
    one = compare_sessions(sessions(1), sessions(4, session=0.05, first=20), SLOWER)
    assert not any(p.differs for p in one.points), "the spread of the several counts"
    wording(*one.cautions)


def test_a_point_that_a_session_lacks_or_an_open_loop_is_not_compared_and_cannot_pass(wording):
    lost = {(4.0, r): VerdictKind.ABORTED for r in (1, 2, 3)}
    a, (closed, other) = sessions(2), sessions(2, first=40)
    found = compare_sessions(a, [closed, *sessions(1, first=31, verdicts=lost)], SLOWER)
    opened = compare_sessions(a, [closed, offered(other)], SLOWER)
    assert (found.unjudged, opened.unjudged) == (("4 cores",), ())
    wording(found.points[-1].missing, *{p.missing for p in opened.points}, opened.sentence)
    wording(*(caution for caution in compare_sessions(a, [closed, other]).cautions if "quick" in caution))


def test_two_runs_are_too_few_and_no_run_counts_twice():
    for count, first, why in ((1, 5, "at least three"), (2, 0, "given twice")):
        with pytest.raises(UsageError, match=why):
            compare_sessions(sessions(count), sessions(count, first=first))


def test_bartlett_is_scipy_s():
    groups = [chance(6, n).normal(0, 0.01 * (n + 1), 5) for n in range(4)]
    squares = np.array([((g - g.mean()) ** 2).sum() for g in groups])
    assert bartlett(squares, np.full(4, 4.0))[0] == pytest.approx(stats.bartlett(*groups).pvalue)
    none, degrees = np.zeros(3), np.full(3, 2.0)
    assert bartlett(none, degrees)[0] == 1 and not own_spread(none, degrees).any(), "the same everywhere"


@pytest.mark.monte_carlo
def test_noise_that_differs_by_level_raises_no_more_false_alarms():
    for noise in ([0.01, 0.02, 0.03, 0.04], [0.01, 0.01, 0.04, 0.04]):
        draws = chance(7)
        assert sum(within(draws, 4, 3, noise, 0.0, 0.0) for _ in range(300)) / 300 < 0.08


def test_drift_is_taken_out_of_each_run_before_they_are_compared():
    a, b = synthetic_run(seed=1), synthetic_run(seed=2)
    steady, drifting = (compare_runs(a, one).overall for one in (b, with_rates(b, lambda at: 0.98**at)))
    assert drifting.high - drifting.low < 1.6 * (steady.high - steady.low)
