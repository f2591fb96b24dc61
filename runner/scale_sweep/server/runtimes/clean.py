"""Finds and removes what a crash left: containers by label, processes, groups and directories by record."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from scale_sweep.machine.host.processes import boot_id, may_live
from scale_sweep.machine.state.places import folder_path
from scale_sweep.machine.state.records import Record, is_running, read_records, remove_folder, remove_recorded
from scale_sweep.server.runtimes.cgroup import Group
from scale_sweep.server.runtimes.data_dir import unmount
from scale_sweep.server.runtimes.docker_engine import client
from scale_sweep.server.runtimes.processes import (
    Shared,
    has_left,
    is_server,
    own_groups,
    remove_segments,
    remove_shared,
    shared_by,
    wait_until,
)

LABEL = "scale.run"
RUNNER_LABEL = "scale.runner"
END_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Leftover:
    kind: str  # server, data, memory, scratch, container or cache
    name: str  # for people; `remove` uses the rest
    record: Record | None = None
    container_id: str = ""


def find_leftovers(folders: Sequence[Path] = ()) -> tuple[Leftover, ...]:
    """Those of this user; memory after the servers in it. folders: only what lies there; empty: everything."""
    records = read_records().records
    within = [folder.absolute() for folder in folders]
    lies_there = [r for r in records if not folders or any(Path(p).is_relative_to(f) for p in r.paths for f in within)]
    dead = sorted((r for r in lies_there if not is_running(r)), key=lambda record: record.is_mounted)
    processes = [Leftover(kind=record.kind, name=record.name, record=record) for record in dead]
    containers = [c for c in _containers() if not folders or any(c.name == f"scale-{r.name}" for r in dead)]
    return (*processes, *containers)


def find_caches() -> tuple[Leftover, ...]:
    """They can be made again; none while a run lives."""
    if any(map(is_running, read_records().records)):
        return ()
    paths = [folder_path(name) for name in ("programs", "clients")]
    return tuple(Leftover(kind="cache", name=str(path)) for path in paths if path.is_dir() and any(path.iterdir()))


def _containers() -> list[Leftover]:
    engine = client()
    if engine is None:
        return []
    leftovers = []
    for container in engine.containers.list(all=True, filters={"label": LABEL}):
        if not may_live(*_owner_of(container.labels.get(RUNNER_LABEL, ""))):
            leftovers.append(Leftover(kind="container", name=container.name, container_id=container.id))
    return leftovers


def owner_label(record: Record) -> str:
    return f"{record.runner_pid}:{record.runner_started}:{record.pid_namespace}"


def _owner_of(label: str) -> tuple[int, int, int]:
    pid, started, namespace = (*(int(part or 0) for part in label.split(":")), 0, 0, 0)[:3]
    return pid, started, namespace


def remove(leftover: Leftover) -> str:
    """Returns what is still there."""
    if leftover.kind == "cache":
        remove_folder(os.path.basename(leftover.name))
    if leftover.container_id:
        with contextlib.suppress(Exception):
            client().containers.get(leftover.container_id).remove(force=True, v=True)
    if leftover.record is not None and not _remove_recorded(leftover.record):
        return " ".join(leftover.record.paths)
    return ""


def _remove_recorded(record: Record) -> bool:
    if record.boot == boot_id():
        _end_server(record)
        if has_left(record):
            return False  # its record stays for the next `clean`
    if record.is_mounted:
        for path in record.paths:
            unmount(Path(path))
    return remove_recorded(record.name)


def _end_server(record: Record) -> None:
    shared, uid = Shared(), _owner(record)
    paths = own_groups(record)
    if paths:
        group = Group(version="v1", paths={str(i): p for i, p in enumerate(paths)})
        shared = shared_by(group.pids())
        for pid in group.pids():
            _kill(pid, group.pids)
        wait_until(lambda: not group.pids(), END_S)
        group.remove()
    if is_server(record):
        _kill(record.server_pid, lambda: (record.server_pid,) if is_server(record) else ())
    wait_until(lambda: not is_server(record) or _is_zombie(record.server_pid), END_S)  # a zombie is its parent's
    remove_segments(record.server_pid, record.server_started)
    remove_shared(shared, uid, record.server_started)


def _kill(pid: int, living: Callable[[], Sequence[int]]) -> None:
    """Once its descriptor is open, no other process can get its number."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        process = os.pidfd_open(pid)
        try:
            if pid in living():
                signal.pidfd_send_signal(process, signal.SIGKILL)
        finally:
            os.close(process)


def _owner(record: Record) -> int:
    for path in record.paths:
        with contextlib.suppress(OSError):
            return os.lstat(path).st_uid
    return os.geteuid()


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    return False
