"""Writes files that a user names, outside results/: an export, a picture. A file is written completely or not at
all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from scale_sweep.base.errors import StoreError


def write_outside(path: Path, content: bytes) -> None:
    """Replaces the file. Raises StoreError if it cannot be written."""
    partial = None
    try:
        if path.exists() and not path.is_file():  # /dev/stdout or a pipe: it cannot be replaced
            _write_at_once(path, content)
            return
        mask = os.umask(0)
        os.umask(mask)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            partial = Path(file.name)
            file.write(content)
            os.fchmod(file.fileno(), 0o666 & ~mask)
        partial.replace(path)
    except OSError as error:
        if partial is not None:
            partial.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None


def _write_at_once(path: Path, content: bytes) -> None:
    """Writes into a device or a pipe. A pipe that nobody reads is an error, and not waited for."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
