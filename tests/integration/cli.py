"""Runs the installed command `scale` as its user would, in a process or a pseudo-terminal, and looks at what it leaves."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import psutil

from scale_sweep.machine.state.records import Record, read_records

T = TypeVar("T")

SCALE = str(Path(sys.executable).parent / "scale")
CHECKOUT = str(Path(__file__).resolve().parents[2] / "runner")


def start(*words: str, cwd: Path, under: Sequence[str] = (), **environment: str) -> subprocess.Popen[str]:
    """The command, running in a session of its own. under: the program that starts it, with its options."""
    return subprocess.Popen(
        [*under, SCALE, *words],
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=as_installed({**os.environ, "COLUMNS": "160", **environment}),
        start_new_session=True,
    )


def as_installed(environment: dict[str, str]) -> dict[str, str]:
    """Without the folder that tests/conftest.py put on PYTHONPATH: what the command imports is installed."""
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    if CHECKOUT in folders:
        folders.remove(CHECKOUT)
    return {**environment, "PYTHONPATH": os.pathsep.join(folders)}


def run(
    *words: str, cwd: Path, timeout_s: float = 400.0, under: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command's end: exit code, standard output, standard error."""
    process = start(*words, cwd=cwd, under=under, **environment)
    out, err = process.communicate(timeout=timeout_s)
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def waited_for(condition: Callable[[], T], seconds: float = 120.0, process: subprocess.Popen[str] | None = None) -> T:
    """What the condition returns as soon as that is true. process: that must not end before."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)
    return found


def assert_measured(done: subprocess.CompletedProcess[str]) -> None:
    """The sweep went to its end. On a busy machine it may be without a VALID trial (10); no trial failed."""
    failed = re.search(r"\b(ABORTED|LOST_ROWS|WRONG_ROWS|WRONG_ANSWER|ERRORS)\b", done.stderr)
    assert done.returncode == 0 or (done.returncode == 10 and not failed), done.stderr


CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command in a terminal of the given size; `seen` is all that it wrote, without control sequences."""

    def __init__(
        self, *words: str, cwd: Path, rows: int = 40, columns: int = 110, environment: Mapping[str, str] | None = None
    ) -> None:
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [SCALE, *words],
            cwd=cwd,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            env={**inherited, "TERM": "xterm-256color", **(environment or {})},
        )
        os.close(inner)
        self._bytes = b""

    @property
    def raw(self) -> str:
        return self._bytes.decode(errors="replace")

    @property
    def seen(self) -> str:
        return CONTROL.sub("", self.raw)

    def read(self) -> None:
        """Takes what is there."""
        while select.select([self._fd], [], [], 0)[0]:
            try:
                part = os.read(self._fd, 65536)
            except OSError:
                return
            if not part:
                return
            self._bytes += part

    def until(self, condition: Callable[[], object], seconds: float = 90.0) -> None:
        """Reads until the condition holds. Fails with what was seen."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.seen[-2000:]
            self.read()
            time.sleep(0.05)

    def end(self, seconds: float = 90.0) -> int:
        """The exit code, after reading to the end."""
        self.until(lambda: self.process.poll() is not None, seconds)
        self.read()
        return self.process.returncode


def ours_running(data_dir: Path) -> list[str]:
    """Command lines of others' processes that name the data directory."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(data_dir) in line and process.pid != os.getpid():
            found.append(line)
    return found


def records_in(data_dir: Path) -> list[Record]:
    """Records of what runs made in the data directory."""
    return [r for r in read_records().records if any(Path(p).is_relative_to(data_dir) for p in r.paths)]


def makers_of_segments() -> set[int]:
    """PIDs that made the System V shared memory of this machine."""
    return {int(line.split()[4]) for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def assert_nothing_left(data_dir: Path) -> None:
    assert ours_running(data_dir) == []
    assert [p for p in data_dir.glob("*") if p.is_dir() and "cores-" in p.name] == []
    assert records_in(data_dir) == []
