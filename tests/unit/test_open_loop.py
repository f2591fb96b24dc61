"""An open loop answers for response times: it makes no curve, and a backlog that grows was never worked off."""

from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.resource_use import backlog_growth
from scale_sweep.judge.verdict import Evidence, ResourceUse, TrialResources, diagnose
from scale_sweep.model import Bottleneck, BottleneckKind, Measurement, Plan, StoredRun, Verdict, VerdictKind
from scale_sweep.report.documents import documents
from scale_sweep.report.open_loop import response_table
from tests.unit.factories import as_rated, make_interval, make_result, make_sweep, make_trial

CORES = load_axis("cores")
GIVEN = TrialResources(cores=1.0, quota=False, generator_cpus=1, shared_cpus=(), threads=8, offered_per_s=20e3)
MET = ResourceUse(rate_per_s=20e3, server_cores=0.1, generator_cores=0.1, other_cores=0.0, throttled=0.0, in_flight=0.1)
GOOD = Measurement(rows=10, window_s=10.0, rows_per_s=20e3)


def judged(use=MET, **given):
    verdict = diagnose(Evidence(resources=replace(GIVEN, **given), measurement=GOOD, window=use), CORES)
    return f"{verdict.kind.value} {verdict.bottleneck.kind.value}", verdict.reasons[0]


def test_what_was_offered_and_achieved_stands():
    assert judged()[0] == "VALID OFFERED_RATE"


def test_throttling_and_the_generators_ceiling_are_judged_too():
    assert judged(replace(MET, throttled=0.2))[0] == "THROTTLED THROTTLING"
    assert judged(ceiling_per_s=21e3)[0] == "GENERATOR_BOUND GENERATOR_CEILING"
    assert judged(ceiling_per_s=200e3)[0] == "VALID OFFERED_RATE"


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
    m = replace(GOOD, response_ms_p50=1.5, response_ms_p95=2.0, response_ms_p99=3.25, response_ms_max=9.0)
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
        "Open loop at 20 k rows/s: no scaling curve. Response times: p50 1.50 ms, p99 3.25 ms at 1 core; not achieved "
        "at 2 cores"
    )
    fit = made.fits["fit.json"]
    assert fit.sentence == sentence
    assert (fit.points, fit.chosen, fit.verdict) == ((), None, "undecided")
    assert sentence in made.pages["report.md"]
    assert "## Response times" in made.pages["report.md"] and "<h2>Response times</h2>" in made.pages["report.html"]
    rows = response_table(make_run({1.0: VerdictKind.VALID, 2.0: VerdictKind.OFFERED_NOT_MET})).rows
    assert rows[0] == ("1", "20,000", "20,000", "1.50", "2.00", "3.25", "9.00", "1 VALID")
    assert rows[1][0] == "2 †"


def test_a_closed_loop_has_no_such_table():
    run = make_run({1.0: VerdictKind.VALID})
    closed = replace(run, plan=replace(run.plan, sweep=make_sweep()))
    assert response_table(closed).rows == ()
    assert "Response times" not in documents(closed).pages["report.md"]
