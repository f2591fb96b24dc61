"""Files below a directory that a running server changes. Refuses to fail when something goes meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def below(folder: str | Path) -> Iterator[Path]:
    """Every file, link and directory below a directory, in no order; nothing of a directory that is missing.

    A directory that is removed during the walk is left out; `Path.rglob` of Python 3.11 raises FileNotFoundError then.
    """
    for where, folders, files in os.walk(folder):
        yield from (Path(where, name) for name in (*folders, *files))


def sync(paths: Iterable[Path]) -> None:
    """Syncs files and directories to the disk. Those that are gone meanwhile, and links to nothing, are left out."""
    for path in paths:
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
