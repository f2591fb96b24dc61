"""Runs as this version stores them, by name: made by the real code from made-up raw files, once in a process.

Refuses to keep runs in the repository: they would be of another version as soon as the format changes.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.cli import compose
from scale_sweep.model.events import Event
from scale_sweep.model.planned import Plan
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import new_folder
from scale_sweep.results.store.writer import RunWriter
from scale_sweep.server.targets import load_facts
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.raw_run import manifest_of, trial_events
from tests.unit.test_plan import make_host

TARGET = "postgres"
LOAD = {"load.duration": "10s", "load.warmup": "2s", "method.order_seed": "3"}
ONCE, BOTH = {"axis.cores": "1", "method.replicates": "1"}, {"axis.cores": "0.5,1", "method.replicates": "2"}
DRIFT = {"method.drift_check": "on"}
FLAGS: Mapping[str, Mapping[str, str | list[str]]] = {
    "cpu": BOTH | DRIFT,
    "ablation": ONCE | DRIFT | {"axis.cores": "1..2", "knobs.partitions": "1=4,2=8", "method.ablation": "1"},
    "varied": ONCE | DRIFT | {"vary": ["rows_per_request=500,100"]},
    "aborted": ONCE | {"method.replicates": "2"},
    "killed": BOTH,
}
NAMES = tuple(FLAGS)
ROWS_PER_S = 90_000  # of one core
WARMUP_S, WINDOW_S = 2, 10


def unpacked(name: str, results: Path) -> Path:
    """The directory of a run of its own under results."""
    folder = results / f"20260102T030405Z-{name}-postgres-1a2b3c"
    return Path(shutil.copytree(f"{_made(name).name}/run", folder, dirs_exist_ok=True))


@functools.cache  # a fork of tools/provoking has another /tmp
def contents(name: str) -> Mapping[str, bytes]:
    """The files of the run by their names in it."""
    run = Path(_made(name).name, "run")
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}


@functools.cache
def _made(name: str) -> tempfile.TemporaryDirectory[str]:
    facts, folder = load_facts(TARGET), tempfile.TemporaryDirectory()
    flags = {"target.name": TARGET, "target.runtime": "process", **LOAD, **FLAGS[name]}
    plan = make_plan(complete(resolve_sweep("cpu", flags), facts), make_host(), facts)
    writer = RunWriter(
        RunLock(new_folder(Path(folder.name, "run"))), plan, {**manifest_of(plan), "run": "made for tests"}
    )
    for number in range(len(plan.trials)):
        events = _events(plan, number, aborted="the server ended with status 137" if name == "aborted" else "")
        if name == "killed" and number == 1:
            writer(events[0])
            return folder
        for event in events:
            writer(event)
    writer.update_manifest(status="complete")
    compose.report(writer)
    return folder


def _events(plan: Plan, number: int, *, aborted: str) -> list[Event]:
    """Those of a trial. aborted: the reason why the first one ended early."""
    trial = plan.trials[number]
    rate = ROWS_PER_S * trial.level
    rows = [int(rate * (1 + 0.01 * ((second + number) % 3 - 1))) for second in range(WARMUP_S + WINDOW_S)]
    return [*trial_events(plan, trial, rows, WARMUP_S, aborted="" if number else aborted)]
