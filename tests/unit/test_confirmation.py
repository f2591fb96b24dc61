"""The capacity of a level is confirmed on fresh servers: from the answer up or down, and with twice the connections."""

import random
from dataclasses import replace

import pytest

from scale_sweep.analysis.confirmation import confirmations, sentences, windows_of, with_confirmations
from scale_sweep.capacity import PROBES, Capacity, Probe, confirmed
from scale_sweep.capacity.confirming import WINDOWS
from scale_sweep.experiment.axes import load_axis
from scale_sweep.loadgen.split import start_ns
from scale_sweep.model import BottleneckKind, KnobRole, VerdictKind
from scale_sweep.plan import bound_sentence, planner_of
from scale_sweep.plan.confirming import first_of
from scale_sweep.plan.summary import seconds
from scale_sweep.server.targets import load_facts
from scale_sweep.verify.run import verify_run
from tests.unit.searched_run import LIMIT_MS, MOST, SHARE, Queue, searched_plan, searched_results, searched_run

PLAN = searched_plan(2, 2)


@pytest.fixture(scope="module")
def run_confirmed():
    return searched_results(PLAN)


def test_each_level_is_confirmed_until_a_rate_holds_and_the_next_does_not(run_confirmed):
    grown, results = run_confirmed
    assert [r.trial.role for r in results[:4]] == ["point"] * 4
    assert {r.trial.role for r in results[4:]} == {"confirm"}
    assert [r.trial for r in results] == list(grown.trials), "each in its place"
    assert {r.trial.load.duration_s for r in results[4:]} == {60.0}
    for level, (at, twice) in ((1.0, results[4:6]), (2.0, results[6:8])):
        rates = [r.measurement.capacity_per_s for r in results[:4] if r.trial.level == level]
        assert at.trial.load.rate == pytest.approx((rates[0] * rates[1]) ** 0.5)
        assert twice.trial.load.rate == at.trial.load.rate
        assert (at.trial.load.connections, twice.trial.load.connections) == (64, 128)
        assert twice.trial.knobs["connections"] == "128"
        (step,) = at.measurement.steps
        assert step.rate == at.trial.load.rate and step.response_ms["p99"] == pytest.approx(LIMIT_MS, rel=0.2)
        windows = windows_of(results)[level, ""]
        held, failed = (max(w.rate for w in windows if w.holds is holds) for holds in (True, False))
        assert failed / held == pytest.approx(1.05)


def test_a_resumed_run_asks_for_the_same_trials(run_confirmed):
    grown, results = run_confirmed
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
    assert words.startswith("at most 22 trials, about") and "confirm the capacity of each level" in words
    bound = planner_of(PLAN).bound()
    assert bound.seconds >= PLAN.seconds_estimated + 18 * 60


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


def moved(queue):
    """The capacity and the ends of its interval at level 1, before and after the windows, and the updated results."""
    grown, results = searched_results(searched_plan(1, 1), queue)
    later = with_confirmations(grown, results)
    assert with_confirmations(grown, later) == later, "idempotent"
    return (*(ends(r[0].measurement) for r in (results, later)), later, windows_of(results)[1.0, ""])


def ends(m):
    return m.capacity_per_s, m.capacity_low_per_s, m.capacity_high_per_s


def test_a_capacity_that_the_windows_bracket_stays_and_its_interval_reaches_to_them():
    before, after, later, windows = moved(Queue())
    assert after[0] == before[0]
    assert after[1] == min(before[1], *(w.rate for w in windows))
    assert after[2] == max(before[2], *(w.rate for w in windows))
    assert later[0].verdict.kind is VerdictKind.VALID
    assert any("held the objective" in reason for reason in later[0].verdict.reasons)


@pytest.mark.parametrize(("slow", "way"), [(1.5, -1), (0.6, 1)])
def test_a_capacity_that_three_windows_contradict_moves_between_those_that_agree(slow, way):
    """Longer response times in windows than in steps lower it; shorter ones raise it."""
    before, after, _, windows = moved(Queue(slow_fresh=slow))
    assert len(windows) > 3 and way * (after[0] - before[0]) > 0.02 * before[0]
    assert windows[-1].rate / after[0] == pytest.approx(1.05 ** (way / 2))
    assert after[1] <= after[0] <= after[2]


