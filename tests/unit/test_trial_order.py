"""A trial is an order in and events out: wherever it is carried out, whatever becomes of its load, and when it is asked
to end. On the null target, with the real load generator."""

import json
import pickle
import signal
import threading
import time
from dataclasses import fields, replace
from pathlib import Path

import psutil
import pytest

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.loadgen.split import split_spec
from scale_sweep.measure.executing.execute import server_facts
from scale_sweep.measure.trial.loading import LOCAL, Loading, LoadSampling
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.measure.trial.stages import Aborted, Ended, LoadSeen, SchemaMade, Verified
from scale_sweep.measure.trial.waiting import answer_within
from scale_sweep.model import IntervalSeen, PhaseEntered, SampleTaken, VerdictKind
from scale_sweep.server.targets import Address
from scale_sweep.server.targets.null import NullSession
from tests.unit.factories import make_interval, make_result
from tests.unit.trial_orders import (
    RUN,
    artifact_of,
    here,
    in_a_process,
    in_a_thread,
    notes_of,
    result_of,
    story,
    trial_order,
)


@pytest.fixture
def folder(tmp_path):
    """The data directory; at the end nothing of the trials is there, nor a process or a control group of theirs."""
    others = psutil.Process().children(recursive=True)  # servers that other tests share
    yield tmp_path
    assert list(tmp_path.iterdir()) == []
    assert not list(Path("/sys/fs/cgroup").glob(f"*/scale-{RUN}-*")) + list(
        Path("/sys/fs/cgroup").glob(f"scale-{RUN}-*")
    )
    children = set(psutil.Process().children(recursive=True)) - set(others)
    assert [c.cmdline() for c in children if c.status() != psutil.STATUS_ZOMBIE] == []


def test_the_same_events_in_a_thread_and_in_another_process(folder):
    order = trial_order(folder)
    assert pickle.loads(pickle.dumps(order)) == order
    told = story(here(order))
    assert told[:3] == ["PhaseEntered provision", "PhaseEntered ready", "PhaseEntered schema"]
    assert told[-1] == "TrialFinished"
    assert "IntervalSeen measure" in told
    assert story(in_a_thread(order)) == told
    events = in_a_process(order)
    assert story(events) == told
    assert any(isinstance(event, SampleTaken) for event in events)
    assert result_of(events).measurement.rows_per_s > 0


def test_every_field_of_a_stage_is_a_fact():
    facts = {f.name for f in fields(TrialFacts)}
    for stage in (SchemaMade, LoadSeen, Verified, Ended, Aborted):
        assert {f.name for f in fields(stage)} <= facts


def asked_to_end(order, stop, when):
    """Runs the order in a thread and asks it to end at the first event that `when` takes; what it raised."""
    raised = []

    def work():
        try:
            for event in run_trial(order, stop):
                if when(event):
                    raised.append(event)
                    threading.Timer(0.3, stop.request).start()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(120)
    assert not thread.is_alive()
    return raised


@pytest.mark.parametrize("phase", ["ready", "measure"])
def test_it_ends_when_it_is_asked_from_another_thread(folder, phase):
    order = trial_order(folder, load__duration="600s")
    first, error = asked_to_end(order, Stop(), lambda e: isinstance(e, PhaseEntered) and e.phase == phase)
    assert first.phase == phase
    assert isinstance(error, Stopped)


def test_commits_are_those_of_the_window(folder, monkeypatch):
    commits, phases, events = {"warmup": 30, "measure": 100, "drain": 350, "flush": 900}, [], []
    monkeypatch.setattr(NullSession, "commit_cycles", lambda self: commits[phases[-1]])
    for event in run_trial(trial_order(folder), Stop()):
        events.append(event)
        phases += [event.phase] if isinstance(event, PhaseEntered) else []
    assert set(commits) <= set(phases)
    assert result_of(events).measurement.commits == 350 - 100


def test_a_server_that_does_not_count_in_time_costs_the_trial_nothing_but_the_count(folder, monkeypatch):
    monkeypatch.setattr("scale_sweep.measure.trial.loading.COMMITS_S", 0.2)
    over = threading.Event()
    monkeypatch.setattr(NullSession, "commit_cycles", lambda self: over.wait(60))
    result = result_of(here(trial_order(folder)))
    over.set()
    assert result.measurement.rows_per_s > 0
    assert result.measurement.commits is None


def test_an_answer_is_waited_for_so_long_and_a_refusal_is_raised():
    def refuse():
        raise TargetError("no")

    over = threading.Event()
    assert answer_within(60.0, lambda: 7) == 7
    assert answer_within(0.1, lambda: over.wait(60)) is None
    over.set()
    with pytest.raises(TargetError):
        answer_within(60.0, refuse)


