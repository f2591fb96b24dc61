"""Holds memory for a server where new pages are dear: a child process pays for the pages once, and frees them as the
server writes (hold_pages.py says how).

Refuses to take memory while a trial runs, and to fail a run: without the child, pages cost what they cost.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from scale_sweep.base.spawning import spawn
from scale_sweep.machine.host.hold_pages import AHEAD_BYTES

TAKE_S = 60.0  # for all pages; more than the dearest known ones need
_LATE_S = 5.0  # for the child's start, and its last piece after its time
_PROGRAM = Path(__file__).with_name("hold_pages.py")


class HeldMemory:
    """A context manager; the child is gone after it. cpus: where the child runs. wanted_bytes: what a trial may use."""

    def __init__(self, wanted_bytes: int, cpus: Sequence[int]) -> None:
        self._wanted_bytes, self._cpus = wanted_bytes + AHEAD_BYTES, cpus
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> HeldMemory:
        command = (sys.executable, "-I", "-S", str(_PROGRAM), str(self._wanted_bytes))
        with contextlib.suppress(OSError):
            self._child = spawn(
                command, self._cpus, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child is None:
            return
        self._child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.communicate(timeout=_LATE_S)

    def take(self) -> int:
        """Holds all of it again, before a trial; it is freed as that trial's server takes memory. Returns how much of
        what was wanted is held, in bytes: less if the machine lacks memory or the child has ended."""
        child = self._child
        if child is None or child.stdin is None or child.stdout is None:
            return 0
        try:
            os.write(child.stdin.fileno(), f"take {TAKE_S}\n".encode())
        except OSError:
            return 0
        line = _line(child.stdout.fileno(), time.monotonic() + TAKE_S + _LATE_S)
        held = int(line.split()[1]) if line else 0
        return max(0, held - AHEAD_BYTES)


def _line(file: int, end_s: float) -> bytes:
    """One line; empty if none came in time, or the other side has ended."""
    text = b""
    while (left_s := end_s - time.monotonic()) > 0 and select.select([file], [], [], left_s)[0]:
        part = os.read(file, 4096)
        text += part
        if text.endswith(b"\n"):
            return text
        if not part:
            break
    return b""
