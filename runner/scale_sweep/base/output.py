"""Standard output and standard error, which may go away at any time: a closed pipe or terminal, a full disk."""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import sys
from typing import Any, TextIO

READER_S = 60.0  # for the reader of a stream that somebody made non-blocking
_AS_ASCII = "scale.ascii"  # the handler of characters that a stream cannot show
_ASCII = dict(
    pair.split("=", 1)
    for pair in "→=-> ←=<- −=- –=- ×=x ·=- …=... †=+ ‡=++ ≤=<= ≥=>= ±=+- µ=u ²=^2 Δ=d "
    "α=alpha β=beta γ=gamma λ=lambda φ=phi".split()
)


class OutputGone(Exception):
    """The output of a command cannot be written. No OSError, which others take for an error of their own."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.reason = error.strerror or "unknown error"
        self.has_no_reader = error.errno == errno.EPIPE


class _Raw(io.FileIO):
    """A standard stream. is_needed: an error of writing ends the command. After an error, everything is dropped."""

    def __init__(self, fd: int, *, is_needed: bool) -> None:
        super().__init__(fd, "w", closefd=False)
        self.is_needed = is_needed
        self.error: OSError | None = None

    def write(self, content: Any, /) -> int:
        if self.error is None:
            try:
                written: int | None = super().write(content)
                if written is None:
                    select.select([], [self], [], READER_S)
                    written = super().write(content)
                if written is None:
                    raise OSError(errno.EAGAIN, "its reader does not read")
                return written
            except OSError as error:
                self.error = error
                if self.is_needed:
                    raise OutputGone(error) from None
        return memoryview(content).nbytes


_raw: dict[int, _Raw] = {}


def guard() -> None:
    """Takes over both streams, first of all: a missing one gets its number back, but cannot be written."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    codecs.register_error(_AS_ASCII, _as_ascii)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)
    sys.stdout = _guarded(1, sys.stdout, is_needed=True)
    sys.stderr = _guarded(2, sys.stderr, is_needed=False)


def _guarded(fd: int, before: TextIO | None, *, is_needed: bool) -> TextIO:
    _raw[fd] = raw = _Raw(fd, is_needed=is_needed)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=before.encoding if before is not None else "utf-8",
        errors=_AS_ASCII,
        line_buffering=not is_needed or raw.isatty(),
    )


def _as_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_ASCII.get(character, "?") for character in error.object[error.start : error.end]), error.end


def shows_all(stream: TextIO) -> bool:
    return codecs.lookup(stream.encoding).name.startswith("utf")


def go_on_without() -> None:
    """From now on, nothing that is written to standard output is needed: the results are stored."""
    for raw in _raw.values():
        raw.is_needed = False


def need_messages() -> None:
    """From now on, an error of standard error ends the command too: it shows nothing else."""
    if 2 in _raw:
        _raw[2].is_needed = True


def lost() -> str:
    """Why standard output could not be written; "" if all of it was, or if its reader has ended."""
    error = _raw[1].error if 1 in _raw else None
    return "" if error is None or error.errno == errno.EPIPE else error.strerror or "unknown error"
