"""Replaces the files of one run and records their digests."""

from __future__ import annotations

from scale_sweep.results.store import stored, sums


class RunFiles:
    """The files of one run. Every method raises OSError, and StoreError for what is no file of a run."""

    def __init__(self, run: stored.Folder) -> None:
        self._run = run
        self._digests = sums.read_sums(run) or {}
        self._altered: set[str] = set()

    def heed(self, name: str) -> None:
        """Checks an older file against its digest. If it was altered, no later write hides that. Raises OSError."""
        wanted = self._digests.get(name)
        if wanted and stored.is_there(self._run, name) and not sums.is_as_listed(self._run, name, wanted):
            self._altered.add(name)

    def list_unlisted(self, folder: str) -> bool:
        """Records the digests of a folder's files that have none. Returns whether there were such files.

        A missing folder has none. Raises OSError.
        """
        names = stored.names_of(self._run, folder)
        unlisted = [name for name in names if name not in self._digests and not name.endswith(stored.WAITING)]
        self._digests |= {name: stored.digest_of(self._run, name) for name in unlisted}
        return bool(unlisted)

    def forget(self, prefix: str) -> None:
        """Drops the digests of files that will be removed."""
        self._digests = {name: d for name, d in self._digests.items() if not name.startswith(prefix)}

    def write(self, name: str, text: str, *, safely: bool = False) -> None:
        """Replaces a file. safely: for a file that the list already contains, the list of digests is written before the
        file is in its place; else the caller writes the list at the end."""
        self.write_bytes(name, text.encode(), safely=safely)

    def write_bytes(self, name: str, content: bytes, *, safely: bool = False) -> None:
        """The same for a file that is not text."""
        stored.write_waiting(self._run, name, content)
        if name not in self._altered and name != sums.NAME:
            self._digests[name] = sums.digest(content)
        if safely:
            self.write_sums()  # the new content waits beside the old file: a kill in between must not look like an edit
        stored.put_in_place(self._run, name)

    def write_sums(self) -> None:
        """Writes the current list of digests."""
        self.write(sums.NAME, sums.sums_text(self._digests))
