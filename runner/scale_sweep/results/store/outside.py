"""Files that a user names: a published table to compare with, an export, a picture."""

from __future__ import annotations

import contextlib
import csv
import errno
import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import bundled
from scale_sweep.base.texts import did_you_mean
from scale_sweep.experiment.axes import AXES
from scale_sweep.results.store.stored import WAITING, Folder, own_folder, unwritable, write_waiting


def write_outside(path: Path, content: bytes) -> None:
    """Raises StoreError if it cannot be written, PreflightError if another user can change its directory."""
    folder = own_folder(path.parent)
    try:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path.name, dir_fd=folder.fd).st_mode):  # /dev/stdout or a pipe: not replaced
                _write_at_once(folder, path.name, content)
                return
        _replace(folder, path.name, content)
    except OSError as error:
        raise unwritable(path, error) from None


def _replace(folder: Folder, name: str, content: bytes) -> None:
    new = f".{name}.{secrets.token_hex(4)}"
    try:
        write_waiting(folder, new, content)
        os.replace(new + WAITING, name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(new + WAITING, dir_fd=folder.fd)
        raise


def _write_at_once(folder: Folder, name: str, content: bytes) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder.fd)
    with os.fdopen(descriptor, "wb") as file:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileExistsError(errno.EEXIST, "it was replaced meanwhile")
        os.set_blocking(descriptor, True)
        file.write(content)


BYTES_MAX = 1 << 20
_RATES = {"rows_per_s", "requests_per_s"}
_READS = {"operation", "target", "response_s"}


def read_reference(name: str) -> Sequence[Mapping[str, str]] | None:
    """By column. Raises UsageError that lists the bundled tables."""
    if not name:
        return None
    path = find_reference(name)
    try:
        if path.stat().st_size > BYTES_MAX:
            raise UsageError(f"--reference: {path} has more than {BYTES_MAX} bytes")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"--reference: {path} cannot be read: {error}") from None
    columns = set(rows[0]) if rows else set()
    if not (set(AXES.names()) & columns and _RATES & columns or columns >= _READS):
        raise UsageError(
            f"--reference: {path} needs the columns cores (or disks) and rows_per_s (or requests_per_s); of reads: "
            "operation, target and response_s"
        )
    return rows


def bundled_tables() -> dict[str, Path]:
    return bundled("results/reference", ".csv")


def find_reference(name: str) -> Path:
    if os.path.isfile(name):
        return Path(name)
    tables = bundled_tables()
    if name not in tables:
        raise UsageError(
            f"--reference: no table {name!r}{did_you_mean(name, tables)}",
            remedy=f"bundled are {', '.join(tables)}; or give a CSV file",
        )
    return tables[name]
