"""Loads a stored run into the running Prometheus: promtool makes blocks, which are moved beside the other data."""

from __future__ import annotations

import json
import os
import shutil
import time
import urllib.parse
from pathlib import Path

from scale_sweep.base.errors import ProvisionError, UsageError
from scale_sweep.watch.dashboards import containers, processes
from scale_sweep.watch.dashboards.services import ask, lives
from scale_sweep.watch.dashboards.state_directory import StartedService, StateDirectory
from scale_sweep.watch.dashboards.targets import running_sweeps
from scale_sweep.watch.dashboards.updown import restart

# Prometheus looks for new blocks once a minute.
SEEN_S = 100.0
MARGIN_S = 5.0
_TIMES = (b"scale_trial_start_time_seconds{", b"scale_trial_end_time_seconds{")


def span_of(openmetrics: bytes) -> tuple[float, float]:
    """The time from the start of the first trial to the end of the last, in seconds since 1970, with some seconds on
    both sides."""
    times = [float(line.split(b" ")[-2]) for line in openmetrics.splitlines() if line.startswith(_TIMES)]
    return (min(times) - MARGIN_S, max(times) + MARGIN_S) if times else (0.0, 0.0)


def load_run(state: StateDirectory, run: str, openmetrics: bytes) -> bool:
    """Loads the run. False: it was loaded before. Raises UsageError if nothing runs, ProvisionError if loading
    fails."""
    prometheus = state.started().get("prometheus")
    if prometheus is None or not lives(prometheus):
        raise UsageError("no Prometheus of ours runs", remedy="scale dashboards up")
    record = state.path / "load" / f"{run}.loaded"
    if record.exists():
        return False
    blocks = _blocks(state, prometheus, openmetrics)
    for block in blocks:
        _as_late(block)
        block.rename(state.path / "prometheus" / block.name)
    shutil.rmtree(state.path / "load" / "blocks" / "made", ignore_errors=True)
    record.touch()
    if not running_sweeps(state):
        # Prometheus does not scrape for two seconds, which costs little and saves a minute of waiting.
        restart(state, prometheus)
    _wait_seen(state, run)
    return True


def _blocks(state: StateDirectory, prometheus: StartedService, openmetrics: bytes) -> list[Path]:
    source, made = state.path / "load" / "run.om", state.path / "load" / "blocks" / "made"
    shutil.rmtree(made, ignore_errors=True)
    made.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(openmetrics)
    state.give()
    argv = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(source), str(made)]
    try:
        docker = prometheus.how == "docker"
        code, output = containers.run_inside(prometheus, argv) if docker else processes.run_beside(state, argv)
    finally:
        source.unlink(missing_ok=True)
    blocks = sorted(path.parent for path in made.glob("*/meta.json"))
    if code != 0 or not blocks:
        raise ProvisionError(f"promtool made no blocks: {' | '.join(output.split(chr(10)))[-600:]}")
    return blocks


def _as_late(block: Path) -> None:
    """Marks the block as data that came late. Without the mark, Prometheus takes the end of its newest block as the
    time up to which its log is complete, and forgets at its next start what it scraped before that time."""
    path = block / "meta.json"
    # The directory belongs to another user, so a link in place of the file is not followed.
    with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+", encoding="utf-8") as file:
        meta = json.load(file)
        meta["compaction"]["hints"] = ["from-out-of-order"]
        file.seek(0)
        file.write(json.dumps(meta, indent=1))
        file.truncate()


def _wait_seen(state: StateDirectory, run: str) -> None:
    prometheus = state.started()["prometheus"]
    query = urllib.parse.urlencode({"match[]": f'scale_run_info{{run="{run}"}}', "start": "0"})
    deadline = time.monotonic() + SEEN_S
    while time.monotonic() < deadline:
        answer = ask(prometheus, f"/api/v1/series?{query}")
        if isinstance(answer, dict) and answer.get("data"):
            return
        time.sleep(0.25)
    raise ProvisionError(f"Prometheus does not show {run}, {SEEN_S:.0f} s after its blocks were laid down")
