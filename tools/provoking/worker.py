"""Runs cases one after the other, each in a fork of this process, which has imported all of `scale` once.

Each fork goes into a sandbox of its own and calls the command's real `main`. Reads cases from standard input and writes
outcomes to standard output, a line of JSON each.
"""

from __future__ import annotations

import atexit
import faulthandler
import importlib
import os
import pkgutil
import resource
import signal
import sys
import threading
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.unit.stored_runs import contents
from tools.provoking import files, sandbox
from tools.provoking.case import Case, Outcome, case_of, outcome_of, to_line

CPU_S, WALL_S, GONE_S = 10, 25.0, 0.5
MEMORY, FILE_SIZE, OUTPUT = 4 << 30, 1 << 30, 1 << 20
# Directories that may be left, empty: of every Java runtime, and of the state of `scale`.
EMPTY = ("/tmp/hsperfdata_root", "/var/lib/scale", "/var/lib/scale/records")
NOTES = Path("/run/provoke")  # in the sandbox: what the command printed, where it stood


def main() -> None:
    """Runs the cases of standard input until its end."""
    for name in ("scale_sweep", "scale_sweep.cli"):
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, name + "."):
            if not module.name.startswith(("scale_sweep.server.targets", "scale_sweep.server.runtimes.docker")):
                importlib.import_module(module.name)
    commands = os.fdopen(os.dup(0), encoding="utf-8")  # sys.stdin stays empty: forks make their own
    for line in commands:
        sys.stdout.write(to_line(run(case_of(line))))
        sys.stdout.flush()


def run(case: Case) -> Outcome:
    """The outcome of one case. Its processes have ended, and its files are gone."""
    for recipe in case.files:
        if "run" in recipe:
            contents(recipe["run"])  # made here once, and then known to every fork
    reading, writing = os.pipe()
    outer = os.fork()
    if not outer:
        os.close(reading)
        _outer(case, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as said:
        text = said.read()
    os.waitpid(outer, 0)
    return outcome_of(text) if text else Outcome(broken="the sandbox ended without a word")


def _outer(case: Case, writing: int) -> None:
    """In the first fork: leaves the machine. Its child is the first process of the new name spaces."""
    try:
        sandbox.leave_machine()
        inner = os.fork()
        if not inner:
            _all(writing, _guarded(case))
            os._exit(0)
        os.waitpid(inner, 0)
    except OSError:
        _all(writing, Outcome(broken=traceback.format_exc()))
    os._exit(0)


def _all(writing: int, outcome: Outcome) -> None:
    with os.fdopen(writing, "w", encoding="utf-8") as said:
        said.write(to_line(outcome))


def _guarded(case: Case) -> Outcome:
    try:
        return _inner(case)
    except Exception:
        return Outcome(broken=traceback.format_exc())


def _inner(case: Case) -> Outcome:
    """In the first process of the sandbox: makes the files, starts the command, waits, and looks at what is left."""
    sandbox.close()
    NOTES.mkdir()
    sandbox.CASE.mkdir()
    sandbox.HOME.mkdir(mode=0o700)
    files.make(sandbox.CASE, case.files)
    (NOTES / "in").write_text(case.stdin)
    before = _entries()
    begun = time.monotonic()
    command = os.fork()
    if not command:
        _command(case)
    outcome = _waited(command, begun)
    left = (*_processes_left(), *_files_left(before, case), *_segments_left())
    return replace(
        outcome, out=_text("out"), err=_text("err"), stack=_text("stack") if outcome.over_time else "", left=left
    )


def _waited(command: int, begun: float) -> Outcome:
    """Waits until the command ends or its time is over, and reaps whatever else ends meanwhile."""
    over_time = False
    while True:
        pid, status, used = os.wait4(-1, os.WNOHANG)
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            over_time = over_time or code in (-signal.SIGXCPU, -signal.SIGKILL)
            spent = used.ru_utime + used.ru_stime
            return Outcome(code=code, cpu_s=spent, wall_s=time.monotonic() - begun, over_time=over_time)
        if not pid:
            if time.monotonic() - begun > WALL_S and not over_time:
                over_time = True
                os.kill(command, signal.SIGKILL)
            time.sleep(0.005)


def _command(case: Case) -> None:
    """In the fork that becomes the command: calls the real `main` as the installed program would. Does not return."""
    code = 1
    try:
        os.setsid()
        _redirect()
        faulthandler.enable()
        with open(NOTES / "stack", "w", encoding="utf-8") as stack:
            faulthandler.dump_traceback_later(WALL_S - 1, file=stack)
            _limit(case)
            sandbox.give_up_power()
            code = _called(case)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _called(case: Case) -> int:
    """The exit code as the interpreter would give it."""
    from scale_sweep.cli import main as scale

    os.chdir(sandbox.CASE)
    os.environ.clear()
    os.environ.update(_environment(case))
    sys.argv = ["scale", *case.words]
    sys.modules["__main__"].__package__ = None  # a script, for Click, which names the program in its messages
    code: Any = 0
    try:
        scale()
    except SystemExit as end:
        code = end.code if end.code is not None else 0
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # as at the end of a program: other threads are waited for
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code if isinstance(code, int) else 1


def _environment(case: Case) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SCALE_LOADGEN", "JAVA_HOME") if name in os.environ}
    own = {"HOME": str(sandbox.HOME), "TMPDIR": "/tmp", "LANG": "C.UTF-8", "COLUMNS": "160", "TERM": "dumb"}
    own |= {"SCALE_NEW_PAGES": "off", "SCALE_DISK_LIMIT": "off"}  # hundreds of cases would touch gigabytes
    return {**kept, **own, **case.environment}


def _redirect() -> None:
    """Standard input, output and error become files of the sandbox, and Python's streams new ones on them."""
    for fd, (name, flags) in enumerate(
        (("in", os.O_RDONLY), ("out", os.O_RDWR | os.O_CREAT), ("err", os.O_RDWR | os.O_CREAT))
    ):
        opened = os.open(NOTES / name, flags, 0o600)
        os.dup2(opened, fd)
        os.close(opened)
    os.closerange(3, 256)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)


