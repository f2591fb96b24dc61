"""An open loop answers for response times: it makes no curve, and a backlog that grows was never worked off."""

import math
import statistics
from dataclasses import replace

import pytest

from scale_sweep.base.units import with_interval
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.resource_use import backlog_growth
from scale_sweep.judge.figures.taken import lateness, paused_s
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, Lateness, ResourceUse, TakenCpus, TrialResources
from scale_sweep.judge.verdict.rules.machine import acceptable_ms
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Measurement, Verdict, VerdictKind
from scale_sweep.model.planned import Plan
from scale_sweep.report.documents import documents
from scale_sweep.report.offered_rates import interval_of, response_table
from scale_sweep.report.table import ABSENT
from tests.unit.factories import as_rated, make_interval, make_result, make_sweep, make_trial
from tests.unit.test_loadgen import latency, summary

CORES = load_axis("cores")
GIVEN = TrialResources(cores=1.0, quota=False, generator_cpus=1, shared_cpus=(), threads=8, offered_per_s=20e3)
MET = ResourceUse(
    rate_per_s=20e3, server_cpu_cores=0.1, generator_cpu_cores=0.1, other_cpu_cores=0.0, throttled=0.0, in_flight=0.1
)
GOOD = Measurement(rows=10, window_s=10.0, rows_per_s=20e3)


LATE = Lateness(percentile="p99", late_ms=7.0, of_ms=28.0, has_objective=False)
# Of 2,000 requests of 100 rows in 10 s, 134 fewer are three standard deviations of random times.
FEWER, RANDOM = {"rate_per_s": 19e3, "seconds": 10.0}, {"random_units": 100}
IS_MET, NOT_MET, PAUSED = "VALID OFFERED_RATE", "OFFERED_NOT_MET", "GENERATOR_BOUND GENERATOR_LATE"


def taken(others, stolen=0.0, whose="the server's"):
    return {"taken": (TakenCpus(whose=whose, cpus=1, others=others, stolen=stolen),)}


def judged(use, given):
    resources = replace(GIVEN, **given)
    return diagnose(Evidence(resources=resources, measurement=GOOD, window=replace(MET, **use)), CORES)


@pytest.mark.parametrize(
    ("use", "given", "kinds"),
    [
        ({}, {}, IS_MET),
        ({"backlog_per_s": 50.0}, {}, IS_MET),
        (FEWER, {}, NOT_MET),  # at constant intervals there are as many as were offered
        (FEWER, RANDOM, IS_MET),
        ({**FEWER, "rate_per_s": 18e3}, RANDOM, NOT_MET),
        ({**FEWER, "backlog_per_s": 500.0}, RANDOM, NOT_MET),
        ({"throttled": 0.2}, {}, "THROTTLED THROTTLING"),
        ({}, {"ceiling_per_s": 21e3}, "GENERATOR_BOUND GENERATOR_CEILING"),
        ({}, {"ceiling_per_s": 200e3}, IS_MET),
        (taken(0.05), {}, IS_MET),
        (taken(0.42), {}, "RESOURCE_NOT_SATURATED OTHER_PROCESSES"),
        (taken(0.02, 0.04), {}, "RESOURCE_NOT_SATURATED HYPERVISOR"),
        ({**taken(0.42), "rate_per_s": 10e3}, {}, NOT_MET),  # others matter to a rate that was met only
        ({"generator_cpu_cores": 0.86}, {}, "GENERATOR_BOUND GENERATOR_CPU"),
        ({"late": (LATE,)}, {}, "GENERATOR_BOUND GENERATOR_LATE"),
        ({"late": (replace(LATE, late_ms=2.8),)}, {}, IS_MET),
        ({"paused_s": 3.0}, {}, PAUSED),
        ({"paused_s": 3.0, "stalled_s": 3.0, "rate_per_s": 14e3, "backlog_per_s": 500.0, "seconds": 10.0}, {}, PAUSED),
        ({"paused_s": 3.0}, {"offered_per_s": None}, PAUSED),
        ({"paused_s": 0.9, "rate_per_s": 14e3}, {}, NOT_MET),
        ({"paused_s": 1.5, "seconds": 600.0}, {}, IS_MET),
        ({"paused_s": 0.01, "stalled_s": 3.0, "rate_per_s": 14e3, "seconds": 10.0}, {}, f"{NOT_MET} STALL"),
    ],
)
def test_a_rate_that_was_offered_is_judged(use, given, kinds):
    verdict = judged(use, given)
    assert f"{verdict.kind.value} {verdict.bottleneck.kind.value}".startswith(kinds)


def test_a_verdict_on_an_offered_rate_says_whose_the_response_times_are(wording):
    hypervisor = taken(0.02, 0.04, "the load generator's")
    growing, stopped = {"rate_per_s": 0.981 * 20e3, "backlog_per_s": 380.0}, {"paused_s": 3.0, "rate_per_s": 14e3}
    for use in (taken(0.42), hypervisor, {"late": (LATE,)}, growing, stopped):
        wording(judged(use, {}).reasons[0])


@pytest.mark.parametrize(
    ("late_us", "response_us", "limit_ms"), [(400.0, 2_000.0, 1.0), (400.0, 30_000.0, 3.0), (None, None, None)]
)
def test_lateness_stands_beside_the_response_time(late_us, response_us, limit_ms):
    late, response = replace(latency([1]), p99_us=late_us), replace(latency([1]), p99_us=response_us)
    found = lateness(make_trial(make_sweep()), summary([1], late=late, response=response))
    assert [(one.percentile, acceptable_ms(one)) for one in found] == ([("p99", limit_ms)] if limit_ms else [])
    assert lateness(make_trial(make_sweep()), summary([1])) == ()


