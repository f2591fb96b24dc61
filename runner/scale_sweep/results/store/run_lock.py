"""The lock of a run: one process writes it at a time, and the lock ends with that process.

The kernel keeps the lock (flock(2) on the run's directory), so a kill, a reused PID or a reboot leaves none.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.machine.host.processes import alive, boot_id, started_ticks, started_utc
from scale_sweep.machine.state.runs import flocks
from scale_sweep.results.store.codec import strict_loads
from scale_sweep.results.store.stored import MANIFEST, Folder, read_text

FIELD = "writer"  # of the manifest
READERS_S = 1.0  # a reader takes the lock for microseconds
SETTLE_S = 0.3  # without locks: until two writers that start together see each other
_PAUSE_S = 0.02
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)


@dataclass(frozen=True, kw_only=True)
class Writer:
    pid: int
    started_ticks: int  # since the boot of its machine
    boot_id: str
    hostname: str

    def lives(self) -> bool:
        """A process of another machine counts as living."""
        if self.boot_id == boot_id():
            return alive(self.pid, self.started_ticks)
        return self.hostname != socket.gethostname()


def this_writer() -> Writer:
    pid = os.getpid()
    return Writer(pid=pid, started_ticks=started_ticks(pid), boot_id=boot_id(), hostname=socket.gethostname())


class RunLock:
    """Held by this process until the object is gone. Raises UsageError that names the other writer."""

    def __init__(self, run: Folder) -> None:
        self.run, is_locked = run, _lock(run.fd)
        if is_locked is False:
            raise _refusal(run)
        self._has_lock = is_locked is True
        if not self._has_lock and (other := _recorded(run)) is not None and other != this_writer() and other.lives():
            raise _refusal_without_lock(run, other)

    def settle(self) -> None:
        """Without locks, when the manifest is written: no other process named itself since. Raises UsageError."""
        if not self._has_lock:
            time.sleep(SETTLE_S)
            other = _recorded(self.run)
            if other is not None and other != this_writer():
                raise _refusal_without_lock(self.run, other)


def is_held(run: Folder) -> bool:
    fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=run.fd)  # anew: a lock belongs to an opening
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return True
        named = _recorded(run)
        return named is not None and _manifest(run).get("status") == "running" and named.lives()
    finally:
        os.close(fd)
    return False


def status_of(run: Folder, manifest: Mapping[str, Any]) -> str:
    """ "interrupted" for a run whose process is gone."""
    status = str(manifest.get("status", ""))
    return "interrupted" if status == "running" and not is_held(run) else status


def record() -> dict[str, Any]:
    return asdict(this_writer())


def _lock(fd: int) -> bool | None:
    """None if the file system has no such locks."""
    deadline = time.monotonic() + READERS_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno not in _TAKEN:
                return None
            if time.monotonic() > deadline:
                return False
        time.sleep(_PAUSE_S)


def _refusal(run: Folder) -> UsageError:
    pid = _locker(run.fd)
    since = started_utc(pid)
    who = f"process {pid}" if pid else "another process"
    return UsageError(
        f"{run} is being written by {who}" + (f", started {since:%Y-%m-%d %H:%M:%S} UTC" if since else ""),
        remedy=f"wait until it ends, or watch it: scale watch {shlex.quote(str(run))}",
    )


def _refusal_without_lock(run: Folder, other: Writer) -> UsageError:
    since = started_utc(other.pid) if other.boot_id == boot_id() else None
    when = f", started {since:%Y-%m-%d %H:%M:%S} UTC" if since else ""
    return UsageError(
        f"{run} is being written by process {other.pid} of {other.hostname}{when} (according to its manifest; its "
        "file system has no locks)",
        remedy="wait until that process ends; if it is gone, copy the run to a disk of this machine",
    )


def _locker(fd: int) -> int:
    """From the kernel's table; 0 if it is not there (another PID namespace)."""
    inode = f":{os.fstat(fd).st_ino}"
    return next((pid for pid, file in flocks() if file.endswith(inode)), 0)


def _recorded(run: Folder) -> Writer | None:
    try:
        return Writer(**_manifest(run)[FIELD])
    except (KeyError, TypeError):
        return None


def _manifest(run: Folder) -> Mapping[str, Any]:
    try:
        manifest = strict_loads(read_text(run, MANIFEST))
    except (StoreError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}
