"""Operations on a service that are the same for containers and processes, and HTTP requests to it on loopback."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.watch.dashboards import containers, processes
from scale_sweep.watch.dashboards.state_directory import StartedService, StateDirectory
from scale_sweep.watch.dashboards.targets import remove_empty, stale

_READY = {"prometheus": "/-/ready", "grafana": "/api/health"}
READY_S = 90.0
ANSWER_S = 5.0


def lives(started: StartedService) -> bool:
    return containers.lives(started) if started.how == "docker" else processes.lives(started)


def stop(started: StartedService) -> None:
    containers.stop(started) if started.how == "docker" else processes.stop(started)


def url_of(started: StartedService) -> str:
    """Its address for a browser."""
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
    """Waits until it answers. Raises ProvisionError with the end of its output if it ends or does not answer."""
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
    """One thing to remove."""

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
    """Removes it. No error if it does not exist any more."""
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
