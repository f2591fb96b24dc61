"""Waits for a server: until it answers, or until its schema exists. If the server ends, the error has its last log
lines."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import Stop, current
from scale_sweep.server.runtimes import Server

READY_S = 60.0
LOG_LINES = 40
LOOK_S = 0.1
T = TypeVar("T")


def wait_for(server: Server, pending: Callable[[], str], what: str, stop: Stop, within_s: float = READY_S) -> None:
    """Waits until pending returns "". Raises ProvisionError after within_s, or when the server ends; Stopped."""
    deadline = time.monotonic() + within_s
    while why := pending():
        if not server.alive():
            raise ProvisionError(f"the server ended while starting: {last_words(server)}")
        if time.monotonic() > deadline:
            raise ProvisionError(f"{what} after {within_s:.0f} s: {why}")
        stop.sleep(LOOK_S)


@dataclass(frozen=True, kw_only=True)
class Answered(Generic[T]):
    """An answer that came in time; the answer may be None."""

    value: T


def answered(seconds: float, ask: Callable[[], T], go_on: Callable[[], bool] = lambda: True) -> Answered[T] | None:
    """The result or error of `ask`; None if it takes longer, or if go_on, called ten times a second, returns False.

    `ask` then continues in its own thread, ignored. Raises Stopped.
    """
    answers: queue.SimpleQueue[Answered[T] | BaseException] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(Answered(value=ask()))
        except BaseException as error:  # the caller raises it
            answers.put(error)

    threading.Thread(target=work, name="asker", daemon=True).start()
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0 and go_on():
        try:
            answer = answers.get(timeout=min(left, LOOK_S))
        except queue.Empty:
            current().look()
            continue
        if isinstance(answer, BaseException):
            raise answer
        return answer
    return None


def answer_within(seconds: float, ask: Callable[[], T]) -> T | None:
    """As `answered`, for questions whose answer is never None. None: it took longer."""
    answer = answered(seconds, ask)
    return answer.value if answer is not None else None


def last_words(server: Server) -> str:
    """The end of its log on one line."""
    lines = [line for line in server.log_tail(LOG_LINES).splitlines() if line.strip()]
    return " | ".join(lines[-3:]) or "it said nothing"
