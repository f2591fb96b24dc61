"""Reads a file that a user names: a sweep file, a configuration, a table."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from scale_sweep.base.errors import UsageError

_KINDS = {stat.S_IFDIR: "a directory", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}


def open_input(path: str | Path, name: str) -> BinaryIO:
    """Opens a file or a pipe for reading. name: what the message calls it, like "--iot". Raises UsageError."""
    where = _where(path, name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise UsageError(f"{where}: {error}") from None
    kind = _KINDS.get(stat.S_IFMT(os.fstat(descriptor).st_mode))
    if kind is not None:
        os.close(descriptor)
        raise UsageError(f"{where}: is {kind}, not a file")
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


def read_input(path: str | Path, name: str, bytes_max: int) -> bytes:
    """The content of a file of at most that many bytes. Raises UsageError."""
    where = _where(path, name)
    try:
        with open_input(path, name) as file:
            raw = file.read(bytes_max + 1)
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from None
    if len(raw) > bytes_max:
        raise UsageError(f"{where}: has more than {bytes_max:,} bytes, so it is not such a file")
    return raw


def read_input_text(path: str | Path, name: str, bytes_max: int) -> str:
    """The same as text; a byte order mark is left out."""
    raw, where = read_input(path, name, bytes_max), _where(path, name)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{where}: is not UTF-8: line {line} has the byte 0x{raw[error.start]:02x}",
            remedy="convert it, for example with: iconv -f latin1 -t utf-8",
        ) from None


def _where(path: str | Path, name: str) -> str:
    shown = str(path)
    return f"{name} {shown if shown.isprintable() else repr(shown)}".strip()
