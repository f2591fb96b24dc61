"""SHA256SUMS of a run: the digest of each file when it was closed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store.stored import WAITING, Folder, digest_of, is_there, read_bytes

NAME = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def is_as_listed(run: Folder, name: str, wanted: str) -> bool:
    """Whether the file has the digest, or the new content that was about to replace it when the run was killed. Raises
    StoreError for what is no file of a run."""
    return any(is_there(run, one) and digest_of(run, one) == wanted for one in (name, name + WAITING))


def sums_text(digests: Mapping[str, str]) -> str:
    """The list, ordered by file name."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def read_sums(run: Folder) -> dict[str, str] | None:
    """Digests by file name; None without a list. Raises StoreError for a file that is not such a list."""
    try:
        text = read_bytes(run, NAME).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise StoreError(f"{run / NAME} cannot be read: {error}") from None
    digests = {}
    for number, line in enumerate(text.splitlines(), start=1):
        parts = _LINE.fullmatch(line)
        if parts is None or ".." in Path(parts[2]).parts or Path(parts[2]).is_absolute():
            raise StoreError(f"{run / NAME}, line {number}: not a checksum of a file of this run")
        digests[parts[2]] = parts[1]
    return digests
