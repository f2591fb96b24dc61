"""An open loop answers for response times: it makes no curve, and a backlog that grows was never worked off."""

import math
import statistics
from dataclasses import replace

import pytest

from scale_sweep.base.units import with_interval
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.disturbed import lateness
from scale_sweep.judge.figures.resource_use import backlog_growth
from scale_sweep.judge.verdict import Evidence, Lateness, ResourceUse, TakenCpus, TrialResources, diagnose
from scale_sweep.judge.verdict.rules.response_times import acceptable_ms
from scale_sweep.model import Bottleneck, BottleneckKind, Measurement, Plan, StoredRun, Verdict, VerdictKind
from scale_sweep.report.documents import documents
from scale_sweep.report.open_loop import interval_of, response_table
from scale_sweep.report.table import ABSENT
from tests.unit.factories import as_rated, make_interval, make_result, make_sweep, make_trial
from tests.unit.test_loadgen import latency, summary

CORES = load_axis("cores")
GIVEN = TrialResources(cores=1.0, quota=False, generator_cpus=1, shared_cpus=(), threads=8, offered_per_s=20e3)
MET = ResourceUse(rate_per_s=20e3, server_cores=0.1, generator_cores=0.1, other_cores=0.0, throttled=0.0, in_flight=0.1)
GOOD = Measurement(rows=10, window_s=10.0, rows_per_s=20e3)


def judged(use=MET, **given):
    verdict = diagnose(Evidence(resources=replace(GIVEN, **given), measurement=GOOD, window=use), CORES)
    return f"{verdict.kind.value} {verdict.bottleneck.kind.value}", verdict.reasons[0]


def test_what_was_offered_and_achieved_stands():
    assert judged()[0] == "VALID OFFERED_RATE"


def test_fewer_requests_at_random_times_are_chance():
    """Of 2,000 requests of 100 rows in 10 s, 134 fewer are three standard deviations. A backlog that grows is none."""
    fewer = replace(MET, rate_per_s=19e3, seconds=10.0)
    assert judged(fewer)[0].startswith("OFFERED_NOT_MET"), "at constant intervals there are as many as were offered"
    assert judged(fewer, random_units=100)[0] == "VALID OFFERED_RATE"
    assert judged(replace(fewer, rate_per_s=18e3), random_units=100)[0].startswith("OFFERED_NOT_MET")
    assert judged(replace(fewer, backlog_per_s=500.0), random_units=100)[0].startswith("OFFERED_NOT_MET")


def test_throttling_and_the_generators_ceiling_are_judged_too():
    assert judged(replace(MET, throttled=0.2))[0] == "THROTTLED THROTTLING"
    assert judged(ceiling_per_s=21e3)[0] == "GENERATOR_BOUND GENERATOR_CEILING"
    assert judged(ceiling_per_s=200e3)[0] == "VALID OFFERED_RATE"


def took(others=0.0, stolen=0.0, whose="the server's"):
    return replace(MET, taken=(TakenCpus(whose=whose, cpus=1, others=others, stolen=stolen),))


def test_others_on_the_cpus_of_server_or_load_generator_make_the_times_theirs():
    assert judged(took(others=0.05))[0] == "VALID OFFERED_RATE"
    kinds, reason = judged(took(others=0.42))
    assert kinds == "RESOURCE_NOT_SATURATED OTHER_PROCESSES"
    assert reason == "the response times are not the server's alone: other processes took 42 % of the server's 1 CPU"
    kinds, reason = judged(took(others=0.02, stolen=0.04, whose="the load generator's"))
    assert kinds == "RESOURCE_NOT_SATURATED HYPERVISOR"
    assert reason.endswith(": the hypervisor took 4 % and other processes 2 % of the load generator's 1 CPU")


def test_others_matter_to_a_rate_that_was_met_only():
    crowded = replace(took(others=0.42), rate_per_s=10e3)
    assert judged(crowded)[0].startswith("OFFERED_NOT_MET")


def test_a_load_generator_without_idle_time_delays_requests():
    assert judged(replace(MET, generator_cores=0.86))[0] == "GENERATOR_BOUND GENERATOR_CPU"


def test_the_load_generators_own_lateness_is_judged():
    late = Lateness(percentile="p99", late_ms=7.0, of_ms=28.0, has_objective=False)
    kinds, reason = judged(replace(MET, late=(late,)))
    assert kinds == "GENERATOR_BOUND GENERATOR_LATE"
    assert reason == (
        "the response times are not the server's alone: the load generator itself delayed requests by 7 ms at p99, "
        "acceptable are 2.8 ms"
    )
    assert judged(replace(MET, late=(replace(late, late_ms=2.8),)))[0] == "VALID OFFERED_RATE"