@pytest.mark.parametrize(
    ("ends_s", "late_us", "seconds"),
    [
        ((1, 2, 3, 4, 5, 6), 20.0, 0.0),  # also where the server stands still
        ((1, 2, 3, 4, 8, 9), 20.0, 3.0),  # each worker had a request in flight when all were stopped
        ((1, 2, 3, 4, 8, 9), 3_000_000.0, 3.0),
        ((1, 2, 3, 4, 5, 6), 3_000_000.0, 3.0),  # the workers alone had no CPU
        ((1, 5, 6, 7, 8, 9), None, 0.0),  # before the window, in a closed loop
        ((), None, 0.0),
    ],
)
def test_a_load_generator_that_did_not_run_is_told_from_a_server_that_stood_still(ends_s, late_us, seconds):
    late = replace(latency([1]), max_us=late_us) if late_us else None
    told = summary([1], late=late, window_start_ns=5 * 10**9, window_end_ns=9 * 10**9)
    reports = [make_interval(t_s=float(end)) for end in ends_s]
    assert paused_s(reports, told) == pytest.approx(seconds, abs=0.01)


def intervals(backlog):
    plain = {"rows": 1, "rows_total": 1, "requests": 1}
    return as_rated(
        make_interval(t_s=float(at), backlog_rows=rows, **plain) for at, rows in enumerate(backlog, start=1)
    )


@pytest.mark.parametrize("backlog", [[500] * 12, [0, 900, 0, 0, 0, 0, 0, 0, 0, 800, 700, 0], [None] * 12, [5, 9], []])
def test_a_backlog_that_grows_is_told_from_one_that_comes_and_goes(backlog):
    assert backlog_growth(intervals([380 * i for i in range(1, 13)])) == pytest.approx(380)
    assert backlog_growth(intervals(backlog)) is None


def make_run(kinds):
    sweep = make_sweep(cores="1..2", load__rate="20000")
    response = {"response_ms_p50": 1.5, "response_ms_p95": 2.0, "response_ms_p99": 3.25, "response_ms_max": 9.0}
    m = replace(GOOD, **response, service_ms_p50=1.0, service_ms_p99=1.25, late_ms_p99=0.05)
    verdict = Verdict(
        kind=VerdictKind.VALID, bottleneck=Bottleneck(kind=BottleneckKind.OFFERED_RATE, sentence="offered")
    )
    results = []
    for level, kind in kinds.items():
        trial = make_trial(sweep, level=level, trial_id=f"cores-{level:g}-r1")
        results.append(replace(make_result(level), trial=trial, measurement=m, verdict=replace(verdict, kind=kind)))
    plan = Plan(sweep=sweep, trials=tuple(r.trial for r in results), confounds=(), notes=(), seconds_estimated=1.0)
    return StoredRun(path="results/x", manifest={}, plan=plan, results=tuple(results), timeseries={})


def test_the_report_says_the_response_times_and_no_curve(wording):
    run = make_run({1.0: VerdictKind.VALID, 2.0: VerdictKind.OFFERED_NOT_MET})
    made = documents(run)
    fit = made.fits["fit.json"]
    wording(fit.sentence)
    assert (fit.points, fit.chosen, fit.verdict) == ((), None, "undecided")
    assert fit.sentence in made.pages["report.md"]
    assert "## Response times" in made.pages["report.md"] and "<h3>Response times</h3>" in made.pages["report.html"]
    rows = response_table(run).rows
    times = ("1.50 / 1.00", f"2.00 / {ABSENT}", "3.25 / 1.25", f"{ABSENT} / {ABSENT}", f"9.00 / {ABSENT}", "0.0500")
    assert rows[0] == ("1", "20 k", "20 k", *times, "1 VALID (short window)")
    assert rows[1][0] == "2 †"


def test_the_p99_has_an_interval_by_replicates_only_and_a_closed_loop_no_table():
    run = make_run({1.0: VerdictKind.VALID})
    (one,) = run.results

    def cell(values, **others):
        made = [replace(one, measurement=replace(one.measurement, response_ms_p99=v, **others)) for v in values]
        return response_table(replace(run, results=tuple(made))).rows[0][5]

    assert cell([3.0]) == "3.00 / 1.25", "one trial knows nothing of the next"
    low, high = interval_of([3.0, 3.3, 3.6])
    factor = math.exp(4.3027 * statistics.stdev(map(math.log, (3.0, 3.3, 3.6))) / math.sqrt(3))
    assert (high / low) ** 0.5 == pytest.approx(factor, rel=1e-4)
    assert cell([3.0, 3.3, 3.6]) == f"{with_interval((low * high) ** 0.5, low, high)} / 1.25"
    assert cell([3.0, 3.3, 3.6], server_cpu_percent=75.0) == "3.30 / 1.25"
    assert cell([3.0, 3.3, 3.6], response_ms_p50=4.0) == "3.30 / 1.25"
    closed = replace(run, plan=replace(run.plan, sweep=make_sweep()))
    assert response_table(closed).rows == ()
    assert "Response times" not in documents(closed).pages["report.md"]
