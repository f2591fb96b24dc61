"""The search: which rate comes next, when it ends, what its answer is worth; the text of its objective; and how the capacity
of a level is confirmed on fresh servers: from the answer up or down, and with twice the connections."""

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.confirmation import confirmations, sentences, windows_of, with_confirmations
from scale_sweep.capacity.objective import excess_of, parse_objective, requests_needed
from scale_sweep.capacity.search import PROBES, PROBES_MAX, WINDOWS, Capacity, Probe, answer_of, confirmed, next_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.loadgen.split import start_ns
from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.measured import BottleneckKind, VerdictKind
from scale_sweep.plan import planner_of
from scale_sweep.plan.extra_trials import first_of
from scale_sweep.plan.summary import bound_sentence, seconds
from scale_sweep.server.targets import load_facts
from scale_sweep.verify.run import verify_run
from tests.unit.searched_run import LIMIT_MS, Queue, searched_plan, searched_results, searched_run

BEGIN, TRUTH = 1000.0, 770.0


def searched(excess, usable=lambda number: True, too_fast=math.inf):
    """The steps. excess: of a rate. usable: by the number of a step. too_fast: a rate that the load generator lacks."""
    probes = []
    while (rate := next_rate(BEGIN, probes)) is not None:
        if rate > too_fast:
            probes.append(Probe(rate=rate, excess=None, usable=False, too_fast=True))
        else:
            probes.append(Probe(rate=rate, excess=excess(rate), usable=usable(len(probes))))
    return probes


def queue(chance=None, noise=0.0):
    def excess(rate):
        speed = math.exp(noise * chance.gauss(0, 1)) if chance else 1.0
        return math.log((BEGIN - TRUTH) / (BEGIN * speed - rate)) if rate < BEGIN * speed else None

    return excess


def test_a_queue_without_noise_is_found_in_14_steps_on_both_sides():
    probes = searched(queue())
    answer = answer_of(probes)
    assert len(probes) == PROBES
    assert answer.rate == pytest.approx(TRUTH, rel=0.01)
    assert answer.low < TRUTH < answer.high
    assert {probe.holds for probe in probes} == {True, False}


def test_with_noise_it_is_within_5_percent_and_the_interval_covers_the_truth():
    searches = [searched(queue(random.Random(seed), 0.03)) for seed in range(100)]
    answers = [answer_of(probes) for probes in searches]
    assert sum(abs(a.rate / TRUTH - 1) < 0.05 for a in answers) >= 95
    assert 88 <= sum(a.low <= TRUTH <= a.high for a in answers) <= 100
    for count, probe in enumerate(searches[7]):
        assert next_rate(BEGIN, searches[7][:count]) == probe.rate, "the same steps, the same rate"


def steep(first):
    """A server with far shorter response times than the limit up to its capacity, and far longer ones above. first: the
    excess of the first step, which the closed loop may have disturbed."""
    excesses = iter([first])
    return lambda rate: next(excesses, -2.5 if rate < TRUTH else 2.5)


def test_a_first_step_that_fails_after_the_closed_loop_is_repeated_and_counts_if_it_fails_twice():
    probes = searched(steep(1.4))
    answer = answer_of(probes)
    assert probes[2].rate == probes[0].rate and probes[2].holds and not probes[0].holds
    assert answer.probes == PROBES == len(probes) - 1
    assert answer.rate == pytest.approx(TRUTH, rel=0.05)
    assert answer.low < TRUTH < answer.high
    twice = searched(lambda rate: -2.5 if rate < 0.8 * TRUTH else 2.5)
    assert twice[2].rate == twice[0].rate and not twice[2].holds
    assert answer_of(twice).probes == PROBES == len(twice)


def test_a_disturbed_step_is_repeated_once_and_then_left_out():
    probes = searched(queue(), usable=lambda number: number not in (4, 5, 9))
    rates = [probe.rate for probe in probes]
    assert rates[4] == rates[5] != rates[6] and rates[9] == rates[10]
    assert (len(probes), answer_of(probes).probes) == (PROBES + 3, PROBES)
    alone = searched(queue())
    disturbed = searched(queue(), usable=lambda number: number not in (0, 1, 2, 4, 5, 6))
    assert [probe.rate for probe in disturbed[:8]] == [alone[0].rate] * 4 + [alone[1].rate] * 4


