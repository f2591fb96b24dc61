"""Writes files that a user names, outside results/: an export, a picture."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store.stored import WAITING, Folder, own_folder, write_waiting


def write_outside(path: Path, content: bytes) -> None:
    """Replaces the file. Raises StoreError if it cannot be written, PreflightError if another user can change its
    directory."""
    folder = own_folder(path.parent)
    try:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path.name, dir_fd=folder.fd).st_mode):  # /dev/stdout or a pipe: not replaced
                _write_at_once(folder, path.name, content)
                return
        _replace(folder, path.name, content)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None


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
