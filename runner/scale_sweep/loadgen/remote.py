"""Processes of the load generator on other hosts, in the form that those of this machine have."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any, Protocol

from scale_sweep.base.errors import LoadError


class LoadProcess(Protocol):
    """A process of the load generator, here or on another host."""

    @property
    def pid(self) -> int:
        """Its number; 0 on another host."""

    @property
    def returncode(self) -> int | None:
        """Its exit code, as `poll` saw it last."""

    @property
    def stdout(self) -> Iterable[str] | None:
        """Its lines."""

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""

    def send_signal(self, sig: int) -> None:
        """Does nothing if it has ended."""


class Elsewhere(Protocol):
    """Starts the processes of a load on other hosts."""

    error_ns: int  # the greatest difference between their clocks, after the times of their lines were converted

    def start(self, index: int, spec: Mapping[str, str], secret: str, errors: IO[str]) -> LoadProcess:
        """Starts one process. errors: for its standard error."""


class RemoteProcess:
    """signal: sends a signal to the process. errors: gets its standard error at its end."""

    pid = 0

    def __init__(self, signal: Callable[[int], None], errors: IO[str]) -> None:
        self._signal, self._errors = signal, errors
        self._lines: queue.SimpleQueue[str | LoadError | None] = queue.SimpleQueue()
        self.returncode: int | None = None

    @property
    def stdout(self) -> Iterator[str]:
        """Its lines to its end. Raises LoadError if its host is lost."""
        while (line := self._lines.get()) is not None:
            if isinstance(line, LoadError):
                raise line
            yield line

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self.returncode

    def send_signal(self, sig: int) -> None:
        """Does nothing if it has ended."""
        if self.returncode is None:
            self._signal(int(sig))

    def hear(self, news: Mapping[str, Any]) -> None:
        """Takes news of its host: {"text"} of a line; {"code", "errors"} of its end; or {"lost"}."""
        if "text" in news:
            self._lines.put(str(news["text"]))
        elif "lost" in news:
            self.lose(str(news["lost"]))
        else:
            self._errors.write(str(news["errors"]))
            self.returncode = int(news["code"])
            self._lines.put(None)

    def lose(self, why: str) -> None:
        """Nobody knows how it goes on: its host does not answer, which ends it."""
        self.returncode = -9
        self._lines.put(LoadError(why, remedy="scale hosts check; scale resume continues the run"))
