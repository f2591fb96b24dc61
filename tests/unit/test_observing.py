"""Watching a machine without a load: the files, the events, and whom it watches."""

from __future__ import annotations

import json
import os
import socket

import pytest

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.observing import Watched, accounting_of, plan_of, record
from scale_sweep.model import SampleTaken
from scale_sweep.watch.exporter.exposition import common_labels, text
from scale_sweep.watch.exporter.values import points_now
from scale_sweep.watch.live import LiveState, take


class Watcher:
    """A sink that asks for the end after some samples."""

    def __init__(self, plan, stop: Stop, most: int) -> None:
        self.state, self.stop, self.most, self.samples = LiveState(run="r", plan=plan), stop, most, 0

    def __call__(self, event) -> None:
        self.state = take(self.state, event)
        self.samples += isinstance(event, SampleTaken)
        if self.samples == self.most:
            self.stop.request()


def observed(folder, *, most=4, seconds=0.0):
    stop, plan = Stop(), plan_of((0, 1), seconds)
    watcher = Watcher(plan, stop, most)
    server = accounting_of([os.getpid()], [])
    with stop.here():
        watched = Watched(plan=plan, server=server, disks=(), hz=10, seconds=seconds)
        seen = record(folder, watched, [watcher], stop, {"pids": [os.getpid()]})
    return seen, watcher


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


def test_series_have_the_columns_of_a_sweep(tmp_path):
    seen, _ = observed(tmp_path / "o")
    header, *rows = (tmp_path / "o/timeseries.csv").read_text().splitlines()
    assert header.startswith("trial_id,t_s,rows_per_s,requests_per_s,server_cpu_cores")
    assert len(rows) == seen.samples - 1
    assert all(row.startswith("observe,") for row in rows)


def test_the_dashboards_see_the_machine_and_the_server(tmp_path):
    _, watcher = observed(tmp_path / "o")
    page = text(points_now(watcher.state, 0), common_labels(watcher.state)).decode()
    assert 'scale_host_cpu_seconds_total{run="r"' in page
    assert 'scale_memory_used_bytes{run="r"' in page


def test_a_time_ends_it(tmp_path):
    seen, _ = observed(tmp_path / "o", most=10**6, seconds=0.15)
    assert not seen.interrupted
    assert json.loads((tmp_path / "o/manifest.json").read_text())["status"] == "done"


def test_a_folder_that_is_there_is_not_written_into(tmp_path):
    observed(tmp_path / "o", most=1)
    with pytest.raises(StoreError, match="File exists"):
        observed(tmp_path / "o", most=1)


def test_whom_it_watches():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert accounting_of([], [port]).root_pids == (os.getpid(),)
    assert accounting_of([], []) is None
    with pytest.raises(UsageError, match=f"--port {port}: nobody listens there"):
        accounting_of([], [port])
    with pytest.raises(UsageError, match="--pid 4194305: there is no such process"):
        accounting_of([4194305], [])
