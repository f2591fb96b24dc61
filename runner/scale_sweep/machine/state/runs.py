"""Which stored runs this user began here: for each, digests of what it may start and reach."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from scale_sweep.machine.state.files import read_at, replace_at, unlink_at
from scale_sweep.machine.state.places import folder_held, refusals_named

FOLDER = "runs"
KEPT_MAX = 10_000  # of a few hundred bytes; then the one that was written first is removed


def remember_run(run: str, digests: Sequence[str]) -> None:
    """Replaces what is known of the run. Raises PreflightError if it cannot be written."""
    with refusals_named(), folder_held(FOLDER) as at:
        replace_at(at, _name(run), "\n".join(digests))
        names = os.listdir(at)
        if len(names) > KEPT_MAX:
            unlink_at(at, min(names, key=lambda name: os.stat(name, dir_fd=at, follow_symlinks=False).st_mtime_ns))


def remembers_run(run: str, digest: str) -> bool:
    """Whether this user began the run here, and it has not changed since. Raises PreflightError for a folder that is
    not trusted."""
    try:
        with folder_held(FOLDER, makes=False) as at:
            return digest in read_at(at, _name(run)).decode().splitlines()
    except (OSError, ValueError):
        return False


def _name(run: str) -> str:
    return hashlib.sha256(run.encode("utf-8", "surrogateescape")).hexdigest()
