"""Waiting for a server: until it answers, until its schema is there; a server that ended says its last words."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from runner.errors import ProvisionError
from runner.interrupts import Stop
from runner.runtimes import Server

READY_S = 60.0
LOG_LINES = 40
LOOK_S = 0.1
T = TypeVar("T")


def wait_for(server: Server, pending: Callable[[], str], what: str, stop: Stop) -> None:
    """Until pending says "". Raises ProvisionError after a minute, or when the server ends; Stopped."""
    deadline = time.monotonic() + READY_S
    while why := pending():
        if not server.alive():
            raise ProvisionError(f"the server ended while starting: {last_words(server)}")
        if time.monotonic() > deadline:
            raise ProvisionError(f"{what} after {READY_S:.0f} s: {why}")
        stop.sleep(LOOK_S)


def answer_within(seconds: float, ask: Callable[[], T]) -> T | None:
    """What ask returns or raises; None when that takes longer. Then it goes on in a thread of its own, unheard."""
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put((ask(), None))
        except BaseException as error:  # it is the asker's to raise
            answers.put((None, error))

    threading.Thread(target=work, name="asker", daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except queue.Empty:
        return None
    if error is not None:
        raise error
    return answer


def last_words(server: Server) -> str:
    """The end of its log on one line."""
    lines = [line for line in server.log_tail(LOG_LINES).splitlines() if line.strip()]
    return " | ".join(lines[-3:]) or "it said nothing"
