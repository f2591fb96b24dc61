"""Too few connections look like a lock: a level counts as the server's own only when twice as many do not help."""

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from bench.method_bottleneck import plan_of
from bench.method_checks import Course, answers, former, line
from scale_sweep.analysis.connections_check import checks, sentences, with_checks
from scale_sweep.analysis.observations import observations
from scale_sweep.cli import compose
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, ResourceUse, TrialResources
from scale_sweep.model.events import TrialFinished
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Measurement, TrialResult, Verdict, VerdictKind
from scale_sweep.plan import planner_of
from scale_sweep.plan.summary import bound_sentence
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import Folder
from tests.unit.factories import campaign
from tests.unit.observing import fit_curve
from tests.unit.raw_run import Shape, raw_run
from tests.unit.test_plan import planned

CORES, CLIENTS = load_axis("cores"), load_axis("clients")
OWN, LACKING = VerdictKind.SOFTWARE_BOTTLENECK, VerdictKind.RESOURCE_NOT_SATURATED
GIVEN = TrialResources(cores=4.0, quota=False, generator_cpus=2, shared_cpus=(), threads=8)
IDLE = ResourceUse(rate_per_s=1e6, server_cpu_cores=2.0, generator_cpu_cores=0.5, other_cpu_cores=0.0, in_flight=0.3)
GOOD = Measurement(rows=10, window_s=10.0, rows_per_s=1e6, rate_drift_percent=0.0, rate_cv_percent=2.0)


def judged(axis=CORES, given=GIVEN, m=GOOD, **use):
    return diagnose(Evidence(resources=given, measurement=m, window=replace(IDLE, **use)), axis)


@pytest.mark.parametrize(
    ("use", "expected"),
    [({"in_flight": 0.95}, OWN), ({"hot_thread": ("vnode-write", 0.98)}, OWN), ({}, OWN)]
    + [({"generator_cpu_cores": cores}, None) for cores in (1.5, 1.9)]
    + [({"other_cpu_cores": cores}, None) for cores in (0.9, 1.9, None)]
    + [({"disk_busy_percent": {"d1": 97.0}}, None), ({"server_cpu_cores": 3.9}, None)]
    + [({"in_flight": 0.95, "m": replace(GOOD, rate_cv_percent=60.0)}, VerdictKind.UNSTEADY)]
    + [({"in_flight": 0.95, "m": replace(GOOD, errors=3)}, None), ({"in_flight": 0.95, "axis": CLIENTS}, None)]
    + [({"in_flight": 0.95, "given": replace(GIVEN, offered_per_s=rate)}, None) for rate in (1e6, 2e6)],
)
def test_only_what_may_be_the_servers_own_reason_is_checked(use, expected):
    verdict = judged(**use)
    assert verdict.once_checked is expected
    assert expected is not OWN or verdict.kind is LACKING, "until then it does not count"


LACKS = Bottleneck(kind=BottleneckKind.CONNECTIONS, sentence="waited", remedy="more --connections")
WAITING = Verdict(kind=LACKING, reasons=("all 8 connections waited",), once_checked=OWN, bottleneck=LACKS)
FULL = Verdict(kind=VerdictKind.VALID, bottleneck=Bottleneck(kind=BottleneckKind.SERVER_CPU, sentence="full"))
CAPACITY = 2.2  # cores, more of which the server cannot use


def usual(trial):
    return WAITING if trial.level > CAPACITY else FULL


def ran(plan, rate, done=(), verdict_of=usual):
    """The plan at last, and what was run. rate, verdict_of: of a trial."""

    def run(trial):
        m = Measurement(rows_per_s=rate(trial), window_s=10.0, rows=9)
        yield TrialFinished(result=TrialResult(trial=trial, measurement=m, verdict=verdict_of(trial)))

    return campaign(plan, run, done)


def lock(seed=1, gain=1.0, noise=0.01):
    """The rate of a trial. gain: of twice the connections."""
    chance, rates = random.Random(seed), {}

    def rate(trial):
        exact = 1e6 * min(trial.level, CAPACITY) * (gain if trial.role == "check" else 1.0)
        return rates.setdefault(trial.trial_id, exact * math.exp(chance.gauss(0, noise)))

    return rate


