"""Reads the small files of /proc without Python's buffers and decoders."""

from __future__ import annotations

import os

_BYTES = 8192  # more than any file that is read here has, except a list of children


def proc_text(path: str) -> str | None:
    """The whole text of a file; None if it cannot be read, for example because its process ended."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        part = text = os.read(file, _BYTES)
        while len(part) == _BYTES:
            part = os.read(file, _BYTES)
            text += part
        return text.decode("ascii", "replace")
    except OSError:
        return None
    finally:
        os.close(file)
