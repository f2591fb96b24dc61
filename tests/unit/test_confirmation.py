"""The capacity of a level is confirmed on fresh servers: from the answer up or down, and with twice the connections."""

from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.confirmation import confirmations, sentences, windows_of, with_confirmations
from scale_sweep.capacity.search import PROBES, WINDOWS, Capacity, Probe, confirmed
from scale_sweep.experiment.axes import load_axis
from scale_sweep.loadgen.split import start_ns
from scale_sweep.model import BottleneckKind, KnobRole, VerdictKind
from scale_sweep.plan import bound_sentence, planner_of
from scale_sweep.plan.confirming import first_of
from scale_sweep.plan.summary import seconds
from scale_sweep.server.targets import load_facts
from scale_sweep.verify.run import verify_run
from tests.unit.searched_run import LIMIT_MS, Queue, searched_plan, searched_results, searched_run

PLAN = searched_plan(2, 2)


def test_each_level_is_confirmed_until_a_rate_holds_and_the_next_does_not():
    grown, results = searched_results(PLAN)
    assert [r.trial.role for r in results] == ["point"] * 4 + ["confirm"] * (len(results) - 4)
    assert [r.trial for r in results] == list(grown.trials), "each in its place"
    assert {r.trial.load.duration_s for r in results[4:]} == {60.0}
    for level, (at, twice) in ((1.0, results[4:6]), (2.0, results[6:8])):
        rates = [r.measurement.capacity_per_s for r in results[:4] if r.trial.level == level]
        assert at.trial.load.rate == twice.trial.load.rate == pytest.approx((rates[0] * rates[1]) ** 0.5)
        assert (at.trial.load.connections, twice.trial.load.connections) == (64, 128)
        assert twice.trial.knobs["connections"] == "128"
        (step,) = at.measurement.steps
        assert step.rate == at.trial.load.rate and step.response_ms["p99"] == pytest.approx(LIMIT_MS, rel=0.2)
        windows = windows_of(results)[level, ""]
        held, failed = (max(w.rate for w in windows if w.holds is holds) for holds in (True, False))
        assert failed / held == pytest.approx(1.05)
    for count in range(len(results)):
        assert planner_of(grown).next(results[:count]).trials[0] == results[count].trial, "resumed"
    assert planner_of(grown).next(results).trials == ()


def test_the_drift_check_stays_last_and_a_level_without_a_capacity_is_not_confirmed():
    last = replace(PLAN.trials[0], trial_id="cores-1-drift", role="drift_check", order=4)
    grown, results = searched_results(replace(PLAN, trials=(*PLAN.trials, last)))
    assert results[-1].trial.role == "drift_check"
    assert [r.trial for r in results] == list(grown.trials)
    _, (alone,) = searched_results(searched_plan(1, 1), Queue(noise=2.0, seed=3))
    assert alone.measurement.capacity_per_s is None


def test_the_plan_counts_their_number_and_time_and_that_in_which_the_processes_of_a_step_connect(wording):
    bound = planner_of(PLAN).bound()
    assert bound.trials == 22 and bound.seconds >= PLAN.seconds_estimated + 18 * 60
    trial = PLAN.trials[0]
    facts = [replace(load_facts(trial.subject.target), threads_per_process=count) for count in (0, 10, 64)]
    one, several, enough = (seconds(PLAN.sweep, trial, given) for given in facts)
    each_s = start_ns(0, trial.load.connections) / 1e9
    assert each_s > 4 and several - one == pytest.approx(PROBES * each_s) and enough == one
    without = replace(PLAN, sweep=replace(PLAN.sweep, confirms=False))
    assert bound_sentence(without, planner_of(without).bound()) == ""
    wording(bound_sentence(PLAN, bound))


def moved(**queue):
    """The capacity and the ends of its interval at level 1, before and after the windows; the new verdict; the rates of
    the windows."""
    grown, results = searched_results(searched_plan(1, 1), Queue(**queue))
    later = with_confirmations(grown, results)
    assert with_confirmations(grown, later) == later, "idempotent"
    figures = [r[0].measurement for r in (results, later)]
    ends = [(m.capacity_per_s, m.capacity_low_per_s, m.capacity_high_per_s) for m in figures]
    return *ends, later[0].verdict, [w.rate for w in windows_of(results)[1.0, ""]]


