"""The processes of one server: they are signalled together, and are gone together."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

from scale_sweep.machine.host.alive import alive, boot_id, started_ticks
from scale_sweep.machine.state import SERVER_VARIABLE, Record
from scale_sweep.server.runtimes.cgroup import Group
from scale_sweep.server.runtimes.segments import Shared, has_segments, shared_by

LOOK_S = 0.02
_GROUPS = "/sys/fs/cgroup/"


class Processes:
    """All processes of a server that were ever seen. pids: those that can be found now.

    A process whose parent has ended is in no tree any more, so those that were seen are kept with their start times.
    """

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self._pids = pids
        self._seen: dict[int, int] = {}
        self.shared = Shared()

    def left(self) -> tuple[int, ...]:
        """Those that still run, also if they are stopped."""
        self._seen = {pid: started_ticks(pid) for pid in self._pids() if pid not in self._seen} | self._seen
        return tuple(pid for pid, started in self._seen.items() if _runs(pid, started))

    def send(self, number: signal.Signals) -> None:
        """Signals all of them. First it notes what they share, because a killed process does not remove it."""
        pids = self.left()
        self.shared |= shared_by(pids)
        for pid in pids:
            send(pid, number)

    def kill(self, limit_s: Callable[[], float]) -> bool:
        """Kills all of them, also those that they start meanwhile. Returns whether all are gone within the limit, which
        may change while they are waited for."""
        begun = time.monotonic()
        while self.left():
            if time.monotonic() - begun > limit_s():
                return False
            self.send(signal.SIGKILL)
            time.sleep(LOOK_S)
        return True


def send(pid: int, number: signal.Signals) -> None:
    """Signals a process. No error if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def has_left(record: Record) -> bool:
    """Whether a process of a recorded server still runs, or shared memory that it made is still used."""
    if record.boot != boot_id():
        return False
    members = [p for path in own_groups(record) for p in Group(version="v1", paths={"": path}).pids()]
    return (
        any(_runs(pid, started_ticks(pid)) for pid in members)
        or (is_server(record) and _runs(record.server_pid, record.server_started))
        or has_segments(record.server_pid, record.server_started)
    )


def own_groups(record: Record) -> tuple[str, ...]:
    name = f"scale-{record.name}"
    own = (p for p in record.cgroup_paths if os.path.normpath(p) == p and os.path.basename(p) == name)
    return tuple(path for path in own if path.startswith(_GROUPS))


def is_server(record: Record) -> bool:
    """Whether the process is the record's server: by its start time, and by a variable in its environment. Some servers
    write over their environment; they work in the directory of their data."""
    if not alive(record.server_pid, record.server_started):
        return False
    folder = f"/proc/{record.server_pid}"
    with contextlib.suppress(OSError):
        if f"{SERVER_VARIABLE}={record.name}".encode() in Path(folder, "environ").read_bytes().split(b"\0"):
            return True
    with contextlib.suppress(OSError):
        return any(Path(os.readlink(f"{folder}/cwd")).is_relative_to(path) for path in record.paths)
    return False


def _runs(pid: int, started: int) -> bool:
    try:
        return alive(pid, started) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
