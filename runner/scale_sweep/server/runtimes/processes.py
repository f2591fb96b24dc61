"""The processes of one server, and the shared memory that killed ones leave."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from scale_sweep.machine.host.processes import alive, boot_id, started_ticks
from scale_sweep.machine.state.records import SERVER_VARIABLE, Record
from scale_sweep.server.runtimes.cgroup import Group

_TABLE = Path("/proc/sysvipc/shm")
_FILES = "/dev/shm/"
_IPC_RMID = 0
_CLOCK_S = 2.0  # the table has whole seconds, and the boot time is rounded


@dataclass(frozen=True, kw_only=True)
class Shared:
    segments: frozenset[int] = frozenset()  # their numbers
    files: frozenset[str] = frozenset()  # their paths

    def __or__(self, other: Shared) -> Shared:
        return Shared(segments=self.segments | other.segments, files=self.files | other.files)


def shared_by(pids: Iterable[int]) -> Shared:
    """Mapped now; nothing with their own /dev/shm."""
    segments, files = set(), set()
    for pid in pids:
        with contextlib.suppress(OSError):
            if any(os.readlink(f"/proc/{pid}/ns/{ns}") != os.readlink(f"/proc/self/ns/{ns}") for ns in ("ipc", "mnt")):
                continue
            for inode, path in _mapped(pid):
                if path.startswith("/SYSV"):
                    segments.add(inode)
                elif path.startswith(_FILES):
                    files.add(path)
    return Shared(segments=frozenset(segments), files=frozenset(files))


def remove_shared(shared: Shared, uid: int, maker_started: int) -> None:
    """Removes what nobody maps any more, of this user, made since maker_started (clock ticks since boot)."""
    began_s = _began_s(maker_started)
    _remove(
        int(row["shmid"])
        for row in _rows()
        if int(row["shmid"]) in shared.segments and int(row["cuid"]) == uid and _is_left(row, began_s)
    )
    if not shared.files:
        return
    used = shared_by(psutil.pids()).files
    for path in shared.files - used:
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if status.st_uid == uid and status.st_ctime >= began_s:
                os.unlink(path)


def remove_segments(maker_pid: int, maker_started: int) -> tuple[int, ...]:
    """maker_started: in clock ticks since boot."""
    if not maker_pid:
        return ()
    began_s = _began_s(maker_started)
    return _remove(int(r["shmid"]) for r in _rows() if int(r["cpid"]) == maker_pid and _is_left(r, began_s))


def has_segments(maker_pid: int, maker_started: int) -> bool:
    if not maker_pid:
        return False
    began_s = _began_s(maker_started)
    return any(int(r["cpid"]) == maker_pid and int(r["ctime"]) >= began_s for r in _rows())


def _began_s(started: int) -> float:
    return float(psutil.boot_time()) + started / os.sysconf("SC_CLK_TCK") - _CLOCK_S


def _is_left(row: dict[str, str], began_s: float) -> bool:
    return row["nattch"] == "0" and int(row["ctime"]) >= began_s


def _remove(numbers: Iterable[int]) -> tuple[int, ...]:
    libc = ctypes.CDLL(None, use_errno=True)
    return tuple(number for number in numbers if libc.shmctl(number, _IPC_RMID, None) == 0)


def _mapped(pid: int) -> Iterator[tuple[int, str]]:
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6:
            yield int(fields[4]), fields[5]


def _rows() -> list[dict[str, str]]:
    try:
        head, *lines = _TABLE.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    return [dict(zip(head.split(), line.split(), strict=False)) for line in lines]


LOOK_S = 0.02
_GROUPS = "/sys/fs/cgroup/"


class Processes:
    """All that were ever seen: one whose parent has ended is in no tree. pids: those that can be found now."""

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self._pids = pids
        self._seen: dict[int, int] = {}
        self.shared = Shared()

    def left(self) -> tuple[int, ...]:
        self._seen = {pid: started_ticks(pid) for pid in self._pids() if pid not in self._seen} | self._seen
        return tuple(pid for pid, started in self._seen.items() if _runs(pid, started))

    def send(self, number: signal.Signals) -> None:
        """A killed process does not remove what it shares."""
        pids = self.left()
        self.shared |= shared_by(pids)
        for pid in pids:
            send(pid, number)

    def kill(self, limit_s: Callable[[], float]) -> bool:
        """Also those that start meanwhile. Whether all are gone within the limit, which may change."""
        begun = time.monotonic()
        while self.left():
            if time.monotonic() - begun > limit_s():
                return False
            self.send(signal.SIGKILL)
            time.sleep(LOOK_S)
        return True


def wait_until(over: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not over():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_S)
    return True


def send(pid: int, number: signal.Signals) -> None:
    """No error if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def has_left(record: Record) -> bool:
    """A process, or shared memory that is still used."""
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
    """By its start, and its environment or directory: some servers write over their environment."""
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
