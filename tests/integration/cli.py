"""Runs the installed command `scale` as its user would, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

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
