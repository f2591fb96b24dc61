"""The lines between a controller and an agent, one JSON object each, and a request that runs."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from scale_sweep.base import errors
from scale_sweep.base.errors import ProvisionError, ScaleError
from scale_sweep.base.interrupts import Stop

BEAT_S = 5.0
LEASE_S = 30.0  # without a line from the controller
LINE_MAX = 64 * 2**20  # characters of one line: a trial's file of requests
READY = "ready"


class SharedWriter:
    """Writes lines from any thread. After the other side has ended, the reader sees that; nothing is raised."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream, self._lock = stream, threading.Lock()

    def put(self, **line: Any) -> None:
        text = json.dumps(line, ensure_ascii=False, default=str) + "\n"
        with self._lock:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):
                return


def parsed(text: str) -> dict[str, Any]:
    """Raises ValueError."""
    if len(text) > LINE_MAX:
        raise ValueError(f"a line of {len(text):,} characters")
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("the line is no JSON object")
    return value


def plain_error(error: BaseException) -> dict[str, str]:
    """An error as a value; of one that is not for the user, its kind and text."""
    if isinstance(error, ScaleError):
        return {"kind": type(error).__name__, "message": error.message, "remedy": error.remedy}
    return {"kind": "", "message": f"{type(error).__name__}: {error}", "remedy": ""}


def error_of(plain: Mapping[str, Any], host: str) -> ScaleError:
    kind = getattr(errors, str(plain.get("kind") or ""), ProvisionError)
    if not (isinstance(kind, type) and issubclass(kind, ScaleError)):
        kind = ProvisionError
    message = str(plain.get("message") or "no reason given")
    return kind(f"{host}: {message}" if host else message, remedy=str(plain.get("remedy") or ""))


class Talk:
    """A request that runs. stop: of its thread. on_line: called in the reader's thread for each line from the
    controller."""

    def __init__(self, number: int, writer: SharedWriter) -> None:
        self.number, self.stop = number, Stop()
        self.heard: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self.on_line: Callable[[Mapping[str, Any]], None] = self.heard.put
        self._writer = writer

    def put(self, **line: Any) -> None:
        self._writer.put(id=self.number, **line)

    def hear(self, line: Mapping[str, Any]) -> None:
        if line.get("stop"):
            self.close("stopped by the controller")
        else:
            self.on_line(line)

    def close(self, why: str) -> None:
        self.stop.request()
        self.on_line({"closed": why})