def test_a_capacity_that_the_windows_bracket_stays_and_one_that_none_holds_is_none(wording):
    before, after, verdict, rates = moved()
    assert after == (before[0], min(before[1], *rates), max(before[2], *rates))
    before, none, unsteady, rates = moved(slow_fresh=20.0)
    assert len(rates) == WINDOWS and before[0] and none == (None, None, None)
    assert (verdict.kind, unsteady.kind) == (VerdictKind.VALID, VerdictKind.UNSTEADY)
    wording(*(reason for reason in verdict.reasons if "held the objective" in reason), unsteady.reasons[0])


@pytest.mark.parametrize(("slow", "way"), [(1.5, -1), (0.6, 1)])
def test_a_capacity_that_three_windows_contradict_moves_between_those_that_agree(slow, way):
    """Longer response times in windows than in steps lower it; shorter ones raise it."""
    before, after, _, rates = moved(slow_fresh=slow)
    assert len(rates) > 3 and way * (after[0] - before[0]) > 0.02 * before[0]
    assert rates[-1] / after[0] == pytest.approx(1.05 ** (way / 2))
    assert after[1] <= after[0] <= after[2]


def test_a_rate_that_windows_miss_by_far_is_no_capacity():
    """As a server that an overload slows down: two windows are enough."""

    def after(excess):
        windows = [Probe(rate=100.0, excess=None), Probe(rate=95.2, excess=excess), Probe(rate=90.7, excess=-0.1)]
        found = confirmed(Capacity(rate=100.0, low=97.0, high=103.0, probes=14), windows)
        return found.rate, found.low

    assert after(3.0) == pytest.approx(((95.2 * 90.7) ** 0.5, 90.7 / 1.05))
    assert after(0.1) == (100.0, 90.7), "chance may be the reason"


def test_a_percentile_that_falls_with_twice_the_connections_names_them(wording):
    grown, results = searched_results(PLAN, Queue(connections=2.0))
    assert [one.lacks_connections for one in confirmations(grown, results)] == [True, True]
    for told, lacking in ((with_confirmations(grown, results), 4), (results, 0)):
        assert [r.verdict.bottleneck.kind for r in told[:4]].count(BottleneckKind.CONNECTIONS) == lacking
    wording(*(s for s in sentences(grown, results) if "twice" in s))


def test_one_that_does_not_fall_does_not_and_noise_that_could_hide_a_fall_gives_no_answer():
    def told(seeds, **queue):
        found = [confirmations(*searched_results(PLAN, Queue(seed=seed, **queue))) for seed in range(seeds)]
        return [one.lacks_connections for both in found for one in both]

    assert told(7).count(True) <= 2, "5 % each, by chance"
    assert set(told(2, noise=0.1)) == {None}


def test_there_is_no_trial_with_twice_the_connections_where_there_are_fewer_tables_or_the_axis_sweeps_them():
    search = PLAN.trials[0]
    few = replace(search, work=replace(search.work, data=replace(search.work.data, tables=100)))
    assert len(first_of(search, 1e3, PLAN.knobs)) == 2
    assert [t.load.connections for t in first_of(few, 1e3, PLAN.knobs)] == [64]
    clients = replace(PLAN, sweep=replace(PLAN.sweep, axis="clients"))
    assert planner_of(clients).bound().trials == 4 + 2 * WINDOWS
    assert load_axis("clients").standings[BottleneckKind.CONNECTIONS].standing.value == "swept"
    assert any(knob.role is KnobRole.CONNECTIONS for knob in PLAN.knobs)


def test_verify_repeats_searches_and_confirmations(tmp_path):
    run = searched_run(tmp_path, searched_plan(1, 2), Queue(slow_fresh=1.3))
    path = tmp_path / Path(run.path).name
    found = verify_run(path)
    assert found.trials == len(run.results) > 4 and not found.disagreements, found.disagreements[:3]
    step = path / "trials" / "cores-1-r1" / "step-05.jsonl"
    step.write_text(step.read_text().replace('"p99_us": ', '"p99_us": 9'))
    assert any("cores-1-r1" in one.file for one in verify_run(path).disagreements)
