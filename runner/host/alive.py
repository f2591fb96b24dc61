"""Whether a process still lives. A PID counts only together with its start time, because numbers are reused."""

from __future__ import annotations

from pathlib import Path


def started_ticks(pid: int) -> int:
    """The process's start time in clock ticks since boot; 0 if there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def alive(pid: int, started: int) -> bool:
    """Whether that very process lives, and not another one with its number."""
    return pid > 0 and started > 0 and started_ticks(pid) == started
