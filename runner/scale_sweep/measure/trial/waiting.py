"""Waits for the server of a trial, with a limit for every wait: for an answer, until it is ready, until its schema
exists, until it is idle."""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from scale_sweep.base.errors import LoadError, ProvisionError, ScaleError, TargetError
from scale_sweep.base.interrupts import Stop, current, deferred
from scale_sweep.base.units import counted, format_seconds
from scale_sweep.machine.host.processes import USED_SHARE, other_cores
from scale_sweep.machine.sampling import machine
from scale_sweep.machine.sampling.processes import subject_reader
from scale_sweep.machine.sampling.programs import OtherPrograms
from scale_sweep.measure.trial.disks import full_disk
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached, prove_pinning
from scale_sweep.model.events import Noted
from scale_sweep.model.resources import Placement
from scale_sweep.model.samples import DataDisk
from scale_sweep.server.runtimes import Server
from scale_sweep.server.runtimes.cgroup import out_of_memory_words

READY_S = 60.0
LOG_LINES = 40
LOOK_S = 0.1
SILENT_S = 60.0
SILENT_BYTES_PER_S = 1e5  # by others on the same disk: logs
WORK_LOOK_S = 1.0
ANSWER_S = 120.0  # a server may still be starting
SCHEMA_S = 300.0  # 1,024 partitions with their indexes
TABLES_S = 900.0  # a million tables, one by one
DROP_S = 120.0
CLOSE_S = 10.0
FLUSH_LEAST_S = 120.0
FLUSH_BYTES_PER_S = 5e5  # of the values; a disk of 5 MB/s writes ten times as much
COUNT_LEAST_S = 120.0
COUNT_ROWS_PER_S = 1e5
IDLE_CORES = 0.25  # a merge takes a whole thread
IDLE_LOOK_S = 1.0
IDLE_WITHIN_S = 300.0
FULL_S = 10.0
QUIET_LOOK_S = 2.0
QUIET_CORES = 0.1  # the noise of a machine that does nothing else
ENDING_S = 1.0  # connections close before the server is gone
T = TypeVar("T")


def look_at_others(cpus: Sequence[int]) -> tuple[float, str]:
    """The cores of these CPUs that other programs use, and the programs in words."""
    programs = OtherPrograms()
    cores = other_cores(cpus, seconds=QUIET_LOOK_S) or 0.0
    return cores, ", ".join(programs.busiest(cpus))


def until_quiet(
    order: TrialOrder,
    stop: Stop,
    look: Callable[[Sequence[int]], tuple[float, str]] = look_at_others,
    now_s: Callable[[], float] = time.monotonic,
) -> Iterator[Noted]:
    """Until other programs use little of the server's CPUs, or the order's time is over. Raises Stopped."""
    placement, trial_id = order.trial.placement, order.trial.trial_id
    is_elsewhere = bool(order.trial.subject.endpoint) or not placement.server_cpus
    cpus, whose = (placement.generator_cpus, "load generator") if is_elsewhere else (placement.server_cpus, "server")
    little, begun, limit = max(QUIET_CORES, USED_SHARE * len(cpus)), now_s(), format_seconds(order.wait_quiet_s)
    of = f"of the {counted(len(cpus), 'CPU')} of the {whose}"
    is_waiting = False
    while True:
        stop.look()
        cores, named = look(cpus)
        waited_s, named = now_s() - begun, f" ({named})" if named else ""
        if cores <= little:
            if is_waiting:
                yield Noted(trial_id=trial_id, sentence=f"quiet after {format_seconds(waited_s)}: the trial begins")
            return
        if waited_s >= order.wait_quiet_s:
            sentence = f"after {limit} other programs still use {cores:.2f} {of}{named}: the trial begins all the same"
            yield Noted(trial_id=trial_id, sentence=sentence)
            return
        if not is_waiting:
            sentence = f"waits up to {limit} until other programs use at most {little:.2g} {of}; now {cores:.2f}{named}"
            yield Noted(trial_id=trial_id, sentence=sentence)
        is_waiting = True


def wait_until_ready(reached: Reached, placement: Placement, within_s: float, stop: Stop) -> None:
    """And on its CPUs. Raises ProvisionError, Stopped."""
    wait_for(reached, reached.session.not_ready, "the server was not ready", stop, within_s)
    prove_pinning(reached.server, placement)


def wait_for_schema(reached: Reached, stop: Stop) -> None:
    """Unless the files of the server hold schema and tables. Raises TargetError, Stopped."""
    session, is_there = reached.session, reached.address.holds_data
    if not is_there:
        ask(reached, session.create_schema, SCHEMA_S)
    wait_for(reached, session.schema_pending, "the schema was not ready", stop)
    if not is_there:
        ask(reached, session.create_tables, TABLES_S)


def wait_for(reached: Reached, pending: Callable[[], str], what: str, stop: Stop, within_s: float = READY_S) -> None:
    """Until the session's `pending` returns "". Raises ProvisionError after within_s, or when the server ends;
    TargetError, Stopped."""
    server, deadline = reached.server, time.monotonic() + within_s
    while why := ask(reached, pending, READY_S):
        if not server.alive():
            raise ProvisionError(f"the server ended while starting{ended_words(server)}: {last_words(server)}")
        if time.monotonic() > deadline:
            raise ProvisionError(f"{what} after {within_s:.0f} s: {why}")
        stop.sleep(LOOK_S)


