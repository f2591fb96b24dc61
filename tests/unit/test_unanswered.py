"""Methods without answers: the plan says it, rows are those of the count, and the number carries the word."""

from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.measurement import measurement
from scale_sweep.judge.figures.outcome import evidence
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.model.derived import marks
from scale_sweep.model.loads import Counted
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_facts, load_target
from tests.unit.evidences import evidence_of
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_loadgen import summary
from tests.unit.test_plan import make_host

SENT = summary([1000], is_answered=False)  # 1200 rows in all, 1000 in a window of 10 s


def judged(counted, **more):
    """The figures and the verdict of a trial whose database counted so many rows."""
    said = replace(SENT, **more)
    facts = TrialFacts(summary=said, counted=counted, load_start_ns=0, measure_start_ns=0, flush_end_ns=12 * 10**9)
    trial = make_trial()
    m = measurement(trial, facts)
    return m, diagnose(evidence(trial, facts, m), load_axis("cores"))


def test_rows_are_those_that_the_database_counted_and_only_rows_that_were_not_sent_are_denied():
    m, verdict = judged(Counted(rows=900))
    assert (m.rows_sent, m.rows_acked, m.rows_counted) == (1200, None, 900)
    assert (m.rows, m.rows_per_s, m.durable_rows_per_s) == (750, 75.0, 75.0)
    assert "unacknowledged" in marks(TrialResult(trial=make_trial(), measurement=m, verdict=verdict))
    m, verdict = judged(Counted(rows=1200), is_answered=True)
    assert "unacknowledged" not in marks(TrialResult(trial=make_trial(), measurement=m, verdict=verdict))
    m, verdict = judged(Counted(rows=0))
    assert (m.rows, m.rows_per_s, verdict.kind) == (0, 0.0, VerdictKind.ERRORS)
    for rows, is_lost in ((1200, False), (900, False), (1201, True)):
        _, verdict = judged(Counted(rows=rows, gaps=("2 devices lack rows",) if rows < 1200 else ()))
        assert (verdict.kind is VerdictKind.LOST_ROWS) is is_lost
        assert any("1,200" in reason and f"{rows:,}" in reason for reason in verdict.reasons)
    lost = judged(Counted(rows=900), is_answered=True)[1]
    assert lost.kind is VerdictKind.LOST_ROWS, "rows that were acknowledged must be there"


@pytest.mark.parametrize("name", ["questdb", "victoriametrics", "kairosdb"])
def test_the_plan_says_what_is_missing_and_lines_without_milliseconds_are_refused_where_rows_are_closer(name):
    facts = load_facts(name)
    assert set(facts.unanswered) < set(facts.methods)
    assert facts.methods[0] not in facts.unanswered
    for method in facts.methods:
        sweep = replace(make_sweep(load__method=method), target=name, runtime="process")
        notes = make_plan(complete(sweep, facts), make_host(), facts).notes
        assert any(note.startswith(f"{name}: the method {method} ") for note in notes) is (method in facts.unanswered)
    target = load_target("victoriametrics")
    for step_ms, remedies in (("10", ["--step-ms 1000"]), ("1000", [])):
        trial = make_trial(make_sweep(load__method="telnet", workload__step_ms=step_ms))
        trial = replace(trial, subject=replace(trial.subject, target="victoriametrics", method="telnet"))
        findings = target.check(trial, None)
        assert [finding.remedy for finding in findings] == remedies
        assert all(finding.blocking for finding in findings)


def test_a_window_too_short_to_tell_a_steady_rate_is_that_of_the_networks_buffers(wording):
    def of(m):
        return diagnose(evidence_of(make_trial(), m), load_axis("cores"))

    short = replace(judged(Counted(rows=1200))[0], server_cpu_cores=1.0, server_cpu_percent=100.0)
    assert short.rate_drift_percent is None
    assert of(short).kind is VerdictKind.UNSTEADY
    wording(of(short).reasons[0])
    assert of(replace(short, rows_sent=None)).kind is VerdictKind.VALID
    steady = replace(short, rate_drift_percent=0.1, rate_drift_error_percent=0.1, rate_cv_percent=1.0)
    assert of(steady).kind is VerdictKind.VALID


@pytest.mark.parametrize(
    ("rows", "kind"), [(1200, "ERRORS"), (1210, "ERRORS"), (1211, "LOST_ROWS"), (1199, "LOST_ROWS")]
)
@pytest.mark.parametrize("has_parts", [True, False])
def test_a_failed_request_may_be_stored_in_part_where_requests_are_no_transactions(rows, kind, has_parts):
    counted = Counted(rows=rows, gaps=("1 device lacks rows",), has_parts=has_parts)
    failed = {"rows_failed": 7, "rows_unanswered": 3, "errors": 1}
    verdict = judged(counted, is_answered=True, **failed)[1]
    assert verdict.kind is VerdictKind(kind if has_parts else "LOST_ROWS")
    assert judged(replace(counted, rows=1200), is_answered=True)[1].kind is VerdictKind.LOST_ROWS, "no request failed"
    if rows >= 1210:
        assert judged(Counted(rows=rows), **failed)[1].kind is VerdictKind(kind)
