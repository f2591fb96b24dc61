"""Holds memory for a server where new pages are dear: a child process pays for the pages once, and frees them as the
server writes (hold_pages.py says how)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from scale_sweep.machine.host.hold_pages import AHEAD_BYTES
from scale_sweep.machine.host.line_child import LineChild

TAKE_S = 60.0  # for all pages; more than the dearest known ones need
_LATE_S = 5.0  # for the child's start, and its last piece after its time
_PROGRAM = Path(__file__).with_name("hold_pages.py")


class HeldMemory:
    """A context manager; the child is gone after it. cpus: where the child runs. wanted_bytes: what a trial may use."""

    def __init__(self, wanted_bytes: int, cpus: Sequence[int]) -> None:
        self._child = LineChild(_PROGRAM, (wanted_bytes + AHEAD_BYTES,), cpus)

    def __enter__(self) -> HeldMemory:
        self._child.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.stop(_LATE_S)

    def take(self) -> int:
        """Holds all of it again, before a trial; it is freed as that trial's server takes memory. Returns how much of
        what was wanted is held, in bytes: less if the machine lacks memory or the child has ended."""
        self._child.new_lines()  # a late answer to the last call
        if not self._child.write(f"take {TAKE_S}"):
            return 0
        line = next(self._child.lines(time.monotonic() + TAKE_S + _LATE_S), b"")
        held = int(line.split()[1]) if line else 0
        return max(0, held - AHEAD_BYTES)
