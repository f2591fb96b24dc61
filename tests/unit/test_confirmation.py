"""The capacity of a level is confirmed on fresh servers: at the answer, 5 % above it, and with twice the connections."""

import random
from dataclasses import replace

import pytest

from scale_sweep.analysis.confirmation import confirmations, sentences, with_confirmations
from scale_sweep.capacity import PROBES
from scale_sweep.experiment.axes import load_axis
from scale_sweep.loadgen.split import start_ns
from scale_sweep.model import BottleneckKind, KnobRole, VerdictKind
from scale_sweep.plan import bound_sentence, planner_of
from scale_sweep.plan.confirming import confirming_of
from scale_sweep.plan.summary import seconds
from scale_sweep.server.targets import load_facts
from scale_sweep.verify.run import verify_run
from tests.unit.searched_run import LIMIT_MS, MOST, SHARE, Queue, searched_plan, searched_results, searched_run

PLAN = searched_plan(2, 2)


@pytest.fixture(scope="module")
def confirmed():
    return searched_results(PLAN)


def test_each_level_is_confirmed_after_all_searches_at_its_capacity_and_above_it(confirmed):
    grown, results = confirmed
    roles = [result.trial.role for result in results]
    assert roles == ["point"] * 4 + ["confirm"] * 6
    assert [r.trial for r in results] == list(grown.trials), "each in its place"
    for level, (at, above, twice) in ((1.0, results[4:7]), (2.0, results[7:10])):
        rates = [r.measurement.capacity_per_s for r in results[:4] if r.trial.level == level]
        assert at.trial.load.rate == pytest.approx((rates[0] * rates[1]) ** 0.5)
        assert above.trial.load.rate == pytest.approx(1.05 * at.trial.load.rate)
        assert twice.trial.load.rate == at.trial.load.rate
        assert (at.trial.load.connections, twice.trial.load.connections) == (64, 128)
        assert twice.trial.knobs["connections"] == "128"
        assert {r.trial.load.duration_s for r in (at, above, twice)} == {15.0}
        (step,) = at.measurement.steps
        assert step.rate == at.trial.load.rate and step.response_ms["p99"] == pytest.approx(LIMIT_MS, rel=0.2)


def test_a_resumed_run_asks_for_the_same_trials(confirmed):
    grown, results = confirmed
    for count in range(len(results)):
        block = planner_of(grown).next(results[:count])
        assert block.trials[0] == results[count].trial
    assert planner_of(grown).next(results).trials == ()


def test_the_drift_check_stays_last():
    last = replace(PLAN.trials[0], trial_id="cores-1-drift", role="drift_check", order=4)
    grown, results = searched_results(replace(PLAN, trials=(*PLAN.trials, last)))
    assert [r.trial.role for r in results][-1] == "drift_check"
    assert [r.trial for r in results] == list(grown.trials)


def test_the_plan_counts_their_number_and_time():
    words = bound_sentence(PLAN, planner_of(PLAN).bound())
    assert words.startswith("at most 10 trials, about") and "confirm the capacity of each level" in words
    bound = planner_of(PLAN).bound()
    assert bound.seconds >= PLAN.seconds_estimated + 6 * 15


def test_the_plan_counts_the_time_in_which_the_processes_of_a_step_connect():
    trial = PLAN.trials[0]
    one = replace(load_facts(trial.subject.target), threads_per_process=0)
    several = replace(one, threads_per_process=10)
    each_s = start_ns(0, trial.load.connections) / 1e9
    assert each_s > 4
    more_s = seconds(PLAN.sweep, trial, several) - seconds(PLAN.sweep, trial, one)
    assert more_s == pytest.approx(PROBES * each_s)
    assert seconds(PLAN.sweep, trial, replace(one, threads_per_process=64)) == seconds(PLAN.sweep, trial, one)
    without = replace(PLAN, sweep=replace(PLAN.sweep, confirms=False))
    assert bound_sentence(without, planner_of(without).bound()) == ""


def test_a_capacity_that_holds_on_a_fresh_server_keeps_its_interval():
    grown, results = searched_results(PLAN, Queue(slow_fresh=0.9))
    later = with_confirmations(grown, results)
    for before, after in zip(results[:4], later[:4], strict=True):
        assert after.measurement.capacity_low_per_s == before.measurement.capacity_low_per_s
        assert any("held the objective" in reason for reason in after.verdict.reasons)
        assert after.verdict.kind is VerdictKind.VALID
    assert with_confirmations(grown, later) == later, "idempotent"


