"""Files that a user names, the TOML in them, files of the project, and those that a running server changes."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from scale_sweep.base.errors import UsageError

_KINDS = {stat.S_IFDIR: "a directory", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}


def open_input(path: str | Path, name: str) -> BinaryIO:
    """A file or a pipe. name: what the message calls it, like "--iot". Raises UsageError."""
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
    """Raises UsageError, also for more than that many bytes."""
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


PARTS_MAX = 100
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{PARTS_MAX}}}")


def toml_document(text: str, where: str) -> dict[str, Any]:
    """where: how the message names the file, like "sweep file mine.toml". Raises UsageError."""
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise UsageError(f"{where}: line {line} has a key of more than {PARTS_MAX} parts")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise UsageError(f"{where} is not valid TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{where} is not valid TOML: its values are nested too deeply") from None


_PACKAGE = Path(__file__).resolve().parents[1]
_ROOTS = (_PACKAGE.parents[1], _PACKAGE / "bundled")


def bundled(folder: str, ending: str) -> dict[str, Path]:
    """The files with this ending by their names without it, in their order. folder: in the checkout, like "sweeps"."""
    paths = [path for root in _ROOTS for path in (root / folder).glob(f"*{ending}")]
    return {path.stem: path for path in sorted(paths)}


def below(folder: str | Path) -> Iterator[Path]:
    """Everything below a directory, in no order; what is removed meanwhile is left out (`Path.rglob` of 3.11
    raises)."""
    for where, folders, files in os.walk(folder):
        yield from (Path(where, name) for name in (*folders, *files))


def sync(paths: Iterable[Path]) -> None:
    """Syncs files and directories to the disk. Those that are gone meanwhile are left out."""
    for path in paths:
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
