"""Runs `scale` as its user would, in a forked process: the same start, exit code and outputs, without the imports again.

The process has a limit of memory and of CPU time, and a deadline, so that unbounded work fails the test and nothing else.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.cli import main

_LOADED = "cli.ab cli.load cli.machine cli.views cli.plan_views cli.doctor watch.exporter results.sqlexport verify"
for _name in _LOADED.split():
    importlib.import_module(f"scale_sweep.{_name}")  # once, and not in each process

RAISED = 99  # the exit code of a command that ended with an exception
MEMORY_BYTES = 3 * 2**30
DEADLINE_S = 60
CPU_S = 20


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A command's end. code: None if it did not end in time. cpu_s, memory_mb: what it used, at most, without what
    this process had before."""

    code: int | None
    stdout: str
    stderr: str
    cpu_s: float
    memory_mb: float


def run(*words: str, cwd: Path, **environment: str) -> Ended:
    """The end of one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun, (size, resident) = time.monotonic(), _memory_bytes()
        pid = os.fork()
        if pid == 0:
            _become(words, cwd, environment, (out.fileno(), err.fileno()), size + MEMORY_BYTES)
        code, used = _wait(pid, begun + DEADLINE_S)
        out.seek(0)
        err.seek(0)
        return Ended(
            code=code,
            stdout=out.read().decode(errors="replace"),
            stderr=err.read().decode(errors="replace"),
            cpu_s=used.ru_utime + used.ru_stime,
            memory_mb=max(0.0, used.ru_maxrss / 1024 - resident / 2**20),
        )


def _memory_bytes() -> tuple[int, int]:
    """Virtual and resident size of this process. After thousands of tests both are gigabytes."""
    size, resident = Path("/proc/self/statm").read_text().split()[:2]
    return int(size) * resource.getpagesize(), int(resident) * resource.getpagesize()


def _become(
    words: tuple[str, ...], cwd: Path, environment: dict[str, str], outputs: tuple[int, int], memory_bytes: int
) -> None:
    """Never returns: the process is the command until its end."""
    code = RAISED
    try:
        os.setpgid(0, 0)
        os.chdir(cwd)
        os.environ.update(environment)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(outputs[0], 1)
        os.dup2(outputs[1], 2)
        sys.stdin, sys.stdout, sys.stderr = (open(n, "w" if n else "r", closefd=False) for n in range(3))
        sys.argv = ["scale", *words]
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _wait(pid: int, deadline: float) -> tuple[int | None, resource.struct_rusage]:
    while time.monotonic() < deadline:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), used
        time.sleep(0.005)
    os.killpg(pid, signal.SIGKILL)
    _, _, used = os.wait4(pid, 0)
    return None, used