def test_a_capacity_that_does_not_hold_widens_the_interval_to_the_next_lower_step_and_says_so():
    grown, results = searched_results(PLAN, Queue(slow_fresh=1.3))
    later = with_confirmations(grown, results)
    for before, after in zip(results[:4], later[:4], strict=True):
        level = [r for r in results[:4] if r.trial.level == before.trial.level]
        held = {s.rate for r in level for s in r.measurement.steps if s.holds}
        lowest = after.measurement.capacity_low_per_s
        assert lowest <= before.measurement.capacity_low_per_s
        assert lowest in held or lowest == before.measurement.capacity_low_per_s
        assert after.measurement.capacity_per_s == before.measurement.capacity_per_s, "the answer stays"
    assert sum("did not hold" in s and "the interval begins at" in s for s in sentences(grown, results)) == 2


def test_a_rate_5_percent_above_that_holds_widens_it_upwards():
    grown, results = searched_results(PLAN, Queue(slow_fresh=0.5))
    later = with_confirmations(grown, results)
    assert later[0].measurement.capacity_high_per_s >= 1.05 * results[4].trial.load.rate * (1 - 1e-9)


def test_a_percentile_that_falls_with_twice_the_connections_names_them():
    grown, results = searched_results(PLAN, Queue(connections=2.0))
    assert [one.lacks_connections for one in confirmations(grown, results)] == [True, True]
    later = with_confirmations(grown, results)
    assert all(r.verdict.bottleneck.kind is BottleneckKind.CONNECTIONS for r in later[:4])
    assert all(r.verdict.bottleneck.kind is not BottleneckKind.CONNECTIONS for r in results[:4])
    assert any("twice the connections (128)" in s and "wait for a connection" in s for s in sentences(grown, results))


def test_one_that_does_not_fall_does_not():
    found = [confirmations(*searched_results(PLAN, Queue(seed=seed))) for seed in range(10)]
    assert [one.lacks_connections for both in found for one in both].count(True) <= 3, "5 % each, by chance"


def test_noise_that_could_hide_a_fall_gives_no_answer():
    found = [confirmations(*searched_results(PLAN, Queue(noise=0.1, seed=seed))) for seed in range(3)]
    assert all(one.lacks_connections is None for both in found for one in both)


def test_there_is_no_trial_with_twice_the_connections_where_there_are_fewer_tables():
    search = PLAN.trials[0]
    few = replace(search, work=replace(search.work, data=replace(search.work.data, tables=100)))
    assert len(confirming_of(search, 1e3, PLAN.knobs)) == 3
    assert [t.load.connections for t in confirming_of(few, 1e3, PLAN.knobs)] == [64, 64]


def test_an_axis_of_connections_has_none_either():
    clients = replace(PLAN, sweep=replace(PLAN.sweep, axis="clients"))
    assert planner_of(clients).bound().trials == 4 + 2 * 2
    assert load_axis("clients").standings[BottleneckKind.CONNECTIONS].standing.value == "swept"
    assert any(knob.role is KnobRole.CONNECTIONS for knob in PLAN.knobs)


def test_a_level_without_a_capacity_is_not_confirmed():
    hopeless = Queue(noise=2.0, seed=3)
    assert hopeless.p99_ms(MOST, SHARE * MOST, random.Random(1)) > 0
    _, results = searched_results(searched_plan(1, 1), hopeless)
    if results[0].measurement.capacity_per_s is None:
        assert len(results) == 1


def test_verify_repeats_searches_and_confirmations(tmp_path):
    run = searched_run(tmp_path, PLAN, Queue(slow_fresh=1.3))
    found = verify_run(tmp_path / run.path.rpartition("/")[2])
    assert found.trials == 10 and not found.disagreements, found.disagreements[:3]
    step = tmp_path / run.path.rpartition("/")[2] / "trials" / "cores-1-r1" / "step-05.jsonl"
    step.write_text(step.read_text().replace('"p99_us": ', '"p99_us": 9'))
    assert any("cores-1-r1" in one.file for one in verify_run(step.parents[2]).disagreements)
