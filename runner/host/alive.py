"""Whether the very process that made something still lives. A PID is believed only together with its start time."""

from __future__ import annotations

from pathlib import Path


def started_ticks(pid: int) -> int:
    """When the process started, in clock ticks since boot; 0 when there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def alive(pid: int, started: int) -> bool:
    """Whether that very process lives, and not another one under its number."""
    return pid > 0 and started > 0 and started_ticks(pid) == started
