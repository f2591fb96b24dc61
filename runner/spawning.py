"""Starts child processes on their own CPUs, from one thread that lives as long as this process.

A parent-death signal (prctl(2), PR_SET_PDEATHSIG) follows the thread that started the child: it comes when that thread
ends, not when the process does. So no child is started by a thread that may end before the child; and that one thread's
CPUs can be set for a moment, so that not even a child's first instruction runs elsewhere.
"""

from __future__ import annotations

import errno
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Any

from runner.interrupts import deferred

START_S = 60.0  # a program on a file system that hangs is never there
_Task = Callable[[], None]


class _Starter:
    """The thread, and what it is asked to do. A fork of this process has the object and not the thread."""

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
                if late.is_set():  # nobody knows it any more
                    made.kill()
                done.put(made)
            except BaseException as error:  # the thread must live on; whoever asked raises it
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
    """subprocess.Popen(argv, **options) on these CPUs. Raises what it raises, and OSError for CPUs that are not ours.

    A request to stop waits until the process is there and has a name by which it can be ended.
    """
    global _starter  # noqa: PLW0603
    with deferred():
        with _lock:
            if _starter is None or _starter.pid != os.getpid():
                _starter = _Starter()
        return _starter.start(argv, cpus, options)
