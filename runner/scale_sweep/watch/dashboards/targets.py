"""Announces a sweep to Prometheus: the sweep writes its address into the state directory, whether dashboards run or
not."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.machine.host.processes import alive, started_ticks
from scale_sweep.watch.dashboards.state_directory import StateDirectory

_NAME = re.compile(r"sweep-(\d+)-(\d+)(?:-\w+)?\.json")
# A label that begins with __ is for our own use: Prometheus drops it before it stores anything.
RUN_LABEL = "__scale_run"


@dataclass(frozen=True, kw_only=True)
class RunningSweep:
    """run: the name of the run's directory. address: host and port of its metrics."""

    run: str
    address: str


@contextlib.contextmanager
def announced(state: StateDirectory, run: str, port: int, host: str = "") -> Iterator[None]:
    """Inside the block, a Prometheus of this state directory reads the sweep's metrics. A state directory that cannot
    be written is ignored, because a sweep must not fail when nobody can watch it. Raises PreflightError for one that is
    not this user's alone. host: of a fleet; all its metrics get it as a label."""
    pid = os.getpid()
    own = run.rpartition("-")[2]  # of several runs of one process, each has a file
    path = state.targets / f"sweep-{pid}-{started_ticks(pid)}-{own}.json"
    labels = {RUN_LABEL: run, **({"host": host} if host else {})}
    partial = path.with_suffix(".partial")
    with contextlib.suppress(OSError, ProvisionError):
        state.check(makes=True)
        state.targets.mkdir(exist_ok=True)
        partial.write_text(json.dumps([{"targets": [f"127.0.0.1:{port}"], "labels": labels}]), encoding="utf-8")
        partial.chmod(0o644)  # readable for the user that Prometheus runs as, whatever the umask
        partial.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        remove_empty(state)


def remove_empty(state: StateDirectory) -> bool:
    try:
        if [path.name for path in state.path.iterdir()] != [state.targets.name]:
            return False  # dashboards were started here: Prometheus watches the folder
        state.targets.rmdir()
        state.path.rmdir()
    except OSError:  # it is not there, or another sweep is announced
        return False
    return True


def running_sweeps(state: StateDirectory) -> tuple[RunningSweep, ...]:
    """The sweeps that run now; the newest is the last."""
    sweeps = []
    for path in sorted(state.targets.glob("sweep-*.json"), key=_age):
        if path in stale(state):
            continue
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            one = json.loads(path.read_text(encoding="utf-8"))[0]
            sweeps.append(RunningSweep(run=str(one["labels"][RUN_LABEL]), address=str(one["targets"][0])))
    return tuple(sweeps)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def stale(state: StateDirectory) -> tuple[Path, ...]:
    """Files of sweeps that have ended. Raises PreflightError for a directory that is not this user's alone."""
    if not state.check():
        return ()
    return tuple(path for path in sorted(state.targets.glob("sweep-*.json")) if not _lives(path))


def _lives(path: Path) -> bool:
    match = _NAME.fullmatch(path.name)
    return match is not None and alive(int(match[1]), int(match[2]))
