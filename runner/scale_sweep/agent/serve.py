"""Answers a controller's requests, each in a thread, until standard input ends or no beat comes for LEASE_S."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scale_sweep.agent import checks, loads
from scale_sweep.agent.lines import BEAT_S, LEASE_S, READY, SharedWriter, Talk, parsed, plain_error
from scale_sweep.base.interrupts import Stopped
from scale_sweep.machine.host.host_facts import text_of

END_S = 90.0  # a server's clean stop, and the removal of its data
DIGEST_FILE = "digest"
Request = Callable[[Talk, Mapping[str, Any]], Any]

REQUESTS: Mapping[str, Request] = {**checks.REQUESTS, **loads.REQUESTS}


def request_of(name: str) -> Request:
    """Raises ValueError for a name that is none."""
    if name in REQUESTS:
        return REQUESTS[name]
    from scale_sweep.agent import trials  # 40 MB and most of the start, which a load host does not need

    if name not in trials.REQUESTS:
        raise ValueError(f"{name}: no such request")
    return trials.REQUESTS[name]


def main() -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the end of standard input says so
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing but lines goes to the controller
    agent = Agent(SharedWriter(output))
    signal.signal(signal.SIGTERM, lambda *_: agent.end("SIGTERM"))
    agent.serve()


class Agent:
    def __init__(self, writer: SharedWriter) -> None:
        self._writer, self._talks, self._heard = writer, dict[int, Talk](), time.monotonic()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def serve(self) -> None:
        python = ".".join(platform.python_version_tuple()[:2])
        self._writer.put(**{READY: True, "digest": own_digest(), "python": python, "pid": os.getpid()})
        threading.Thread(target=self._hold_lease, name="lease", daemon=True).start()
        try:
            for text in open(0, encoding="utf-8", closefd=False):
                self._heard = time.monotonic()
                self._take(parsed(text))
        except ValueError as error:
            self._writer.put(error=plain_error(error))
        self.end("the controller ended")

    def end(self, why: str) -> None:
        """Stops every request, waits until each has removed what it made, and ends the process."""
        with self._lock:
            talks, threads = list(self._talks.values()), list(self._threads)
        for talk in talks:
            talk.close(why)
        deadline = time.monotonic() + END_S
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))
        os._exit(0)

    def _hold_lease(self) -> None:
        """Ends the process without beats, and sends them: a busy host is not a dead one."""
        while time.monotonic() - self._heard < LEASE_S:
            time.sleep(BEAT_S)
            self._writer.put(beat=True)
        self.end(f"no beat of the controller for {LEASE_S:.0f} s")

    def _take(self, line: Mapping[str, Any]) -> None:
        if "to" in line:
            with self._lock:
                talk = self._talks.get(int(line["to"]))
            if talk is not None:
                talk.hear(line)
        elif "ask" in line:
            talk = Talk(int(line["id"]), self._writer)
            thread = threading.Thread(target=self._answer, args=(talk, line), name=str(line["ask"]), daemon=True)
            with self._lock:
                self._talks[talk.number] = talk
                self._threads = [*(one for one in self._threads if one.is_alive()), thread]
            thread.start()

    def _answer(self, talk: Talk, line: Mapping[str, Any]) -> None:
        try:
            with talk.stop.here():
                answer = request_of(str(line["ask"]))(talk, line)
            talk.put(answer=answer)
        except Stopped:
            talk.put(error={"kind": "", "message": "stopped", "remedy": ""})
        except BaseException as error:  # the controller raises it
            talk.put(error=plain_error(error))
        finally:
            with self._lock:
                self._talks.pop(talk.number, None)


def own_digest() -> str:
    """The digest of the agent's files, as `scale hosts prepare` recorded it; "" in a checkout."""
    return text_of(Path(__file__).resolve().parents[3] / DIGEST_FILE)
