"""Writes files that a user names, outside results/: an export, a picture. A file is written completely or not at
all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from runner.errors import StoreError


def write_outside(path: Path, content: bytes) -> None:
    """Replaces the file. Raises StoreError if it cannot be written."""
    partial = None
    try:
        if path.exists() and not path.is_file():  # /dev/stdout or a pipe: it cannot be replaced
            path.write_bytes(content)
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
