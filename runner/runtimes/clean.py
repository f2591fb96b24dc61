"""Finds and removes what a crash or a power cut left: containers by label, processes and groups by state files.

Refuses to touch what a living run owns, and to trust a PID without its start time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from runner.host.ram import left_mounts, shared_directory
from runner.runtimes.cgroup import Group
from runner.runtimes.docker_facts import client
from runner.runtimes.local import remove_recorded
from runner.runtimes.processes import has_left
from runner.runtimes.ram_dir import unmount
from runner.runtimes.segments import Shared, remove_segments, remove_shared, shared_by
from runner.runtimes.state import State, alive, read_states

LABEL = "scale.run"
RUNNER_LABEL = "scale.runner"
CACHES = ("programs", "clients")


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """kind: server, container, cache or memory. name: for people (the path of a cache or of memory). `remove` uses the
    rest."""

    kind: str
    name: str
    state: State | None = None
    container_id: str = ""


def find_leftovers(folders: Sequence[Path]) -> tuple[Leftover, ...]:
    """Everything of ours whose run has ended. Memory comes after the servers that wrote there."""
    mounts = left_mounts()
    shared = [path for path in (shared_directory(),) if path.is_dir()]
    folders = [*folders, *mounts, *shared]
    states = read_states(folders)
    dead = [state for state in states if not _is_owned(state)]
    found = [Leftover(kind="server", name=state.name, state=state) for state in dead]
    caches = _caches(folders) if len(dead) == len(states) else ()
    mounts += tuple(path for path in shared if not any(map(_is_owned, read_states([path]))))
    memory = [Leftover(kind="memory", name=str(path)) for path in mounts]
    return (*found, *_containers(), *caches, *memory)


def _is_owned(state: State) -> bool:
    return alive(state.runner_pid, state.runner_started)


def _caches(folders: Sequence[Path]) -> list[Leftover]:
    """Copies of programs and client libraries, which every run can make again. Only if no run lives."""
    paths = [folder / name for folder in folders for name in CACHES]
    return [Leftover(kind="cache", name=str(path)) for path in paths if path.is_dir()]


def _containers() -> list[Leftover]:
    engine = client()
    if engine is None:
        return []
    found = []
    for container in engine.containers.list(all=True, filters={"label": LABEL}):
        pid, _, started = container.labels.get(RUNNER_LABEL, "0:0").partition(":")
        if not alive(int(pid), int(started or 0)):
            found.append(Leftover(kind="container", name=container.name, container_id=container.id))
    return found


def remove(leftover: Leftover) -> str:
    """Removes it. No error if it does not exist any more. Returns what is still there: "" if nothing is."""
    if leftover.kind == "cache":
        shutil.rmtree(leftover.name, ignore_errors=True)
    if leftover.kind == "memory":
        unmount(Path(leftover.name))
    if leftover.container_id:
        with contextlib.suppress(Exception):
            client().containers.get(leftover.container_id).remove(force=True, v=True)
    if leftover.state is not None and not _remove_server(leftover.state):
        return leftover.state.data_dir
    return ""


def _remove_server(state: State) -> bool:
    shared, uid = Shared(), _owner(state)
    if state.cgroup_paths:
        group = Group(version="v1", paths={str(i): p for i, p in enumerate(state.cgroup_paths)})
        shared = shared_by(group.pids())
        for pid in group.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _wait_gone(group)
        group.remove()
    if alive(state.server_pid, state.server_started):
        with contextlib.suppress(ProcessLookupError):
            os.kill(state.server_pid, signal.SIGKILL)
    _wait_ended(state)
    remove_segments(state.server_pid, state.server_started)
    remove_shared(shared, uid, state.server_started)
    if has_left(state):
        return False  # its record stays, so that the next `clean` finds it
    return remove_recorded(Path(state.data_dir).parent, state.name, (state.data_dir, *state.disk_dirs))


def _owner(state: State) -> int:
    """The user that the server ran as: the owner of its directory."""
    try:
        return os.stat(state.data_dir).st_uid
    except OSError:
        return os.geteuid()


def _wait_ended(state: State) -> None:
    deadline = time.monotonic() + 5
    while alive(state.server_pid, state.server_started) and time.monotonic() < deadline:
        with contextlib.suppress(psutil.NoSuchProcess):
            if psutil.Process(state.server_pid).status() == psutil.STATUS_ZOMBIE:
                return  # its memory is gone; its parent handles the rest
        time.sleep(0.02)


def _wait_gone(group: Group) -> None:
    deadline = time.monotonic() + 5
    while group.pids() and time.monotonic() < deadline:
        time.sleep(0.02)