def test_a_rate_that_is_too_fast_for_the_load_generator_twice_is_not_offered_again():
    rates = [probe.rate for probe in searched(lambda rate: -1.0, too_fast=900)]
    assert max(map(rates.count, rates)) == 2
    assert max(rate for rate in rates if rate < 900) > 0.95 * 900, "it goes as near as it can"
    falling = [Probe(rate=700.0, excess=1.0), *[Probe(rate=490.0, excess=None, usable=False, too_fast=True)] * 2]
    assert 490 < next_rate(BEGIN, falling) < 700
    assert next_rate(BEGIN, falling[1:]) == pytest.approx(0.7 * 490)


def test_a_first_step_that_fails_by_chance_does_not_bound_the_search():
    first = iter([0.05])
    probes = searched(lambda rate: next(first, None) or queue()(rate))
    assert probes[0].rate < TRUTH / 1.06
    assert answer_of(probes).rate == pytest.approx(TRUTH, rel=0.03)


def test_a_search_ends_when_8_usable_steps_are_out_of_reach(wording):
    for usable in (set(), set(range(4)), {1}, set(range(0, 99, 4))):
        answer = answer_of(searched(queue(), usable=usable.__contains__))
        assert answer.rate is None
        wording(answer.why)
    probes = searched(queue(), usable=lambda number: number < 8)
    assert len(probes) == PROBES_MAX
    assert answer_of(probes).rate == pytest.approx(TRUTH, rel=0.05)


def test_a_rate_that_is_never_low_enough_or_never_too_high_is_said(wording):
    probes = searched(lambda rate: math.log(180 / 20))
    assert len(probes) <= PROBES
    assert min(probe.rate for probe in probes) < 0.05 * BEGIN
    wording(answer_of(probes).why, answer_of(searched(lambda rate: -1.0)).why)


def test_response_times_that_follow_no_rate_are_no_answer(wording):
    """What a machine with busy neighbours showed: one step held, and others at nearly the same rate were far from it."""
    answer = answer_of([Probe(rate=1000.0 + n, excess=-0.5 if n == 3 else 1.1) for n in range(PROBES)])
    assert (answer.rate, answer.low, answer.probes) == (None, None, PROBES)
    wording(answer.why)


def test_conditions_are_read():
    asked = {("p99", ""): 20.0, ("p999", ""): 100.0, ("p50", "range"): 0.5, ("errors", ""): 0.1}
    clauses = parse_objective("p99 < 20ms, p99.9<0.1s , range.p50 < 500us, errors < 0.1%").clauses
    assert {(one.quantity, one.operation): one.limit for one in clauses} == asked
    assert parse_objective("range.p99 < 5ms").words == "range.p99 < 5 ms"


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        (("p99 > 20ms", "p99 <= 20ms"), "upper limit"),
        (("p42 < 20ms", "q99 < 20ms"), "is none of"),
        (("p99 < 20", "p99 < 20m", "p99 <", "p99 < -1ms", "p99 < nan"), "with its unit"),
        (("p99 < 0ms",), "more than 0"),
        (("errors < 3",), "share of the requests"),
        (("errors < 0%", "errors < 100%"), "percentage"),
        (("write.errors < 1%",), "all operations together"),
        (("p99 < 5ms, p99 < 6ms",), "two limits"),
        (("p99 < 5ms,", "fast", ""), "not a condition"),
    ],
)
def test_what_is_no_objective_is_refused_with_its_condition(texts, named):
    for text in texts:
        with pytest.raises(ValueError, match=named):
            parse_objective(text)


@pytest.mark.parametrize(
    ("text", "count"), [("p50 < 1ms", 20), ("p99 < 1ms, errors < 1%", 1000), ("p99 < 1ms, p999 < 1s", 10_000)]
)
def test_a_percentile_needs_its_requests(text, count):
    assert requests_needed(parse_objective(text)) == count


@pytest.mark.parametrize(("p99", "p50", "ratio"), [(10.0, 0.9, 0.9), (40.0, 0.9, 2.0), (10.0, None, None)])
def test_the_condition_furthest_from_holding_counts(p99, p50, ratio):
    objective = parse_objective("p99 < 20ms, p50 < 1ms, errors < 1%")
    found = excess_of(objective, {"p99": p99, "p50": p50, "errors": 0.0})
    assert found == (pytest.approx(math.log(ratio)) if ratio else None)


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
