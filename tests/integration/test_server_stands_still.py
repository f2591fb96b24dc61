"""A PostgreSQL that is stopped (SIGSTOP) at any moment of a trial: the trial is ABORTED within a bound, and its reason
names who did not answer what. What was seen of the load until then is kept."""

import json
import re
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import IntervalSeen, PhaseEntered
from scale_sweep.model.measured import BottleneckKind, VerdictKind
from scale_sweep.report.bottlenecks import _remedy
from scale_sweep.server.targets.postgres.postgres_target import PostgresTarget
from tests.unit.trial_orders import artifact_of, result_of, trial_order

SILENT_S = 5.0
ENDING_S = 60.0  # SIGQUIT is not heard, then SIGKILL


def signal_all(name, what):
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.name().startswith(name):
                child.send_signal(what)


def stop_for(seconds, name="postgres"):
    """It goes on then, so that nobody has to wait until it is killed."""
    signal_all(name, signal.SIGSTOP)
    threading.Timer(seconds, signal_all, (name, signal.SIGCONT)).start()


def run_and_stop_at(order, phase, on_again_s=0.0):
    """The trial's events, and how long it went on after the server was stopped. on_again_s: when the server goes on."""
    events, stopped_s = [], None
    for event in run_trial(order, Stop()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == phase:
            signal_all("postgres", signal.SIGSTOP)
            stopped_s = time.monotonic()
            if on_again_s:
                threading.Timer(on_again_s, signal_all, ("postgres", signal.SIGCONT)).start()
    assert stopped_s is not None
    return events, time.monotonic() - stopped_s


@pytest.fixture(autouse=True)
def shorter(monkeypatch):
    """The same bounds, for somebody who waits. A stopped server hears no SIGQUIT, so its time to end passes in vain."""
    server = PostgresTarget.server
    monkeypatch.setattr(PostgresTarget, "server", lambda *args: replace(server(*args), stop_timeout_s=3.0))
    monkeypatch.setattr("scale_sweep.measure.trial.waiting.SILENT_S", SILENT_S)
    monkeypatch.setattr("scale_sweep.measure.trial.waiting.WORK_LOOK_S", 0.2)
    monkeypatch.setattr("scale_sweep.measure.trial.waiting.SILENT_BYTES_PER_S", 1e12)  # others write to this disk
    monkeypatch.setattr("scale_sweep.measure.trial.loading.COMMITS_S", 1.0)


def aborted(events, begin):
    """The result of an ABORTED trial whose first reason begins so, and the last line of its load."""
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert re.match(begin, result.verdict.reasons[0]), result.verdict.reasons
    return result, json.loads((artifact_of(events, "loadgen.jsonl").splitlines() or ["{}"])[-1])


@pytest.mark.parametrize(
    ("phase", "question"),
    [("schema", "CREATE TABLE measurement"), ("flush", "CHECKPOINT"), ("verify", "SELECT coalesce")],
)
def test_a_stopped_server_aborts_the_trial_and_is_named(folder, phase, question):
    events, went_on_s = run_and_stop_at(trial_order(folder, "postgres"), phase)
    reason = result_of(events).verdict.reasons[0]
    assert reason.startswith(f"PostgreSQL did not answer {question} within ") and "used no CPU" in reason
    assert result_of(events).verdict.kind is VerdictKind.ABORTED
    assert went_on_s < SILENT_S + ENDING_S
    if phase != "schema":
        result, last = aborted(events, "")
        assert (last["event"], last["outcome"]) == ("summary", "ok")
        assert result.measurement.rows_acked == last["rows_acked"] > 0


def test_a_question_has_a_limit_also_where_the_server_is_busy(folder, monkeypatch):
    monkeypatch.setattr("scale_sweep.measure.trial.waiting.SILENT_S", 600.0)
    monkeypatch.setattr("scale_sweep.measure.trial.waiting.FLUSH_LEAST_S", 2.0)
    monkeypatch.setattr("scale_sweep.measure.trial.waiting.FLUSH_BYTES_PER_S", 1e12)
    events, went_on_s = run_and_stop_at(trial_order(folder, "postgres"), "flush")
    assert result_of(events).verdict.reasons[0] == "PostgreSQL did not answer CHECKPOINT within 2 s"
    assert went_on_s < 2 + ENDING_S


def test_a_server_that_is_stopped_under_load_ends_the_load_and_its_summary_is_of_the_ended_load(folder, monkeypatch):
    monkeypatch.setattr("scale_sweep.measure.trial.loading.limit_s", lambda trial: 6.0)
    monkeypatch.setattr("scale_sweep.loadgen.process.STOP_S", 2.0)
    settings = {"load__duration": "2s", "load__drain": "60s", "load__request_timeout": "0"}
    events, went_on_s = run_and_stop_at(trial_order(folder, "postgres", **settings), "measure", 12.0)
    _, summary = aborted(events, "the load generator did not end within 6 s")
    assert went_on_s < 6 + ENDING_S
    assert json.loads(artifact_of(events, "facts.json"))["sampler_cost"]["ticks"] >= 2
    assert (summary["event"], summary["outcome"]) == ("summary", "interrupted")
    assert summary["rows_unanswered"] > 0


@pytest.mark.parametrize(
    ("settings", "waits_s", "words"),
    [
        ({"load__duration": "200s", "load__request_timeout": "2s"}, 2.0, "no answer by the deadline of the request"),
        ({"load__duration": "2s", "load__drain": "1s", "load__request_timeout": "0"}, 3.0, "by the end of the drain"),
    ],
    ids=["in-the-window", "at-its-end"],
)
def test_requests_of_a_stopped_server_have_a_time_and_the_reason_names_it(folder, settings, waits_s, words):
    events, went_on_s = run_and_stop_at(trial_order(folder, "postgres", **settings), "measure", waits_s + 5)
    _, summary = aborted(events, f"PostgreSQL did not answer the load generator in time: .*{words}")
    assert went_on_s < waits_s + ENDING_S
    assert (summary["event"], summary["outcome"]) == ("summary", "fatal")
    assert summary["rows_unanswered"] > 0


def test_a_load_generator_that_is_stopped_aborts_the_trial_and_is_named_itself(folder, monkeypatch):
    monkeypatch.setattr("scale_sweep.loadgen.remote.STOPPED_S", 2.0)
    events, stopped_s = [], 0.0
    for event in run_trial(trial_order(folder, "postgres", load__duration="4s"), Stop()):
        events.append(event)
        if isinstance(event, IntervalSeen) and not stopped_s:
            signal_all("scale-loadgen", signal.SIGSTOP)
            stopped_s = time.monotonic()
    aborted(events, r"the load generator did not run: its process \d+ has been stopped for 2 s")
    assert time.monotonic() - stopped_s < 2.0 + ENDING_S


def test_a_load_that_is_told_to_end_in_the_middle_aborts_the_trial_and_keeps_its_true_rate(folder):
    """The server stands still for two seconds before: a window that ended with the last answer would hide them."""
    events, measuring_s = [], None
    for event in run_trial(trial_order(folder, "postgres", load__duration="200s"), Stop()):
        events.append(event)
        if isinstance(event, IntervalSeen) and event.interval.phase == "measure" and measuring_s is None:
            measuring_s = time.monotonic()
            stop_for(2.5)
            threading.Timer(2.0, signal_all, ("scale-loadgen", signal.SIGTERM)).start()
    result, summary = aborted(events, "the load was interrupted from outside, ")
    assert (summary["event"], summary["outcome"], summary["rows_unanswered"]) == ("summary", "interrupted", 0)
    assert 2.9 < summary["window_s"] < 60
    assert summary["rows_per_s"] == pytest.approx(summary["rows_window"] / summary["window_s"])
    assert result.measurement.rows_per_s == pytest.approx(summary["rows_per_s"])


@pytest.mark.alone  # what is measured after it goes on: beside other work it gets too little CPU
@pytest.mark.parametrize(("name", "rate"), [("postgres", "0"), ("scale-loadgen", "2000"), ("scale-loadgen", "0")])
def test_who_stood_still_in_the_window_is_named(folder, name, rate):
    """Two seconds into the window, for three seconds of eight."""
    settings = {"load__duration": "8s", "load__request_timeout": "0", "load__rate": rate}
    events = []
    for event in run_trial(trial_order(folder, "postgres", **settings), Stop()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == "measure":
            threading.Timer(2.0, stop_for, (3.0, name)).start()
    verdict = result_of(events).verdict
    is_server = name == "postgres"
    assert verdict.bottleneck.kind is (BottleneckKind.STALL if is_server else BottleneckKind.GENERATOR_LATE)
    assert not verdict.kind.is_fitted and (is_server or verdict.kind is VerdictKind.GENERATOR_BOUND)
    words = r"no row was acknowledged for ([\d.]+) s: the server's threads did not run"
    words = words if is_server else r"the load generator itself did not run for ([\d.]+) s"
    told = re.search(words, verdict.bottleneck.sentence)
    assert told, verdict.reasons
    assert float(told[1]) > 2.5, "longer where others leave it no CPU afterwards"
    remedy = _remedy(result_of(events))
    assert is_server or ("SIGSTOP" in remedy and "--rate" not in remedy), remedy
