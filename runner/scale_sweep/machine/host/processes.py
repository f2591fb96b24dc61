"""Processes: whether one still lives, what others use, how many files this one may open."""

from __future__ import annotations

import datetime
import errno
import os
import resource
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from scale_sweep.machine.host.host_facts import text_of


def started_ticks(pid: int) -> int:
    """Clock ticks since boot; 0 if there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def alive(pid: int, started: int) -> bool:
    """Whether that very process lives, and not another one with its number."""
    return pid > 0 and started > 0 and started_ticks(pid) == started


def started_utc(pid: int) -> datetime.datetime | None:
    """None if there is no such process, or it may not be seen."""
    try:
        return datetime.datetime.fromtimestamp(psutil.Process(pid).create_time(), datetime.UTC)
    except (psutil.Error, ValueError):
        return None


def may_live(pid: int, started: int, namespace: int) -> bool:
    """As `alive`; True for another PID namespace, which cannot be seen from here. namespace: 0 if not recorded."""
    return namespace not in (0, pid_namespace()) or alive(pid, started)


def pid_namespace() -> int:
    """Its inode; 0 if the kernel has none."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def boot_id() -> str:
    """Differs from one start of the machine to the next; "" if the kernel has none."""
    return text_of(Path("/proc/sys/kernel/random/boot_id"))


def machine_identity() -> str:
    """Differs from machine to machine and from start to start; "" if nothing is known."""
    return " ".join(filter(None, (text_of(Path("/etc/machine-id")), boot_id())))


LOOK_S = 0.5
USED_SHARE = 0.05  # of CPUs that other programs use: less, and they are quiet
BUSY = (1, 2, 3, 6, 7)  # fields of a CPU in /proc/stat: user, nice, system, irq, softirq


def other_cores(cpus: Iterable[int], proc: Path = Path("/proc"), seconds: float = LOOK_S) -> float | None:
    """The cores of these CPUs that other programs use, over so many seconds. None: not readable."""
    names, begun = {f"cpu{cpu}" for cpu in cpus}, time.monotonic()
    try:
        before = _busy_s(names, proc)
        time.sleep(seconds)
        return (_busy_s(names, proc) - before) / (time.monotonic() - begun)
    except (OSError, ValueError, IndexError):
        return None


def _busy_s(names: Iterable[str], proc: Path) -> float:
    lines = map(str.split, (proc / "stat").read_text(encoding="ascii").splitlines())
    return sum(int(line[at]) for line in lines if line and line[0] in names for at in BUSY) / os.sysconf("SC_CLK_TCK")


OPEN_FILES_REMEDY = "raise it in the shell, like ulimit -n 4096, and start again"


def open_files_limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 2**62


def is_open_files_error(error: OSError) -> bool:
    """The limit of this process, or of the machine."""
    return error.errno in (errno.EMFILE, errno.ENFILE)


def open_files_sentence(error: OSError) -> str:
    if error.errno == errno.ENFILE:
        return "this machine has as many files open as it may (fs.file-max)"
    return f"too many open files: the open_files_limit is {open_files_limit()} (ulimit -n)"
