"""Waiting for a server: until it answers, until its schema is there; a server that ended says its last words."""

from __future__ import annotations

import time
from collections.abc import Callable

from runner.errors import ProvisionError
from runner.runtimes import Server

READY_S = 60.0
LOG_LINES = 40


def wait_for(server: Server, pending: Callable[[], str], what: str) -> None:
    """Until pending says "". Raises ProvisionError after a minute, or when the server ends."""
    deadline = time.monotonic() + READY_S
    while why := pending():
        if not server.alive():
            raise ProvisionError(f"the server ended while starting: {last_words(server)}")
        if time.monotonic() > deadline:
            raise ProvisionError(f"{what} after {READY_S:.0f} s: {why}")
        time.sleep(0.1)


def last_words(server: Server) -> str:
    """The end of its log on one line."""
    lines = [line for line in server.log_tail(LOG_LINES).splitlines() if line.strip()]
    return " | ".join(lines[-3:]) or "it said nothing"