def test_a_load_that_is_refused_under_way_keeps_its_samples_its_summary_and_its_lines(folder):
    order = replace(trial_order(folder, load__duration="20s"), disk_free_min_bytes=2**62)
    events = here(order)
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "is about to fill" in result.verdict.reasons[0]
    facts = json.loads(artifact_of(events, "facts.json"))
    assert facts["sampler_cost"]["ticks"] >= 1
    assert sum(isinstance(e, SampleTaken) for e in events) == facts["sampler_cost"]["ticks"] + 1
    last = json.loads(artifact_of(events, "loadgen.jsonl").splitlines()[-1])
    assert (last["event"], last["outcome"]) == ("summary", "interrupted")
    assert result.measurement.rows_acked in (None, last["rows_acked"])
    assert sum(e.interval.rows for e in events if isinstance(e, IntervalSeen)) == last["rows_acked"]


class TwoLines:
    """A load that says two seconds at once, and that it was ended."""

    pids = ()

    def __init__(self, server):
        self.raw, self.troubles, self._left = [], [], [1, 2]
        self._server = server

    def start(self):
        pass

    def stop(self):
        pass

    def begin_window(self):
        pass

    def end_window(self):
        pass

    def lines(self, limit_s):
        while self._left:
            self._server.wait_for_sample()
            at = self._left.pop(0)
            yield make_interval(t_s=float(at), rows=5, rows_total=5 * at, requests=1)

    def summary(self):
        return None


class WatchedServer:
    """Nothing that could be looked at, and the samples that are taken of it."""

    sampling = LoadSampling(by_thread=True, waits=True)  # each sample begins with the question for the processes

    def __init__(self):
        self._asked = 0

    def accounting(self):
        return None

    def alive(self):
        return True

    def pids(self):
        self._asked += 1
        return ()

    def wait_for_sample(self):
        """Until a sample that begins after the call has been taken, which the next one's begin shows."""
        wanted, deadline = self._asked + 2, time.monotonic() + 60
        while self._asked < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_the_line_that_came_with_the_sample_that_ended_the_load_is_kept(tmp_path):
    order = replace(trial_order(tmp_path), disk_free_min_bytes=2**62)
    address = Address(host="", port=0, secret="")
    server = WatchedServer()
    reached = Reached(server=server, address=address, session=NullSession(order.trial, address))
    loading = Loading(order, reached, TwoLines(server), Stop(), LOCAL, server.sampling)
    events = []
    with pytest.raises(LoadError, match="about to fill"):
        events.extend(loading.events())
    assert [i.t_s for i in loading.loaded().intervals] == [1.0, 2.0]
    assert len([e for e in events if isinstance(e, IntervalSeen)]) == 2


def test_a_load_core_that_dies_aborts_the_trial_with_all_that_was_seen(folder, monkeypatch):
    order = trial_order(folder, load__duration="20s")
    events = []
    for event in run_trial(order, Stop()):
        events.append(event)
        if isinstance(event, IntervalSeen) and event.interval.phase == "measure":
            for child in psutil.Process().children():
                if "scale-loadgen" in child.name():
                    child.send_signal(signal.SIGKILL)
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "died of signal 9" in result.verdict.reasons[0]
    assert json.loads(artifact_of(events, "facts.json"))["sampler_cost"]["ticks"] >= 2
    assert '"measure"' in artifact_of(events, "loadgen.jsonl")
    assert notes_of(events) == []


def test_what_the_runtime_says_of_the_server_is_kept_with_the_trial(folder):
    said = result_of(here(trial_order(folder))).server
    assert said["user"]
    assert said["data_dir"].startswith(str(folder))


def test_the_manifest_says_of_the_server_what_is_the_same_in_every_trial():
    image = {"image": "postgres:16", "image_digest": "postgres@sha256:0123"}
    results = [
        replace(make_result(replicate=n), effective={"server_version": "16.2"}, server={**image, "container": f"c{n}"})
        for n in (1, 2)
    ]
    assert server_facts(results) == {"version": "16.2", **image}
    assert server_facts([]) == {"version": ""}
    assert server_facts([replace(make_result(), server={})]) == {"version": ""}


def signal_the_load(order, number, *, only=None):
    """The trial's events; its load processes, or one of them, get a signal in the middle of the window."""
    events = []
    for event in run_trial(order, Stop()):
        events.append(event)
        if isinstance(event, IntervalSeen) and event.interval.phase == "measure" and number:
            loads = sorted((c for c in psutil.Process().children() if "scale-loadgen" in c.name()), key=lambda c: c.pid)
            for child in loads[:only]:
                child.send_signal(number)
            number = None
    return events


@pytest.mark.parametrize("processes", [1, 2])
def test_a_load_that_somebody_interrupts_aborts_the_trial(folder, monkeypatch, processes):
    monkeypatch.setattr(
        "scale_sweep.measure.trial.loads.split_spec", lambda spec, n, now_ns: split_spec(spec, 2 // processes, now_ns)
    )
    order = trial_order(folder, load__duration="4s")
    order = replace(order, trial=replace(order.trial, load=replace(order.trial.load, connections=2)))
    events = signal_the_load(order, signal.SIGTERM, only=1)
    result = result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "the load was interrupted from outside" in result.verdict.reasons[0]
    assert result.measurement.rows_acked > 0
    summaries = [
        x for x in map(json.loads, artifact_of(events, "loadgen.jsonl").splitlines()) if x["event"] == "summary"
    ]
    assert sorted(s["outcome"] for s in summaries) == ["interrupted", *["ok"] * (processes - 1)]
