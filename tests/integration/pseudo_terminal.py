"""The installed command in a pseudo-terminal, as its user sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.integration.cli import SCALE

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
