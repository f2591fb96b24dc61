"""Asks the server of a trial with a deadline for every question. The error names the question and who did not answer.

Two limits apply, and the first that passes ends the wait: the question's own, and SILENT_S without a sign of work. A
server that was stopped, or that waits for ever, uses no CPU and writes nothing; one that flushes to a slow disk does. A
question that was given up continues in its own thread, ignored, until the server is ended with the trial. A process
that its session started for it is ended at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from scale_sweep.base.errors import TargetError
from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.sampling import machine
from scale_sweep.machine.sampling.subjects import subject_reader
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.measure.trial.waiting import READY_S, answered
from scale_sweep.model import DataDisk

SILENT_S = 60.0
SILENT_BYTES_PER_S = 1e5  # written to the same disk by others at rest: logs and journals
LOOK_S = 1.0
ANSWER_S = 120.0  # version, settings, places: small answers, possibly from a server that is still starting
SCHEMA_S = 300.0  # 1,024 partitions with their indexes
TABLES_S = 900.0  # a million tables, made one by one
DROP_S = 120.0
CLOSE_S = 10.0
FLUSH_LEAST_S = 120.0
FLUSH_BYTES_PER_S = 5e5  # of the values: ten times as much on a disk of 5 MB/s, with indexes and a log
COUNT_LEAST_S = 120.0
COUNT_ROWS_PER_S = 1e5
T = TypeVar("T")


def flush_s(data_bytes: float) -> float:
    """The limit for a flush of this many bytes of values, in seconds."""
    return FLUSH_LEAST_S + data_bytes / FLUSH_BYTES_PER_S


def count_s(rows: int) -> float:
    """The limit for counting, in seconds."""
    return COUNT_LEAST_S + rows / COUNT_ROWS_PER_S


def asked(reached: Reached, question: Callable[[], T], limit_s: float, disks: Sequence[DataDisk] = ()) -> T:
    """The session's method's result or error. Raises TargetError after limit_s, or SILENT_S without work; Stopped.

    disks: where the server writes, as signs of work.
    """
    session = reached.session
    session.asking, session.deadline_s = "", time.monotonic() + limit_s
    work = _Work(reached, disks)
    answer = None
    try:
        answer = answered(limit_s, question, lambda: work.silent_s() <= SILENT_S)
    finally:
        if answer is None:
            session.give_up()
    if answer is not None:
        return answer.value
    what = session.asking or (question.func if isinstance(question, partial) else question).__name__
    words = f"{reached.who} did not answer {what} within {work.waited_s():.0f} s"
    raise TargetError(
        words + (", in which it used no CPU and wrote next to nothing" if work.silent_s() > SILENT_S else ""),
        remedy="see the server's log; was it stopped, or does its disk hang?",
    )


def until_ready(reached: Reached, pending: Callable[[], str]) -> Callable[[], str]:
    """The question whether something exists already, each time with the deadline of a starting server."""
    return lambda: asked(reached, pending, READY_S)


@contextmanager
def closed_at_last(reached: Reached) -> Iterator[None]:
    """Closes the session at the end of the block. A session that cannot be closed is abandoned."""
    try:
        yield
    finally:
        with deferred() as hurry:
            answered(CLOSE_S, reached.session.close, lambda: not hurry())


class _Work:
    """Measures since when a server has done nothing. It looks at most once a second."""

    def __init__(self, reached: Reached, disks: Sequence[DataDisk]) -> None:
        self._disks = tuple(disks)
        self._read = subject_reader(reached.server.accounting())
        self._begun = self._looked = self._worked = time.monotonic()
        self._cpu_s, self._written = self._now()

    def waited_s(self) -> float:
        """Seconds since the question."""
        return time.monotonic() - self._begun

    def silent_s(self) -> float:
        """Seconds without work; 0 if its CPU time cannot be read."""
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            cpu_s, written = self._now()
            noise = SILENT_BYTES_PER_S * (now - self._worked)
            if cpu_s is None or cpu_s != self._cpu_s or written - self._written > noise:
                self._worked, self._cpu_s, self._written = now, cpu_s, written
        return self._looked - self._worked

    def _now(self) -> tuple[float | None, int]:
        samples = machine.disk_samples(self._disks).values()
        return self._read().cpu_s_total, sum(sample.written_bytes_total or 0 for sample in samples)
