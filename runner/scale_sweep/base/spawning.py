"""Starts child processes on their own CPUs from one lasting thread, runs short ones, and keeps proxies away from
them."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Any

from scale_sweep.base.interrupts import deferred

START_S = 60.0  # a program on a hanging file system never starts
KILLED_S = 1.0  # a killed program that waits for a hanging disk does not end
_Task = Callable[[], None]


class _Starter:
    """The starting thread and its requests. After a fork, the new process has this object but not the thread."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="starter", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._tasks.get()()

    def start(self, argv: Sequence[str], cpus: Sequence[int], options: dict[str, Any]) -> subprocess.Popen[Any]:
        done: queue.SimpleQueue[subprocess.Popen[Any] | BaseException] = queue.SimpleQueue()
        late = threading.Event()

        def task() -> None:
            try:
                os.sched_setaffinity(0, cpus)
                made = subprocess.Popen(argv, **options)
                if late.is_set():  # nobody refers to it any more
                    made.kill()
                done.put(made)
            except BaseException as error:  # the thread must survive; the caller raises the error
                done.put(error)

        self._tasks.put(task)
        try:
            made = done.get(timeout=START_S)
        except queue.Empty:
            late.set()
            raise OSError(errno.ETIMEDOUT, f"{argv[0]} was not started within {START_S:.0f} s") from None
        if isinstance(made, BaseException):
            raise made
        return made


_lock = threading.Lock()
_starter: _Starter | None = None


def spawn(argv: Sequence[str], cpus: Sequence[int], **options: Any) -> subprocess.Popen[Any]:
    """subprocess.Popen(argv, **options) on these CPUs; a request to stop waits for the process. Raises OSError."""
    global _starter  # noqa: PLW0603
    with deferred():
        with _lock:
            if _starter is None or _starter.pid != os.getpid():
                _starter = _Starter()
        return _starter.start(argv, cpus, options)


def run_within(limit_s: float, argv: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a short program. Raises OSError, and TimeoutExpired after limit_s. Unlike subprocess.run, abandons a killed
    program that does not end."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(argv, encoding="utf-8", errors="replace", **{**streams, **options})
    try:
        output, words = process.communicate(timeout=limit_s)
    except BaseException:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=KILLED_S)
        raise
    return subprocess.CompletedProcess(argv, process.returncode, output, words)


_HERE = ("localhost", "127.0.0.1", "::1")


def go_direct() -> None:
    """Called first: every library and child then reaches this machine's own addresses without a proxy."""
    before = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    if before != "*":
        names = dict.fromkeys((*filter(None, before.split(",")), *_HERE))
        os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join(names)
