"""A service that runs, in a container or as a process, its leftovers, and the sweeps that it reads."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.machine.host.processes import alive, started_ticks
from scale_sweep.watch.dashboards import containers, processes
from scale_sweep.watch.dashboards.state_directory import StartedService, StateDirectory

_READY = {"prometheus": "/-/ready", "grafana": "/api/health"}
READY_S = 90.0
ANSWER_S = 5.0


def lives(started: StartedService) -> bool:
    return containers.lives(started) if started.how == "docker" else processes.lives(started)


def stop(started: StartedService) -> None:
    containers.stop(started) if started.how == "docker" else processes.stop(started)


def url_of(started: StartedService) -> str:
    return f"http://127.0.0.1:{started.port}"


def ask(started: StartedService, path: str) -> Any:
    """The answer: JSON, or the text if it is not JSON. None if nothing answers."""
    try:
        with urllib.request.urlopen(url_of(started) + path, timeout=ANSWER_S) as answer:
            body = answer.read().decode("utf-8", "replace")
    except (OSError, urllib.error.URLError):
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body


def wait_ready(started: StartedService, state: StateDirectory) -> None:
    """Raises ProvisionError with the end of its output if it ends or does not answer."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        if ask(started, _READY[started.name]) is not None:
            return
        if not lives(started):
            break
        time.sleep(0.1)
    words = containers.last_words(started) if started.how == "docker" else processes.last_words(started, state)
    end = " | ".join(words.split("\n"))[-600:]
    raise ProvisionError(f"{started.name}, run as {state.owner.pw_name}, did not come up: {end}")


@dataclass(frozen=True, kw_only=True)
class ServiceLeftover:
    kind: str  # always dashboards
    name: str  # for people. At most one of the other fields is set; without one, it is the empty folders
    record: StartedService | None = None
    container: str = ""
    file: Path | None = None


def find_leftovers(state: StateDirectory) -> tuple[ServiceLeftover, ...]:
    """Everything in the state directory that no running program uses."""
    dead = [s for s in state.started().values() if not lives(s)]
    recorded = {s.container for s in dead}
    return (
        *(ServiceLeftover(kind="dashboards", name=f"{s.name}, which does not run", record=s) for s in dead),
        *(
            ServiceLeftover(kind="dashboards", name=f"container {one[:12]}", container=one)
            for one in containers.stopped_ids(str(state.path))
            if one not in recorded
        ),
        *(ServiceLeftover(kind="dashboards", name=f"address of a dead sweep, {f.name}", file=f) for f in stale(state)),
        *_empty(state),
    )


def _empty(state: StateDirectory) -> list[ServiceLeftover]:
    names = {path.name for path in state.path.glob("*")}
    if names - {state.targets.name} or not state.path.is_dir() or set(state.targets.glob("*")) - set(stale(state)):
        return []
    return [ServiceLeftover(kind="dashboards", name=f"empty folders, {state.path}")]


def remove(state: StateDirectory, leftover: ServiceLeftover) -> None:
    if leftover.file is not None:
        leftover.file.unlink(missing_ok=True)
    if leftover == ServiceLeftover(kind=leftover.kind, name=leftover.name):
        remove_empty(state)
    if leftover.container:
        containers.stop(StartedService(name="", how="docker", port=0, container=leftover.container))
    if leftover.record is not None:
        if leftover.record.container:
            containers.stop(leftover.record)
        state.remember({name: s for name, s in state.started().items() if s != leftover.record})


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
    """Prometheus reads the sweep's metrics inside the block; a directory that cannot be written is ignored. Raises
    PreflightError for one of others. host: a label, of a fleet."""
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
    sweeps = []
    for path in sorted(state.targets.glob("sweep-*.json"), key=_age):
        if path in stale(state):
            continue
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            one = json.loads(path.read_text(encoding="utf-8"))[0]
            sweeps.append(RunningSweep(run=str(one["labels"][RUN_LABEL]), address=str(one["targets"][0])))
    return tuple(sweeps)


def _age(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def stale(state: StateDirectory) -> tuple[Path, ...]:
    """Files of sweeps that have ended. Raises PreflightError for a directory that is not this user's alone."""
    if not state.check():
        return ()
    return tuple(path for path in sorted(state.targets.glob("sweep-*.json")) if not _lives(path))


def _lives(path: Path) -> bool:
    match = _NAME.fullmatch(path.name)
    return match is not None and alive(int(match[1]), int(match[2]))
