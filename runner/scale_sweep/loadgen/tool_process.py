"""Runs a load tool as its user typed it: the user's environment, input and terminal. Its output passes through."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pty
import signal
import sys
import termios
import time
from collections.abc import Callable, Sequence
from functools import partial

from scale_sweep.base.errors import UsageError
from scale_sweep.base.interrupts import Stop, deferred
from scale_sweep.base.spawning import spawn
from scale_sweep.loadgen.tool_lines import ToolLines
from scale_sweep.loadgen.tool_output import ToolLine
from scale_sweep.machine.sampling.processes import names, proc_text

LOOK_S, END_LOOK_S = 1.0, 0.1  # at its processes, and whether it ended
END_S = 15.0  # after a request to end, before SIGTERM, and again before SIGKILL
READ_S = 1.0  # after its end, for output that is on its way
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


class ToolProcess:
    """Enter, `wait`, then its facts. sink: the file descriptor in place of standard output."""

    def __init__(self, argv: Sequence[str], sink: int = 1) -> None:
        self._argv, self._sinks = tuple(argv), {1: sink, 2: 2}
        self._lines = ToolLines()
        self.pid = 0
        self.code: int | None = None
        self.cpu_s = 0.0
        self.started_ns = self.ended_ns = 0
        self.is_interrupted = False
        self.adopted: tuple[int, ...] = ()
        self._not_its: frozenset[int] = frozenset()

    def start(self) -> None:
        """Raises UsageError if there is no such program."""
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # what it leaves in the background becomes a child of this one
        before, streams = _children(), {number: _stream(number) for number in (1, 2)}
        try:
            with deferred():
                self._process = spawn(
                    self._argv,
                    tuple(os.sched_getaffinity(0)),
                    stdin=None,
                    stdout=streams[1][1],
                    stderr=streams[2][1],
                )
        except OSError as error:
            raise UsageError(f"{self._argv[0]}: {error.strerror}", remedy="name a program that can be run") from None
        finally:
            for _, theirs in streams.values():
                os.close(theirs)
        self.pid, self.started_ns = self._process.pid, time.monotonic_ns()
        self._not_its = before | {self.pid}
        for number, (ours, _) in streams.items():
            self._lines.follow(ours, partial(_write, self._sinks[number]))

    @property
    def lines(self) -> tuple[ToolLine, ...]:
        return self._lines.kept

    def disown(self, pids: frozenset[int]) -> None:
        """Children of this process that the tool did not leave behind."""
        self._not_its |= pids

    def wait(self, stop: Stop, look: Callable[[], None]) -> None:
        """Until it ends. Requests to end wait in a deferred block of the caller: the tool gets the first one as Ctrl-C,
        and a second one kills it."""
        requests: list[None] = []
        signals, deadline, heard, next_s = iter((signal.SIGTERM, signal.SIGKILL)), float("inf"), 0, 0.0
        with stop.waking(lambda: requests.append(None)):
            while not self._has_ended():
                if time.monotonic() >= next_s:
                    self.adopt()
                    look()
                    next_s = time.monotonic() + LOOK_S
                stop.sleep(END_LOOK_S)
                count = len(requests) or int(stop.requested())
                if count > heard:
                    if heard:
                        self._send(signal.SIGKILL)
                    elif not _is_in_foreground():  # else the terminal sent Ctrl-C to all of its processes
                        self._send(signal.SIGINT)
                    heard, deadline = count, time.monotonic() + END_S
                if time.monotonic() > deadline:
                    self._send(next(signals, signal.SIGKILL))
                    deadline += END_S
        self.is_interrupted = bool(heard)
        self.adopt()

    def read_to_end(self) -> None:
        """A process that it left behind may keep its output open: that is not waited for."""
        self._lines.wait(READ_S)

    def _has_ended(self) -> bool:
        pid, status, used = os.wait4(self.pid, os.WNOHANG)
        if pid:
            self.code = self._process.returncode = os.waitstatus_to_exitcode(status)
            self.ended_ns, self.cpu_s = time.monotonic_ns(), used.ru_utime + used.ru_stime
        return bool(pid)

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def adopt(self) -> tuple[int, ...]:
        """Living processes that it started and that outlived their parent: they are this process's children now."""
        mine = _children() - self._not_its
        self.adopted = tuple(sorted(pid for pid in mine if not _is_reaped(pid)))
        return self.adopted


def _children() -> frozenset[int]:
    own = f"/proc/{os.getpid()}/task"
    texts = (proc_text(f"{own}/{task}/children") or "" for task in names(own))
    return frozenset(int(pid) for text in texts for pid in text.split())


def _is_reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _write(sink: int, part: bytes) -> None:
    """A sink that nobody reads is no error of the tool."""
    with contextlib.suppress(OSError):
        while part:
            part = part[os.write(sink, part) :]


def _stream(number: int) -> tuple[int, int]:
    """Ours to read and theirs to write: a terminal of the same size where ours is one."""
    if not os.isatty(number):
        return os.pipe2(os.O_CLOEXEC)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, fcntl.ioctl(number, termios.TIOCGWINSZ, b"\0" * 8))
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST  # the real terminal does that
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    return ours, theirs


def _is_in_foreground() -> bool:
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno() if sys.__stdin__ else 0) == os.getpgrp()
    except (OSError, ValueError):
        return False
