"""A trial is an order in and events out, on the null target with the real load generator."""

import json
import pickle
import signal
import threading
import time
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.loadgen.split import split_spec
from scale_sweep.measure.executing.execute import server_facts
from scale_sweep.measure.trial.loading import Loading, no_hosts
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.measure.trial.stages import LoadSeen
from scale_sweep.measure.trial.waiting import answer_within
from scale_sweep.model.events import IntervalSeen, PhaseEntered, SampleTaken
from scale_sweep.model.measured import VerdictKind
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
    groups = Path("/sys/fs/cgroup")
    assert [*groups.glob(f"*/scale-{RUN}-*"), *groups.glob(f"scale-{RUN}-*")] == []
    children = set(psutil.Process().children(recursive=True)) - set(others)
    assert [c.cmdline() for c in children if c.status() != psutil.STATUS_ZOMBIE] == []


def test_the_same_events_in_a_thread_and_in_another_process(folder):
    order = trial_order(folder)
    assert pickle.loads(pickle.dumps(order)) == order
    events = here(order)
    told = story(events)
    assert told[:3] == ["PhaseEntered provision", "PhaseEntered ready", "PhaseEntered schema"]
    assert told[-1] == "TrialFinished"
    assert "IntervalSeen measure" in told
    server = result_of(events).server
    assert server["user"] and server["data_dir"].startswith(str(folder))
    assert story(in_a_thread(order)) == told
    events = in_a_process(order)
    assert story(events) == told
    assert any(isinstance(event, SampleTaken) for event in events)
    assert result_of(events).measurement.rows_per_s > 0


def two_lines(server):
    """A load that says two seconds at once, and that it was ended."""
    left = iter((1, 2))

    def lines(limit_s):
        for at in left:
            server.wait_for_sample()
            yield make_interval(t_s=float(at), rows=5, rows_total=5 * at, requests=1)

    acts = dict.fromkeys(("start", "stop", "begin_window", "end_window", "summary"), lambda: None)
    return SimpleNamespace(pids=(), raw=[], troubles=[], lines=lines, **acts)


@pytest.mark.parametrize("phase", ["ready", "measure"])
def test_it_ends_when_it_is_asked_from_another_thread(folder, phase):
    stop, phases = Stop(), []
    with pytest.raises(Stopped):
        for event in run_trial(trial_order(folder, load__duration="600s"), stop):
            phases += [event.phase] if isinstance(event, PhaseEntered) else []
            if isinstance(event, PhaseEntered) and event.phase == phase:
                threading.Timer(0.3, stop.request).start()
    assert phase in phases


def test_commits_are_those_of_the_window_and_not_counted_if_the_server_takes_too_long(folder, monkeypatch):
    commits, phases, events = {"warmup": 30, "measure": 100, "drain": 350, "flush": 900}, [], []
    monkeypatch.setattr(NullSession, "commit_cycles", lambda self: commits[phases[-1]])
    for event in run_trial(trial_order(folder), Stop()):
        events.append(event)
        phases += [event.phase] if isinstance(event, PhaseEntered) else []
    assert set(commits) <= set(phases)
    assert result_of(events).measurement.commits == 350 - 100
    monkeypatch.setattr("scale_sweep.measure.trial.loading.COMMITS_S", 0.2)
    over = threading.Event()
    monkeypatch.setattr(NullSession, "commit_cycles", lambda self: over.wait(60))
    measurement = result_of(here(trial_order(folder))).measurement
    over.set()
    assert measurement.rows_per_s > 0
    assert measurement.commits is None


@pytest.mark.parametrize(
    ("number", "processes", "reason"),
    [
        (signal.SIGTERM, 1, "the load was interrupted from outside"),
        (signal.SIGTERM, 2, "the load was interrupted from outside"),
        (signal.SIGKILL, 1, "died of signal 9"),
    ],
)
def test_a_load_that_is_ended_from_outside_aborts_the_trial_with_all_that_was_seen(
    folder, monkeypatch, number, processes, reason
):
    monkeypatch.setattr(
        "scale_sweep.measure.trial.loads.split_spec", lambda spec, n, now_ns: split_spec(spec, 2 // processes, now_ns)
    )
    order = trial_order(folder, load__duration="20s" if number == signal.SIGKILL else "4s")
    order = replace(order, trial=replace(order.trial, load=replace(order.trial.load, connections=2)))
    events, loads = [], []
    for event in run_trial(order, Stop()):
        events.append(event)
        if isinstance(event, IntervalSeen) and event.interval.phase == "measure" and not loads:
            loads = sorted((c for c in psutil.Process().children() if "scale-loadgen" in c.name()), key=lambda c: c.pid)
            loads[0].send_signal(number)
    result = result_of(events)
    assert len(loads) == processes
    assert result.verdict.kind is VerdictKind.ABORTED
    assert reason in result.verdict.reasons[0]
    assert notes_of(events) == []
    lines = [json.loads(line) for line in artifact_of(events, "loadgen.jsonl").splitlines()]
    outcomes = sorted(line["outcome"] for line in lines if line["event"] == "summary")
    if number == signal.SIGKILL:
        assert json.loads(artifact_of(events, "facts.json"))["sampler_cost"]["ticks"] >= 2
        assert outcomes == [] and any(line.get("phase") == "measure" for line in lines)
    else:
        assert result.measurement.rows_acked > 0
        assert outcomes == ["interrupted", *["ok"] * (processes - 1)]


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


class WatchedServer:
    """Nothing that could be looked at, and the samples that are taken of it."""

    sampling = SimpleNamespace(
        thread_names=True, wait_events=True, is_simulated=False
    )  # each sample begins with the question for the processes
    asked = 0

    def accounting(self):
        return None

    def alive(self):
        return True

    def pids(self):
        self.asked += 1
        return ()

    def wait_for_sample(self):
        """Until a sample that begins after the call has been taken, which the next one's begin shows."""
        wanted, deadline = self.asked + 2, time.monotonic() + 60
        while self.asked < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_the_line_that_came_with_the_sample_that_ended_the_load_is_kept(tmp_path):
    order = replace(trial_order(tmp_path), disk_free_min_bytes=2**62)
    address = Address(host="", port=0, secret="")
    server, events = WatchedServer(), []
    reached = Reached(server=server, address=address, session=NullSession(order.trial, address))
    loading = Loading(order, reached, two_lines(server), Stop(), server.sampling, no_hosts)
    with pytest.raises(LoadError, match="about to fill"):
        events.extend(loading.events())
    assert [i.t_s for i in loading.loaded().intervals] == [1.0, 2.0]
    assert len([e for e in events if isinstance(e, IntervalSeen)]) == 2


def test_the_manifest_says_of_the_server_what_is_the_same_in_every_trial():
    image = {"image": "postgres:16", "image_digest": "postgres@sha256:0123"}
    result = replace(make_result(), effective={"server_version": "16.2"})
    results = [replace(result, server={**image, "container": f"c{n}"}) for n in (1, 2)]
    assert server_facts(results) == {"version": "16.2", **image}
    assert server_facts([]) == server_facts([make_result()]) == {"version": ""}
    facts = {f.name for f in fields(TrialFacts)}
    assert {f.name for f in fields(LoadSeen)} <= facts
