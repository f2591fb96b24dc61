"""Replaces the files of one run and records their digests in SHA256SUMS."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store import stored
from scale_sweep.results.store.stored import WAITING, Folder, digest_of, is_there, read_bytes

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_as_listed(run: Folder, name: str, wanted: str) -> bool:
    """Also the new content that was about to replace it. Raises StoreError for what is no file of a run."""
    return any(is_there(run, one) and digest_of(run, one) == wanted for one in (name, name + WAITING))


def sums_text(digests: Mapping[str, str]) -> str:
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def read_sums(run: Folder) -> dict[str, str] | None:
    """By file name; None without a list. Raises StoreError for a file that is not such a list."""
    try:
        text = read_bytes(run, SUMS).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise StoreError(f"{run / SUMS} cannot be read: {error}") from None
    digests = {}
    for number, line in enumerate(text.splitlines(), start=1):
        parts = _LINE.fullmatch(line)
        if parts is None or ".." in Path(parts[2]).parts or Path(parts[2]).is_absolute():
            raise StoreError(f"{run / SUMS}, line {number}: not a checksum of a file of this run")
        digests[parts[2]] = parts[1]
    return digests


class RunFiles:
    """Every method raises OSError, and StoreError for what is no file of a run."""

    def __init__(self, run: stored.Folder) -> None:
        self._run = run
        self._digests = read_sums(run) or {}
        self._altered: set[str] = set()

    def heed(self, name: str) -> None:
        """No later write hides that an older file was altered."""
        wanted = self._digests.get(name)
        if wanted and stored.is_there(self._run, name) and not is_as_listed(self._run, name, wanted):
            self._altered.add(name)

    def list_unlisted(self, folder: str) -> bool:
        """Returns whether the folder, which may be missing, had files without digests."""
        names = stored.names_of(self._run, folder)
        unlisted = [name for name in names if name not in self._digests and not name.endswith(stored.WAITING)]
        self._digests |= {name: stored.digest_of(self._run, name) for name in unlisted}
        return bool(unlisted)

    def forget(self, prefix: str) -> None:
        self._digests = {name: d for name, d in self._digests.items() if not name.startswith(prefix)}

    def write(self, name: str, text: str, *, safely: bool = False) -> None:
        """safely: a file that is listed already; the list is then written before the file is in its place."""
        self.write_bytes(name, text.encode(), safely=safely)

    def write_bytes(self, name: str, content: bytes, *, safely: bool = False) -> None:
        stored.write_waiting(self._run, name, content)
        if name not in self._altered and name != SUMS:
            self._digests[name] = digest(content)
        if safely:
            self.write_sums()  # a kill in between must not look like an edit
        stored.put_in_place(self._run, name)

    def write_sums(self) -> None:
        self.write(SUMS, sums_text(self._digests))
