"""One request of a controller and its lines, in both directions."""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping
from typing import Any

from scale_sweep.agent.lines import SharedWriter
from scale_sweep.base.interrupts import Stop


class Talk:
    """A request that runs. stop: of its thread, requested when the controller ends or asks for it.

    on_line: called in the reader's thread for each line from the controller; by default they are queued in `heard`.
    """

    def __init__(self, number: int, writer: SharedWriter) -> None:
        self.number, self.stop = number, Stop()
        self.heard: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self.on_line: Callable[[Mapping[str, Any]], None] = self.heard.put
        self._writer = writer

    def put(self, **line: Any) -> None:
        """Sends a line of this request."""
        self._writer.put(id=self.number, **line)

    def hear(self, line: Mapping[str, Any]) -> None:
        """Takes a line from the controller."""
        if line.get("stop"):
            self.close("stopped by the controller")
        else:
            self.on_line(line)

    def close(self, why: str) -> None:
        """Requests the end."""
        self.stop.request()
        self.on_line({"closed": why})
