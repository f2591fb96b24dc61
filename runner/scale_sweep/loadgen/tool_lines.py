"""The lines that another program prints: the first and the last of them are kept."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from scale_sweep.loadgen.tool_output import ToolLine

FIRST_LINES, LAST_LINES, LINE_MAX = 2_000, 20_000, 2_000  # that are kept


class ToolLines:
    """on_line: gets each one, in the thread that reads it."""

    def __init__(self, on_line: Callable[[ToolLine], None] = lambda line: None) -> None:
        self._on_line = on_line
        self._first: list[ToolLine] = []
        self._last: deque[ToolLine] = deque(maxlen=LAST_LINES)
        self._lock = threading.Lock()
        self._readers: list[threading.Thread] = []

    @property
    def kept(self) -> tuple[ToolLine, ...]:
        """In the order of their arrival."""
        with self._lock:
            return (*self._first, *self._last)

    def follow(self, stream: int, pass_on: Callable[[bytes], None] = lambda part: None) -> None:
        """Reads a file descriptor to its end in a thread of its own, and closes it."""
        reader = threading.Thread(target=self._read, args=(stream, pass_on), daemon=True)
        self._readers.append(reader)
        reader.start()

    def wait(self, seconds: float) -> None:
        """Until the ends of the streams; a program in the background may keep them open for longer."""
        deadline = time.monotonic() + seconds
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))

    def _read(self, stream: int, pass_on: Callable[[bytes], None]) -> None:
        rest = b""
        while True:
            try:
                part = os.read(stream, 65_536)
            except OSError:  # a terminal whose last user closed it
                part = b""
            if not part:
                break
            now_ns = time.monotonic_ns()
            pass_on(part)
            *whole, rest = (rest + part).replace(b"\r", b"\n").split(b"\n")
            self._keep(now_ns, whole)
            rest = rest[:LINE_MAX]
        self._keep(time.monotonic_ns(), [rest])
        os.close(stream)

    def _keep(self, now_ns: int, texts: Sequence[bytes]) -> None:
        with self._lock:
            for text in filter(None, texts):
                line = ToolLine(monotonic_ns=now_ns, text=text[:LINE_MAX].decode("utf-8", "replace"))
                (self._first if len(self._first) < FIRST_LINES else self._last).append(line)
                self._on_line(line)