@pytest.mark.parametrize(
    ("late_us", "response_us", "limit_ms"), [(400.0, 2_000.0, 1.0), (400.0, 30_000.0, 3.0), (None, None, None)]
)
def test_lateness_stands_beside_the_response_time(late_us, response_us, limit_ms):
    late, response = replace(latency([1]), p99_us=late_us), replace(latency([1]), p99_us=response_us)
    found = lateness(make_trial(make_sweep()), summary([1], late=late, response=response))
    assert [(one.percentile, acceptable_ms(one)) for one in found] == ([("p99", limit_ms)] if limit_ms else [])
    assert lateness(make_trial(make_sweep()), summary([1])) == ()


def intervals(backlog):
    recorded = [
        make_interval(t_s=float(i + 1), rows=1, rows_total=1, requests=1, backlog_rows=rows)
        for i, rows in enumerate(backlog)
    ]
    return as_rated(recorded)


def test_a_backlog_that_grows_is_not_met_at_98_percent():
    growth = backlog_growth(intervals([380 * i for i in range(1, 13)]))
    assert growth == pytest.approx(380)
    kinds, reason = judged(replace(MET, rate_per_s=0.981 * 20e3, backlog_per_s=growth))
    assert kinds.startswith("OFFERED_NOT_MET")
    assert reason == "20 k rows/s offered, 19.6 k achieved, and the backlog grew by 380 rows/s"


@pytest.mark.parametrize("backlog", [[500] * 12, [0, 900, 0, 0, 0, 0, 0, 0, 0, 800, 700, 0], [None] * 12, [5, 9], []])
def test_a_backlog_that_comes_and_goes_is_no_growth(backlog):
    assert backlog_growth(intervals(backlog)) is None


def test_a_slow_rise_within_the_offered_rate_is_none():
    assert judged(replace(MET, backlog_per_s=50.0))[0] == "VALID OFFERED_RATE"


def make_run(kinds):
    sweep = make_sweep(cores="1..2", load__rate="20000")
    response = {"response_ms_p50": 1.5, "response_ms_p95": 2.0, "response_ms_p99": 3.25, "response_ms_max": 9.0}
    m = replace(GOOD, **response, service_ms_p50=1.0, service_ms_p99=1.25, late_ms_p99=0.05)
    verdict = Verdict(
        kind=VerdictKind.VALID, bottleneck=Bottleneck(kind=BottleneckKind.OFFERED_RATE, sentence="offered")
    )
    results = tuple(
        replace(
            make_result(level),
            trial=make_trial(sweep, level=level, trial_id=f"cores-{level:g}-r1"),
            measurement=m,
            verdict=replace(verdict, kind=kind),
        )
        for level, kind in kinds.items()
    )
    plan = Plan(sweep=sweep, trials=tuple(r.trial for r in results), confounds=(), notes=(), seconds_estimated=1.0)
    return StoredRun(path="results/x", manifest={}, plan=plan, results=results, timeseries={})


def test_the_report_says_the_response_times_and_no_curve():
    made = documents(make_run({1.0: VerdictKind.VALID, 2.0: VerdictKind.OFFERED_NOT_MET}))
    sentence = (
        "Open loop at 20 k rows/s: no scaling curve. Response times: p50 1.50 ms, p99 3.25 ms (service time 1.25 ms) at 1 core; not achieved "
        "at 2 cores"
    )
    fit = made.fits["fit.json"]
    assert fit.sentence == sentence
    assert (fit.points, fit.chosen, fit.verdict) == ((), None, "undecided")
    assert sentence in made.pages["report.md"]
    assert "## Response times" in made.pages["report.md"] and "<h3>Response times</h3>" in made.pages["report.html"]
    rows = response_table(make_run({1.0: VerdictKind.VALID, 2.0: VerdictKind.OFFERED_NOT_MET})).rows
    times = ("1.50 / 1.00", f"2.00 / {ABSENT}", "3.25 / 1.25", f"{ABSENT} / {ABSENT}", f"9.00 / {ABSENT}", "0.0500")
    assert rows[0] == ("1", "20,000", "20,000", *times, "1 VALID (short window)")
    assert rows[1][0] == "2 †"


def test_the_p99_has_an_interval_by_replicates_only_and_none_near_saturation():
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


def test_a_closed_loop_has_no_such_table():
    run = make_run({1.0: VerdictKind.VALID})
    closed = replace(run, plan=replace(run.plan, sweep=make_sweep()))
    assert response_table(closed).rows == ()
    assert "Response times" not in documents(closed).pages["report.md"]
