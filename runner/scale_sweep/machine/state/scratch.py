"""A directory for files of one trial, in this user's own folder `scratch`: removed at the end of its block, and by
`scale clean` after a kill, because a record names it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.state.places import folder_path, open_folder, refusals_named
from scale_sweep.machine.state.records import record_of, save
from scale_sweep.machine.state.removal import remove_recorded

FOLDER = "scratch"


@contextmanager
def scratch(what: str) -> Iterator[Path]:
    """A new directory that only this user may enter. Raises PreflightError."""
    name = f"{what}-{secrets.token_hex(8)}"
    path = folder_path(FOLDER) / name
    try:
        with deferred():
            save(record_of(name, (str(path),), kind=FOLDER))
            _make(name)
            save(record_of(name, (str(path),), kind=FOLDER))
        yield path
    finally:
        remove_recorded(name)


def _make(name: str) -> None:
    at = open_folder(FOLDER)
    try:
        with refusals_named():
            os.mkdir(name, 0o700, dir_fd=at)
    finally:
        os.close(at)
