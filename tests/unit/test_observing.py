"""Watching a machine without a load: the files, the events, and whom it watches."""

from __future__ import annotations

import json
import os
import socket
from types import SimpleNamespace

import pytest

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.observing import Watched, plan_of, record
from scale_sweep.model.events import SampleTaken
from scale_sweep.server.runtimes.running import find_server
from scale_sweep.watch.exporter.server import common_labels, text
from scale_sweep.watch.exporter.values import points_now
from scale_sweep.watch.live.state import LiveState, take


def observed(folder, *, most=4, seconds=0.0):
    """What was seen until a sink asked for the end after so many samples, and that sink."""
    stop, plan = Stop(), plan_of((0, 1), seconds)
    watcher = SimpleNamespace(state=LiveState(run="r", plan=plan), samples=0)

    def watch(event) -> None:
        watcher.state = take(watcher.state, event)
        watcher.samples += isinstance(event, SampleTaken)
        if watcher.samples == most:
            stop.request()

    with stop.here():
        server = find_server([os.getpid()], []).accounting
        watched = Watched(plan=plan, server=server, disks=(), hz=10, seconds=seconds)
        return record(folder, watched, [watch], stop, {"pids": [os.getpid()]}), watcher


def test_it_goes_on_until_it_is_stopped_and_keeps_every_sample(tmp_path):
    seen, watcher = observed(tmp_path / "o")
    lines = (tmp_path / "o/trials/observe/samples.jsonl").read_text().splitlines()
    manifest = json.loads((tmp_path / "o/manifest.json").read_text())
    assert seen.interrupted
    assert seen.samples == len(lines) >= 4
    assert seen.seconds > 0.2
    assert seen.machine_cpu_cores is not None
    assert seen.server_memory_gb_max > 0.001
    assert (manifest["status"], manifest["pids"]) == ("interrupted", [os.getpid()])
    assert manifest["observed"]["samples"] == seen.samples
    assert all(json.loads(line)["server"]["cpu_s_total"] > 0 for line in lines)
    header, *rows = (tmp_path / "o/timeseries.csv").read_text().splitlines()
    assert header.startswith("trial_id,t_s,rows_per_s,requests_per_s,server_cpu_cores"), "as those of a sweep"
    assert len(rows) == seen.samples - 1
    assert all(row.startswith("observe,") for row in rows)
    page = text(points_now(watcher.state, 0), common_labels(watcher.state)).decode()
    assert 'scale_host_cpu_seconds_total{run="r"' in page and 'scale_memory_used_bytes{run="r"' in page
    with pytest.raises(StoreError, match="File exists"):
        observed(tmp_path / "o", most=1)


def test_a_time_ends_it_and_whom_it_watches(tmp_path):
    seen, _ = observed(tmp_path / "timed", most=10**6, seconds=0.15)
    assert not seen.interrupted
    assert json.loads((tmp_path / "timed/manifest.json").read_text())["status"] == "done"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert find_server([], [port]).accounting.root_pids == (os.getpid(),)
    assert find_server([], []) is None
    with pytest.raises(UsageError, match=f"--port {port}: nobody listens there"):
        find_server([], [port])
    with pytest.raises(UsageError, match="--pid 4194305: there is no such process"):
        find_server([4194305], [])
