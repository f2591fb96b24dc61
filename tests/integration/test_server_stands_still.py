"""A PostgreSQL that is stopped (SIGSTOP) at any moment of a trial: the trial is ABORTED within a bound, and its reason
names who did not answer what. What was seen of the load until then is kept."""

import json
import signal
import time

import psutil
import pytest

from runner.interrupts import Stop
from runner.model import PhaseEntered, VerdictKind
from runner.trial.run import run_trial
from tests.unit.trial_orders import artifact_of, result_of, trial_order

SILENT_S = 3.0
ENDING_S = 25.0  # PostgreSQL's own: SIGQUIT is not heard, then SIGKILL


def stop_the_server():
    for child in psutil.Process().children(recursive=True):
        if child.name().startswith("postgres"):
            child.send_signal(signal.SIGSTOP)


def run_and_stop_at(order, phase):
    """The trial's events, and how long it went on after the server was stopped."""
    events, stopped_s = [], None
    for event in run_trial(order, Stop()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == phase:
            stop_the_server()
            stopped_s = time.monotonic()
    assert stopped_s is not None
    return events, time.monotonic() - stopped_s


@pytest.fixture(autouse=True)
def shorter(monkeypatch):
    """The same bounds, for somebody who waits."""
    monkeypatch.setattr("runner.trial.asking.SILENT_S", SILENT_S)
    monkeypatch.setattr("runner.trial.asking.LOOK_S", 0.2)
    monkeypatch.setattr("runner.trial.asking.SILENT_BYTES_PER_S", 1e12)  # others write to this disk


@pytest.mark.parametrize(
    ("phase", "question"), [("schema", "CREATE TABLE measurement"), ("flush", "CHECKPOINT"), ("verify", "SELECT coalesce")]
)
def test_a_stopped_server_aborts_the_trial_and_is_named(folder, phase, question):
    events, went_on_s = run_and_stop_at(trial_order(folder, "postgres"), phase)
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert result.verdict.reasons[0].startswith(f"PostgreSQL did not answer {question} within ")
    assert "used no CPU" in result.verdict.reasons[0]
    assert went_on_s < SILENT_S + ENDING_S
    if phase != "schema":
        last = json.loads(artifact_of(events, "loadgen.jsonl").splitlines()[-1])
        assert (last["event"], last["outcome"]) == ("summary", "ok")
        assert result.measurement.rows_acked == last["rows_acked"] > 0


def test_a_question_has_a_limit_also_where_the_server_is_busy(folder, monkeypatch):
    monkeypatch.setattr("runner.trial.asking.SILENT_S", 600.0)
    monkeypatch.setattr("runner.trial.asking.FLUSH_LEAST_S", 2.0)
    monkeypatch.setattr("runner.trial.asking.FLUSH_BYTES_PER_S", 1e12)
    events, went_on_s = run_and_stop_at(trial_order(folder, "postgres"), "flush")
    assert result_of(events).verdict.reasons[0] == "PostgreSQL did not answer CHECKPOINT within 2 s"
    assert went_on_s < 2 + ENDING_S


def test_a_server_that_is_stopped_under_load_ends_the_load_and_its_summary_is_of_the_ended_load(folder, monkeypatch):
    monkeypatch.setattr("runner.trial.loading.DRAIN_S", 3.0)
    events, went_on_s = run_and_stop_at(trial_order(folder, "postgres", load__duration="2s"), "measure")
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert went_on_s < 90
    assert json.loads(artifact_of(events, "facts.json"))["sampler_cost"]["ticks"] >= 2