def _limit(case: Case) -> None:
    """Bounds what the command may use. The kernel ends it by SIGXCPU after CPU_S."""
    bounds = {"cpu": CPU_S, "as": MEMORY, "fsize": FILE_SIZE, "core": 0, **case.limits}
    for name, value in bounds.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (value, value + (5 if name == "cpu" else 0)))


def _text(name: str) -> str:
    path = NOTES / name
    with path.open("rb") as file:
        return file.read(OUTPUT).decode("utf-8", "replace")


def _entries() -> dict[str, tuple[int, int]]:
    """Every entry of the sandbox's own directories, with its size and time of change."""
    found = {}
    for place in (*sandbox.EMPTY, "/dev/shm"):
        for folder, names, others in os.walk(place):
            names[:] = [n for n in names if not os.path.ismount(os.path.join(folder, n))]
            for name in (*names, *others):
                path = os.path.join(folder, name)
                seen = os.lstat(path)
                found[path] = (0 if name in names else seen.st_size, 0 if name in names else seen.st_mtime_ns)
    return found


def _files_left(before: dict[str, tuple[int, int]], case: Case) -> tuple[str, ...]:
    """Files that are new or changed where the command has no business."""
    free = [str(NOTES), str(sandbox.HOME / ".cache"), *([str(sandbox.CASE)] if case.writes else [])]
    after = _entries()
    changed = [path for path, seen in after.items() if before.get(path) != seen]
    changed += [path for path in before if path not in after]
    changed = [path for path in changed if path not in EMPTY or not os.path.isdir(path)]
    return tuple(
        f"file {path}" for path in changed if not any(path == one or path.startswith(one + "/") for one in free)
    )


def _processes_left() -> tuple[str, ...]:
    """Processes that live on, after a moment for those that are just ending."""
    deadline = time.monotonic() + GONE_S
    while living := [name for name in os.listdir("/proc") if name.isdecimal() and name != str(os.getpid())]:
        while True:
            try:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    break
            except ChildProcessError:
                break
        if time.monotonic() > deadline:
            lines = {pid: Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode() for pid in living}
            return tuple(f"process {pid}: {line[:200]}" for pid, line in lines.items())
        time.sleep(0.01)
    return ()


def _segments_left() -> tuple[str, ...]:
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return tuple(f"System V segment {line.split()[1]}" for line in lines)


if __name__ == "__main__":
    main()
