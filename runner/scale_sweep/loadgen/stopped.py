"""Notices processes of the load generator that somebody has stopped (SIGSTOP, a debugger)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from scale_sweep.base.errors import LoadError

STOPPED_S = 10.0
_STOPPED = ("T", "t")  # by a signal, by a debugger


class GeneratorStopped(LoadError):
    """A process of the load generator was stopped, so the server had nothing to answer."""


class StoppedWatch:
    """Since when each process has been stopped."""

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    def look(self, pids: Sequence[int]) -> None:
        """Looks at the processes. Raises GeneratorStopped if one has been stopped for too long."""
        now = time.monotonic()
        self._since = {pid: self._since.get(pid, now) for pid in pids if is_stopped(pid)}
        pid, since = min(self._since.items(), key=lambda item: item[1], default=(0, now))
        if now - since > STOPPED_S:
            raise GeneratorStopped(
                f"the load generator did not run: its process {pid} has been stopped for {now - since:.0f} s (SIGSTOP, "
                "or a debugger)",
                remedy="find out who stopped it; a process that is to go on gets SIGCONT",
            )


def is_stopped(pid: int) -> bool:
    """Whether a signal or a debugger keeps the process from running."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in _STOPPED
    except (OSError, IndexError):
        return False
