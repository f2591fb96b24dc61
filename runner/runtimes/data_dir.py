"""A data directory that is not there when a run starts: made for the run, and removed with it, its parents too.

Refuses to remove what was there before, what is not empty, and anything while another run is at work in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from runner.errors import ProvisionError
from runner.interrupts import deferred
from runner.runtimes.clean import CACHES
from runner.runtimes.local import remove_trees
from runner.runtimes.state import read_states


def missing_directories(folder: Path) -> tuple[Path, ...]:
    """The folder and its parents as far as they are not there, the deepest first."""
    return tuple(path for path in (folder.absolute(), *folder.absolute().parents) if not path.exists())


@contextlib.contextmanager
def made_directory(folder: Path) -> Iterator[None]:
    """The folder is there meanwhile; what had to be made for that is removed at the end where it is empty.

    The copies of programs and client libraries in a folder that was made are no reason to keep it: each run can make
    them again. Raises ProvisionError when it cannot be made.
    """
    made = missing_directories(folder)
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProvisionError(f"no data directory {folder}: {error.strerror}", remedy="--data-dir DIR") from None
        yield
    finally:
        with deferred():
            _remove(folder, made)


def _remove(folder: Path, made: tuple[Path, ...]) -> None:
    if made and not read_states([folder]):
        remove_trees(folder / name for name in CACHES)
    with contextlib.suppress(OSError):  # somebody else's file in it, or it is gone already
        for path in made:
            path.rmdir()