def test_a_rate_that_windows_miss_by_far_is_no_capacity():
    """As a server that an overload slows down: two windows are enough."""
    answer = Capacity(rate=100.0, low=97.0, high=103.0, probes=14)
    windows = [Probe(rate=100.0, excess=None), Probe(rate=95.2, excess=3.0), Probe(rate=90.7, excess=-0.1)]
    after = confirmed(answer, windows)
    assert (after.rate, after.low) == (pytest.approx((95.2 * 90.7) ** 0.5), pytest.approx(90.7 / 1.05))
    near = [*windows[:1], replace(windows[1], excess=0.1), windows[2]]
    assert (confirmed(answer, near).rate, confirmed(answer, near).low) == (100.0, 90.7), "chance may be the reason"


def test_a_capacity_that_no_window_holds_is_none():
    before, after, later, windows = moved(Queue(slow_fresh=20.0))
    assert len(windows) == WINDOWS and before[0] and after == (None, None, None)
    assert later[0].verdict.kind is VerdictKind.UNSTEADY
    assert later[0].verdict.reasons[0].startswith("no capacity: no window of a minute held the objective")


def test_a_percentile_that_falls_with_twice_the_connections_names_them():
    grown, results = searched_results(PLAN, Queue(connections=2.0))
    assert [one.lacks_connections for one in confirmations(grown, results)] == [True, True]
    later = with_confirmations(grown, results)
    assert all(r.verdict.bottleneck.kind is BottleneckKind.CONNECTIONS for r in later[:4])
    assert all(r.verdict.bottleneck.kind is not BottleneckKind.CONNECTIONS for r in results[:4])
    assert any("twice the connections (128)" in s and "wait for a connection" in s for s in sentences(grown, results))


def test_one_that_does_not_fall_does_not():
    found = [confirmations(*searched_results(PLAN, Queue(seed=seed))) for seed in range(7)]
    assert [one.lacks_connections for both in found for one in both].count(True) <= 2, "5 % each, by chance"


def test_noise_that_could_hide_a_fall_gives_no_answer():
    found = [confirmations(*searched_results(PLAN, Queue(noise=0.1, seed=seed))) for seed in range(2)]
    assert all(one.lacks_connections is None for both in found for one in both)


def test_there_is_no_trial_with_twice_the_connections_where_there_are_fewer_tables():
    search = PLAN.trials[0]
    few = replace(search, work=replace(search.work, data=replace(search.work.data, tables=100)))
    assert len(first_of(search, 1e3, PLAN.knobs)) == 2
    assert [t.load.connections for t in first_of(few, 1e3, PLAN.knobs)] == [64]


def test_an_axis_of_connections_has_none_either():
    clients = replace(PLAN, sweep=replace(PLAN.sweep, axis="clients"))
    assert planner_of(clients).bound().trials == 4 + 2 * WINDOWS
    assert load_axis("clients").standings[BottleneckKind.CONNECTIONS].standing.value == "swept"
    assert any(knob.role is KnobRole.CONNECTIONS for knob in PLAN.knobs)


def test_a_level_without_a_capacity_is_not_confirmed():
    hopeless = Queue(noise=2.0, seed=3)
    assert hopeless.p99_ms(MOST, SHARE * MOST, random.Random(1)) > 0
    _, results = searched_results(searched_plan(1, 1), hopeless)
    if results[0].measurement.capacity_per_s is None:
        assert len(results) == 1


def test_verify_repeats_searches_and_confirmations(tmp_path):
    run = searched_run(tmp_path, searched_plan(1, 2), Queue(slow_fresh=1.3))
    found = verify_run(tmp_path / run.path.rpartition("/")[2])
    assert found.trials == len(run.results) > 4 and not found.disagreements, found.disagreements[:3]
    step = tmp_path / run.path.rpartition("/")[2] / "trials" / "cores-1-r1" / "step-05.jsonl"
    step.write_text(step.read_text().replace('"p99_us": ', '"p99_us": 9'))
    assert any("cores-1-r1" in one.file for one in verify_run(step.parents[2]).disagreements)