def kinds(plan, results):
    return {r.trial.level: r.verdict.kind for r in with_checks(plan, results) if r.trial.role == "point"}


@pytest.mark.parametrize("flags", [{}, {"method__until_ci": "5%"}, {"vary": ["rows_per_request=100,1000"]}])
def test_each_level_is_checked_once_and_a_resumed_run_asks_for_the_same(flags, wording):
    plan = planned(cores="1..4", method__replicates="2", **flags)
    rate = lock()
    grown, results = ran(plan, rate)
    made = [r.trial for r in results if r.trial.role == "check"]
    points = {t.point_id for t in plan.trials if t.level > 2 and t.role == "point"}
    assert {t.point_id.removesuffix("-check") for t in made} == points and len(made) == len(points)
    assert {t.load.connections for t in made} == {2 * plan.trials[0].load.connections}
    assert all(t.knobs["connections"] == str(t.load.connections) for t in made)
    assert results[-1].trial.role == "drift_check"
    assert [t.trial_id for t in grown.trials] == [r.trial.trial_id for r in results]
    assert [r.trial.order for r in results] == list(range(len(results)))
    assert len(results) <= planner_of(plan).bound().trials
    wording(bound_sentence(plan, planner_of(plan).bound()))
    for stopped_after in range(len(results) + 1):
        kept = with_checks(grown, results[:stopped_after])
        held = grown if any(r.trial.role in ("check", "drift_check") for r in kept) or flags else plan
        _, again = ran(held, rate, done=kept)
        assert [r.trial for r in again] == [r.trial for r in results]


def test_a_level_whose_rate_does_not_rise_is_a_point_of_the_curve_and_one_that_rises_lacks_connections(wording):
    plan = planned(cores="1..4", method__replicates="2")
    grown, results = ran(plan, lock())
    assert kinds(grown, [r for r in results if r.trial.role != "check"])[4] is LACKING, "before its check"
    judged_again = with_checks(grown, results)
    assert kinds(grown, results) == {1: VerdictKind.VALID, 2: VerdictKind.VALID, 3: OWN, 4: OWN}
    assert with_checks(grown, judged_again) == judged_again
    observed = observations(judged_again, "rows_per_s")
    assert sum(not o.mark and o.role == "point" for o in observed) == 8
    assert {o.mark for o in observed if o.role == "check"} == {"connections check"}
    assert len(fit_curve(judged_again).points) == 4
    risen = ran(plan, lock(gain=1.3))
    assert kinds(*risen)[4] is LACKING
    for checked in (judged_again, with_checks(*risen)):
        last = next(r.verdict for r in checked if r.trial.level == 4)
        wording(last.reasons[1], last.bottleneck.remedy)
    wording(sentences(grown, results)[0])


@pytest.mark.parametrize(
    ("gain", "noise", "expected"),
    [(1.0, 0.01, True), (1.04, 0.004, True), (1.10, 0.01, False), (2.0, 0.2, False), (1.0, 0.3, None)],
)
def test_the_test_of_a_rise(gain, noise, expected):
    """A rise of less than 5 % is none; what the noise could hide is not said."""
    plan = planned(cores="1..6", method__replicates="3", method__drift_check="off")
    told = [c.is_internal for c in checks(*ran(plan, lock(7, gain, noise)))]
    assert len(told) == 4 and told.count(expected) >= 3


def test_the_noise_of_another_curve_hides_nothing():
    """Like two databases in one run. A report of one of them gives the same answers."""
    vary = ["rows_per_request=100,1000"]
    plan = planned(cores="1..4", method__replicates="3", method__drift_check="off", vary=vary)
    rates = {"100": lock(1, 1.0, 0.01), "1000": lock(2, 1.0, 0.4)}
    grown, results = ran(plan, lambda t: rates[t.variant["rows_per_request"]](t))
    told = checks(grown, results)
    for value, expected in (("100", True), ("1000", None)):
        alone = checks(grown, [r for r in results if r.trial.variant["rows_per_request"] == value])
        assert [check.is_internal for check in alone] == [expected, expected]
        assert set(alone) <= set(told)


