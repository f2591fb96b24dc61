"""Orders of trials on a real PostgreSQL, carried out in any thread and in another process; what they leave when a thread
ends, when its server dies, and when the runner is killed."""

import json
import os
import signal
import subprocess
import sys
import threading

import psutil

from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import PhaseEntered, VerdictKind
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from tests.integration.cli import waited_for
from tests.integration.leftovers import records_in
from tests.processes import lives
from tests.unit import trial_orders as orders

HELD = """
import sys, threading, time
from pathlib import Path
from scale_sweep.base.interrupts import Stop
from scale_sweep.model import PhaseEntered
from scale_sweep.measure.trial.run import run_trial
from tests.unit.trial_orders import trial_order
events = []
def work():
    for event in run_trial(trial_order(Path(sys.argv[1]), "postgres", load__duration="60s"), Stop()):
        if isinstance(event, PhaseEntered):
            print(event.phase, flush=True)
threading.Thread(target=work, daemon=True).start()
time.sleep(120)
"""


def test_the_same_events_in_a_thread_and_in_another_process(folder):
    order = orders.trial_order(folder, "postgres")
    told = orders.story(orders.here(order))
    assert told[-1] == "TrialFinished"
    for carry_out in (orders.in_a_thread, orders.in_a_process):
        events = carry_out(order)
        assert orders.story(events) == told
        result = orders.result_of(events)
        assert result.measurement.rows_counted == result.measurement.rows_acked > 0
        assert result.effective["server_version"]
        assert result.server["user"]


def test_a_thread_that_is_asked_to_end_leaves_nothing(folder):
    stop, raised = Stop(), []

    def work():
        try:
            for event in run_trial(orders.trial_order(folder, "postgres", load__duration="400s"), stop):
                if isinstance(event, PhaseEntered) and event.phase == "measure":
                    stop.request()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(200)
    assert not thread.is_alive()
    assert [type(error) for error in raised] == [Stopped]


def test_a_runner_killed_while_a_thread_runs_a_trial_leaves_no_server(folder, only_cleaner):
    runner = subprocess.Popen(
        [sys.executable, "-c", HELD, str(folder)], cwd=orders.ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        while runner.stdout.readline().strip() != "measure":
            assert runner.poll() is None
        pid = server_pid(folder)
        assert psutil.Process(pid).name().startswith("postgres")
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.communicate()
    waited_for(lambda: not lives(pid))
    for leftover in find_leftovers([folder]):
        remove(leftover)


def server_pid(folder):
    (record,) = records_in(folder)
    return record.server_pid


def end_a_connection_of_the_load(pid):
    children = psutil.Process(pid).children
    waited_for(lambda: [c for c in children() if "COPY" in " ".join(c.cmdline())])[0].send_signal(signal.SIGTERM)


def test_a_load_that_fails_leaves_samples_its_summary_and_its_notes(folder):
    events = []
    for event in run_trial(orders.trial_order(folder, "postgres", load__duration="60s"), Stop()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == "measure":
            end_a_connection_of_the_load(server_pid(folder))
    result = orders.result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "terminating connection due to administrator command" in " ".join(orders.notes_of(events))
    facts = json.loads(orders.artifact_of(events, "facts.json"))
    assert facts["sampler_cost"]["ticks"] >= 1
    assert result.measurement.rows_acked > 0


def test_a_server_that_dies_is_the_cause_and_what_was_seen_is_kept(folder):
    events = []
    for event in run_trial(orders.trial_order(folder, "postgres", load__duration="60s"), Stop()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == "measure":
            os.kill(server_pid(folder), signal.SIGKILL)
    result = orders.result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "the server ended during the trial by SIGKILL (sent by" in result.verdict.reasons[0]
    assert json.loads(orders.artifact_of(events, "facts.json"))["sampler_cost"]["ticks"] >= 1
    assert '"summary"' in orders.artifact_of(events, "loadgen.jsonl")
