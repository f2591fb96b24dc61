"""A child process that runs one file of this package, without the package and without site-packages, and writes
lines."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from scale_sweep.base.spawning import spawn

_READ_BYTES = 1 << 16


class LineChild:
    """Runs from `start` to `stop`. program: the file. arguments: as texts. cpus: where it runs."""

    def __init__(self, program: Path, arguments: Sequence[object], cpus: Sequence[int]) -> None:
        # -I -S: nothing of the user's, and no search for packages, which would cost more than the work.
        self._command = (sys.executable, "-I", "-S", str(program), *map(str, arguments))
        self._cpus = cpus
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def start(self) -> None:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        with contextlib.suppress(OSError):
            self._process = spawn(self._command, self._cpus, stdin=pipe, stdout=pipe, stderr=nothing)

    def write(self, line: str) -> bool:
        """Writes a line to the child. Returns whether it could be written."""
        if self._process is None or self._process.stdin is None:
            return False
        try:
            os.write(self._process.stdin.fileno(), f"{line}\n".encode())
        except OSError:
            return False
        return True

    def new_lines(self) -> list[bytes]:
        """The whole lines since the last call, without waiting."""
        return self._read(0.0) or []

    def lines(self, end_s: float) -> Iterator[bytes]:
        while (left_s := end_s - time.monotonic()) > 0 and (lines := self._read(left_s)) is not None:
            yield from lines

    def _read(self, within_s: float) -> list[bytes] | None:
        """The whole lines of one read; None if nothing came in time, or the child has ended."""
        if self._process is None or self._process.stdout is None:
            return None
        output = self._process.stdout.fileno()
        if not select.select([output], [], [], within_s)[0] or not (text := os.read(output, _READ_BYTES)):
            return None
        *lines, self._rest = (self._rest + text).split(b"\n")
        return lines

    def stop(self, within_s: float) -> None:
        """Kills the child, and waits so long for its end."""
        if self._process is None:
            return
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=within_s)
        self._process = None
