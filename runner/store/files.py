"""The files of one run as they are replaced, each with its digest: the only place that changes a stored file.

A reader, or a run after a crash, sees the old file or the new one, never half, and a kill between a file and its digest
does not look like an edit. Refuses to make good what was altered behind its back: such a file keeps its old digest.
"""

from __future__ import annotations

import os
from pathlib import Path

from runner.store import sums


class RunFiles:
    """Of the run at path. Every method that writes raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digests = sums.read_sums(path) or {}
        self._altered: set[str] = set()

    def heed(self, name: str) -> None:
        """Looks whether an older file is what was written; if not, no later write makes it good. Raises OSError."""
        path = self.path / name
        if name in self._digests and path.is_file() and not sums.is_as_listed(path, self._digests[name]):
            self._altered.add(name)

    def forget(self, prefix: str) -> None:
        """Drops the digests of files that are about to go."""
        self._digests = {name: d for name, d in self._digests.items() if not name.startswith(prefix)}

    def write(self, name: str, text: str, *, safely: bool = False) -> None:
        """Replaces a file whole. safely: the list of digests is written before the file is in its place, for a file
        that was listed before; else the caller writes the list when it is through."""
        path = self.path / name
        partial = sums.waiting(path)
        content = text.encode()
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if name not in self._altered and name != sums.NAME:
            self._digests[name] = sums.digest(content)
        if safely:
            self.write_sums()  # the new content waits beside the old: a kill in between must not look like an edit
        partial.replace(path)

    def write_sums(self) -> None:
        """The list of digests as it is now."""
        self.write(sums.NAME, sums.sums_text(self._digests))
