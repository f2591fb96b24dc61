"""Whether a process still lives. A PID counts only together with its start time, because numbers are reused."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import psutil


def started_ticks(pid: int) -> int:
    """The process's start time in clock ticks since boot; 0 if there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def alive(pid: int, started: int) -> bool:
    """Whether that very process lives, and not another one with its number."""
    return pid > 0 and started > 0 and started_ticks(pid) == started


def started_utc(pid: int) -> datetime.datetime | None:
    """When the process started; None if there is no such process, or it may not be seen."""
    try:
        return datetime.datetime.fromtimestamp(psutil.Process(pid).create_time(), datetime.UTC)
    except (psutil.Error, ValueError):
        return None


def may_live(pid: int, started: int, namespace: int) -> bool:
    """Whether that process lives, or may: one of another PID namespace cannot be seen from here. namespace: 0 if it was
    not recorded."""
    return namespace not in (0, pid_namespace()) or alive(pid, started)


def pid_namespace() -> int:
    """The inode of this process' PID namespace, in which its numbers of processes count; 0 if the kernel has none."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def boot_id() -> str:
    """A text that differs from one start of the machine to the next; "" if the kernel has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def machine_identity() -> str:
    """A text that differs from machine to machine, and from one start to the next: the ids of the machine and of its
    start. "" if neither is known."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        machine = ""
    return " ".join(filter(None, (machine, boot_id())))
