"""Stores on disk what a runtime has created and not yet removed, so that `scale clean` finds it after a power cut.

One small JSON file for each server, beside its data directory. A PID counts only together with its start time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from runner.host.alive import alive as alive
from runner.host.alive import started_ticks as started_ticks

SUFFIX = ".scale-state.json"


@dataclass(frozen=True, kw_only=True)
class State:
    """What a server leaves. runner_*: the process that owns it; while that lives, nothing is left over."""

    name: str
    data_dir: str
    runner_pid: int
    runner_started: int
    server_pid: int = 0
    server_started: int = 0
    cgroup_paths: tuple[str, ...] = ()
    disk_dirs: tuple[str, ...] = ()


def new_state(name: str, data_dir: str, disk_dirs: tuple[str, ...] = ()) -> State:
    """A state owned by this process. disk_dirs: the server's directories on other disks."""
    pid = os.getpid()
    return State(name=name, data_dir=data_dir, runner_pid=pid, runner_started=started_ticks(pid), disk_dirs=disk_dirs)


def save(folder: Path, state: State) -> None:
    """Replaces the state's file. It is on the disk before it has its name: a power cut leaves the old one or this."""
    path = folder / (state.name + SUFFIX)
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(state)))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def forget(folder: Path, name: str) -> None:
    """Deletes the record after everything was removed."""
    path = folder / (name + SUFFIX)
    path.with_suffix(".partial").unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def read_states(folders: Iterable[Path]) -> tuple[State, ...]:
    """All states in the folders. Files that are not a state of ours are ignored."""
    found = []
    for folder in folders:
        for path in sorted(folder.glob("*" + SUFFIX)):
            try:
                raw = json.loads(path.read_text())
                lists = {name: tuple(raw.get(name, ())) for name in ("cgroup_paths", "disk_dirs")}
                found.append(State(**{**raw, **lists}))
            except (OSError, ValueError, TypeError, KeyError):
                continue
    return tuple(found)
