"""Creates a missing data directory for a run, with its parents, and removes them with the run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred


def missing_directories(folder: Path) -> tuple[Path, ...]:
    """The folder and its parents that do not exist, the deepest first."""
    return tuple(path for path in (folder.absolute(), *folder.absolute().parents) if not path.exists())


@contextlib.contextmanager
def made_directory(folder: Path) -> Iterator[None]:
    """Creates the folder for the block. At the end, it removes what it created, if it is empty.

    Raises ProvisionError if the folder cannot be created.
    """
    made = missing_directories(folder)
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProvisionError(f"no data directory {folder}: {error.strerror}", remedy="--data-dir DIR") from None
        yield
    finally:
        with deferred(), contextlib.suppress(OSError):  # it contains somebody else's file, or is already removed
            for path in made:
                path.rmdir()
