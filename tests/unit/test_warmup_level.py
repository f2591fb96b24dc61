"""A warm-up that ends when the rate is level: its setting, its bound, the rule, and what is said if it never was."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.judge.figures.measurement import measurement
from scale_sweep.judge.figures.outcome import evidence
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window_bounds import warmup_is_enough
from scale_sweep.judge.verdict.window_start import is_level
from scale_sweep.plan.complete import complete
from scale_sweep.plan.make import _load
from scale_sweep.plan.summary import warmup_seconds, warmup_words
from scale_sweep.server.targets import load_facts
from tests.unit.factories import as_rated, make_interval, make_sweep, make_trial
from tests.unit.test_loadgen import summary


def seen(rates):
    return [make_interval(t_s=float(i), phase="warmup", rows=rate, requests=1) for i, rate in enumerate(rates, 1)]


@pytest.mark.parametrize(
    ("rates", "level"),
    [
        ([400] * 6, True),
        ([400] * 5, False),
        ([0] * 6, False),
        ([100, 400, 400, 390, 410, 405, 400], True),
        ([20, 60, 120, 180, 240, 280], False),
        ([400, 400, 400, 370, 370, 370], False),
        ([400, 400, 400, 430, 430, 430], False),
        ([400, 300, 400, 400, 300, 400], True),
        ([400 - 400 * 0.95**n for n in range(40)], False),  # its last three seconds and the three before differ by 3 %
        ([400 - 400 * 0.95**n for n in range(100)], True),
    ],
)
def test_a_rate_is_level_if_its_last_seconds_agree_with_those_before(rates, level):
    assert is_level(rates) == level


def test_a_warm_up_ends_when_it_is_level_and_long_enough_and_its_bound_grows_for_a_small_level(wording):
    sweep, fixed = make_sweep(load__warmup="8s..30s"), make_sweep(load__warmup="8s").load
    assert (sweep.load.warmup_least_s, sweep.load.warmup_s) == (8, 30)
    enough = [warmup_is_enough(sweep.load, as_rated(seen([100] * n))) for n in range(5, 10)]
    assert enough == [False, False, True, True, True]
    assert not warmup_is_enough(sweep.load, as_rated(seen([100 * 1.1**n for n in range(20)])))
    assert not warmup_is_enough(fixed, as_rated(seen([100] * 20)))
    assert warmup_seconds(make_sweep(load__warmup="5s..30s").load) == 7.5
    wording(warmup_words(sweep.load), warmup_words(fixed))
    assert [_load(sweep.load, sweep.work, n, n).warmup_s for n in (0.25, 0.5, 1, 4)] == [120, 60, 30, 30]
    assert _load(fixed, sweep.work, 0.25, 0.25).warmup_s == 8
    with pytest.raises(UsageError, match="5s..60s"):
        make_sweep(load__warmup="60s..5s")


def test_a_server_in_java_has_a_longer_warm_up_by_default():
    def span(target, **settings):
        load = complete(make_sweep(load__duration="5s", **settings), load_facts(target)).load
        return load.warmup_least_s, load.warmup_s

    assert [span(name) for name in ("postgres", "questdb", "iotdb")] == [(5, 30), (10, 60), (10, 60)]
    rows = {"preload__rows": "1M", "workload__step_ms": "10000"}
    assert span("cassandra") == (150, 300), "its writes are level later"
    assert span("cassandra", mix="range=1", **rows) == (10, 60)
    assert span("cassandra", mix="write=9,range=1", **rows) == (150, 300)
    assert span("questdb", load__warmup="7s") == (None, 7) and span("questdb", load__warmup="5s..8s") == (5, 8)
    fixed = make_sweep(load__rows="1M").load
    assert (fixed.warmup_least_s, fixed.warmup_s) == (None, 0), "fixed work has no warm-up"


@pytest.mark.parametrize(("seconds", "is_said"), [(8, False), (28, False), (29, True), (30, True)])
def test_only_a_warm_up_that_ended_at_its_bound_is_said_to_be_not_level(seconds, is_said):
    trial = make_trial()
    trial = replace(trial, load=replace(trial.load, warmup_least_s=5.0, warmup_s=30.0))
    at = {"load_start_ns": 0, "measure_start_ns": 0, "flush_end_ns": 12 * 10**9}
    rising = seen([100 * second for second in range(1, seconds + 1)])
    facts = TrialFacts(summary=summary([1000]), intervals=rising, **at)
    said = evidence(trial, facts, measurement(trial, facts)).warmup
    assert bool(said) == is_said
    assert not is_said or "30 s" in said