@pytest.mark.parametrize(("gain", "expected"), [(1.0, OWN), (1.06, OWN), (1.15, LACKING)])
def test_one_trial_a_level_assumes_a_noise(gain, expected):
    found = ran(planned(cores="1..4", method__replicates="1"), lock(gain=gain, noise=0.0))
    assert kinds(*found)[4] is expected


def test_a_check_that_is_nobodys_number_or_is_turned_off_says_nothing():
    grown, results = ran(planned(cores="1..4", method__replicates="2"), lock())
    for kind in (VerdictKind.GENERATOR_BOUND, VerdictKind.ABORTED, LACKING):
        spoiled = [replace(r, verdict=Verdict(kind=kind)) if r.trial.role == "check" else r for r in results]
        assert kinds(grown, spoiled)[4] is LACKING
        assert kind.value in sentences(grown, spoiled)[0]
    for flags in ({"method__connections_check": "off"}, {"load__rate": "1000"}):
        plan = planned(cores="1..4", method__replicates="2", **flags)
        grown, results = ran(plan, lock())
        assert len(results) == len(plan.trials) and bound_sentence(plan, planner_of(plan).bound()) == ""
        assert kinds(grown, results)[4] is LACKING


@pytest.mark.parametrize(("levels", "count", "first"), [("1..6", 4, (0, 4)), ("1..12", 10, (2, 8))])
def test_a_check_runs_next_to_a_trial_of_its_level_in_the_middle_block(levels, count, first):
    """A seeded draw decides whether the check or its level comes first."""
    plan = planned(cores=levels, method__replicates="3")
    trials = [r.trial for r in ran(plan, lock())[1]]
    made = [at for at, trial in enumerate(trials) if trial.role == "check"]
    assert len(made) == count
    for at in made:
        beside = [t for t in trials[at - 1 : at + 2] if t.role == "point" and t.level == trials[at].level]
        assert beside and {t.block for t in beside} == {trials[at].block} == {2}
    assert first[0] <= sum(trials[at - 1].level == trials[at].level for at in made) <= first[1]


def test_a_level_that_shows_its_limit_in_the_last_block_alone_is_checked_there():
    def late(trial):
        return WAITING if trial.level == 4 and trial.replicate == 3 else FULL

    _, found = ran(planned(cores="1..4", method__replicates="3"), lambda trial: 1e6, verdict_of=late)
    (at,) = (at for at, r in enumerate(found) if r.trial.role == "check")
    assert found[at - 1].trial.trial_id == "cores-4-r3"


@pytest.mark.parametrize("drift", [-0.12, 0.12])
@pytest.mark.parametrize(("gain", "expected"), [(0.0, True), (0.2, False)])
def test_a_machine_that_changes_slowly_does_not_change_the_answer(drift, gain, expected):
    course = Course(what=f"{drift}", logs=line(drift))

    def told(method):
        runs = [method(plan_of(seed, 3), gain, course, 0.01, f"{drift}/{gain}/{seed}") for seed in range(4)]
        return [answer for run in runs for answer in run]

    assert len(told(answers)) == 24
    assert max(22, told(former).count(expected)) <= told(answers).count(expected)


def test_a_block_that_was_slow_as_a_whole_is_no_rise_and_no_fall():
    """In block 2 the machine had half of its speed: the check there is compared with what its level would have had."""
    plan = planned(cores="1..6", method__replicates="3", method__drift_check="off")
    even = lock(noise=0.002)
    found = checks(*ran(plan, lambda t: even(t) * (0.5 if t.block == 2 else 1.0)))
    assert {c.is_internal for c in found} == {True}
    assert all(float(c.sentence.split(" was ")[1].split(" %")[0]) < 1.0 for c in found)


def test_a_run_that_continues_begins_with_the_verdicts_of_its_trials_alone(tmp_path):
    """Later trials may change a check's answer, so that an earlier answer must not stay in a verdict."""
    run = raw_run(tmp_path, shape=Shape(levels=2, replicates=1, seconds=8), report=False)
    answered = replace(run, results=tuple(replace(r, verdict=WAITING) for r in run.results))
    writer = compose.reopen_run(answered, RunLock(Folder(Path(run.path))))
    assert [r.verdict for r in writer.results] == [r.verdict for r in run.results]
