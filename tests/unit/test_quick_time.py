"""--quick runs as many replicates as its time allows: three to seven, decided by time alone, the same when resumed."""

from dataclasses import replace

import pytest

from scale_sweep.plan import planner_of
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.planner import with_block
from scale_sweep.plan.summary import bound_sentence
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_facts
from tests.unit.factories import make_result, make_sweep
from tests.unit.test_plan import make_host

QUICK = {"load__quick": "1", "method__connections_check": "off", "method__drift_check": "off"}


def planned(target="questdb", **flags):
    facts = load_facts(target)
    sweep = replace(make_sweep(**{"cores": "1..2", **flags}), target=target, runtime="process")
    return make_plan(complete(sweep, facts), make_host(2), facts)


def run(plan, wall_s):
    """The trials that a campaign runs, each of which takes wall_s."""
    done = []
    while (block := planner_of(plan).next(done)).trials:
        plan = with_block(plan, block)
        assert planner_of(plan).next(done).trials == block.trials  # of the grown plan, as `scale resume` has it
        done += [replace(make_result(), trial=trial, wall_s=wall_s) for trial in block.trials]
    return done


@pytest.mark.parametrize(
    ("wall_s", "trials"), [(7.0, 14), (8.0, 12), (9.0, 12), (10.0, 10), (13.0, 8), (16.0, 6), (60.0, 6)]
)
def test_blocks_are_added_while_the_time_lasts(wall_s, trials):
    plan = planned(**QUICK)
    assert planner_of(plan).bound().trials == 14
    assert "--quick lasts" in bound_sentence(plan, planner_of(plan).bound())
    done = run(plan, wall_s)
    assert len(done) == trials
    assert len({r.trial.trial_id for r in done}) == trials
    assert [r.trial.order for r in done] == list(range(trials))
    for block in range(1, trials // 2 + 1):
        assert sorted(r.trial.level for r in done if r.trial.block == block) == [1, 2]


@pytest.mark.parametrize(
    ("target", "flags", "replicates", "origin"),
    [
        ("null", {**QUICK, "load__duration": "3s", "load__warmup": "1s"}, 7, "default"),  # it is fast
        ("questdb", QUICK, 3, "time"),
        ("questdb", {**QUICK, "method__replicates": "5"}, 5, "flag"),
        ("questdb", {"method__replicates": "5"}, 5, "flag"),
        ("questdb", {**QUICK, "method__until_ci": "5"}, 7, "default"),
    ],
)
def test_a_slow_server_has_three_replicates_in_the_plan_and_a_given_number_stays(target, flags, replicates, origin):
    plan = planned(target, **flags)
    assert (plan.sweep.replicates, plan.sweep.origin["method.replicates"]) == (replicates, origin)


def test_the_drift_check_stays_last_and_the_ends_run_again_in_longer_windows():
    done = run(planned(load__quick="1", method__drift_check="on"), 12.0)
    assert [r.trial.role for r in done].count("drift_check") == 1
    assert done[-1].trial.role == "drift_check" and done[-1].trial.order == len(done) - 1
    flags = {**QUICK, "method__drift_check": "long"}
    last = run(planned(**flags), 9.0)[-2:]
    assert [(r.trial.trial_id, r.trial.level) for r in last] == [("cores-1-sentinel", 1), ("cores-2-sentinel", 2)]
    assert [(r.trial.load.duration_s, r.trial.load.window_max_s) for r in last] == [(20.0, None)] * 2
    for without in ({"cores": "1"}, {"load__rate": "10k"}, {"load__slo": "p99 < 20ms"}, {"vary": ("connections=1,2",)}):
        assert not any(t.role == "sentinel" for t in planned(**{**flags, **without}).trials), without


@pytest.mark.parametrize(
    ("target", "flags", "bound"),
    [
        ("postgres", {}, 11.0),  # 135 s / 6 trials, less 6 s of its start and end and a window of 5 s
        ("tdengine", {}, 10.0),
        ("questdb", {}, 10.0),  # and at least as many for Java
        ("iotdb", {}, 60.0),  # too slow for the time in any case
        ("postgres", {"load__warmup": "5s..30s"}, 30.0),
        ("postgres", {"method__replicates": "3"}, 30.0),
        ("postgres", {"load__quick": ""}, 30.0),  # only --quick shortens it
    ],
)
def test_a_warm_up_ends_in_time_for_three_blocks(target, flags, bound):
    plan = planned(target, **{**QUICK, **flags})
    assert {trial.load.warmup_s for trial in plan.trials} == {bound}
    assert plan.sweep.load.warmup_s == bound