def idle_cores(
    reached: Reached, stop: Stop, within_s: float = IDLE_WITHIN_S, look_s: float = IDLE_LOOK_S
) -> float | None:
    """In the last look, when under IDLE_CORES or after within_s; None: cannot be read. Raises Stopped."""
    read, deadline = subject_reader(reached.server.accounting()), time.monotonic() + within_s
    while True:
        before, begun = read().cpu_s_total, time.monotonic()
        stop.sleep(look_s)
        after, ended = read().cpu_s_total, time.monotonic()
        if before is None or after is None:
            return None
        used = (after - before) / (ended - begun)
        if used < IDLE_CORES or ended > deadline:
            return used


def ask(reached: Reached, request: Callable[[], T], limit_s: float, disks: Sequence[DataDisk] = ()) -> T:
    """A session's answer. disks: writes are signs of work. Raises TargetError after limit_s, or SILENT_S without
    work; Stopped."""
    session = reached.session
    session.asking, session.deadline_s = "", time.monotonic() + limit_s
    work = _Activity(reached, disks)
    answer = None
    try:
        answer = answered(limit_s, request, lambda: work.silent_s() <= SILENT_S)
    finally:
        if answer is None:
            session.give_up()
    if answer is not None:
        return answer.value
    what = session.asking or (request.func if isinstance(request, partial) else request).__name__
    words = f"{reached.who} did not answer {what} within {time.monotonic() - work.begun:.0f} s"
    raise TargetError(
        words + (", in which it used no CPU and wrote next to nothing" if work.silent_s() > SILENT_S else ""),
        remedy="see the server's log; was it stopped, or does its disk hang?",
    )


def flush_s(data_bytes: float) -> float:
    return FLUSH_LEAST_S + data_bytes / FLUSH_BYTES_PER_S


def count_s(rows: int) -> float:
    return COUNT_LEAST_S + rows / COUNT_ROWS_PER_S


@contextmanager
def closed_at_last(reached: Reached) -> Iterator[None]:
    """A session that cannot be closed is abandoned."""
    try:
        yield
    finally:
        with deferred() as hurry:
            answered(CLOSE_S, reached.session.close, lambda: not hurry())


class _Activity:
    """Since when a server has done nothing; looks once a second at most."""

    def __init__(self, reached: Reached, disks: Sequence[DataDisk]) -> None:
        self._disks = tuple(disks)
        self._read = subject_reader(reached.server.accounting())
        self.begun = self._looked = self._worked = time.monotonic()
        self._cpu_s, self._written = self._now()

    def silent_s(self) -> float:
        """0 if the CPU time cannot be read."""
        now = time.monotonic()
        if now - self._looked >= WORK_LOOK_S:
            self._looked = now
            cpu_s, written = self._now()
            noise = SILENT_BYTES_PER_S * (now - self._worked)
            if cpu_s is None or cpu_s != self._cpu_s or written - self._written > noise:
                self._worked, self._cpu_s, self._written = now, cpu_s, written
        return self._looked - self._worked

    def _now(self) -> tuple[float | None, int]:
        samples = machine.disk_samples(self._disks).values()
        return self._read().cpu_s_total, sum(sample.written_bytes_total or 0 for sample in samples)


@dataclass(frozen=True, kw_only=True)
class InTime(Generic[T]):
    """The answer may be None."""

    value: T


def answered(seconds: float, request: Callable[[], T], go_on: Callable[[], bool] = lambda: True) -> InTime[T] | None:
    """None after so many seconds, or when go_on is False; the request continues in its thread. Raises Stopped."""
    answers: queue.SimpleQueue[InTime[T] | BaseException] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(InTime(value=request()))
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


def answer_within(seconds: float, request: Callable[[], T]) -> T | None:
    """For a request whose answer is never None; None if it took longer."""
    answer = answered(seconds, request)
    return answer.value if answer is not None else None


def with_cause(error: ScaleError, server: Server, order: TrialOrder) -> ScaleError:
    """The error to report in place of this one."""
    if killed := killed_for_memory(server, order):
        return ProvisionError(f"{killed} ({error.message})")
    if not isinstance(error, (LoadError, TargetError)):
        return error
    if full := answer_within(FULL_S, lambda: full_disk(order.disks, order.disk_free_min_bytes)) or "":
        return error if "about to fill" in error.message else LoadError(f"{full} ({error.message})")
    deadline = time.monotonic() + ENDING_S
    while server.alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    if server.alive():
        return error
    killed = killed_for_memory(server, order)  # the first answer may be from before its end
    why = killed or f"the server ended during the trial{ended_words(server)}: {last_words(server)}"
    return ProvisionError(f"{why} ({error.message})")


def killed_for_memory(server: Server, order: TrialOrder) -> str:
    return out_of_memory_words(server.out_of_memory(), order.trial.resources.memory_bytes, order.level_words)


def ended_words(server: Server) -> str:
    """Behind a verb: " by SIGKILL ...", " with code 1"."""
    code = server.exit_code()
    if code is None:
        return ""
    if code >= 0:
        return f" with code {code}"
    name = {one.value: one.name for one in signal.Signals}.get(-code, f"signal {-code}")
    who = " (sent by a person, or by the kernel without memory: dmesg)" if name == "SIGKILL" else ""
    return f" by {name}{who}"


def last_words(server: Server) -> str:
    """On one line."""
    lines = [line for line in server.log_tail(LOG_LINES).splitlines() if line.strip()]
    return " | ".join(lines[-3:]) or "it said nothing"
