"""Files of this user in a directory that a server's user may write: made new, and read only if this user made them.

Refuses to follow a link, to write into a file that exists, and to read another user's file.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

BYTES_MAX = 2**20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_own(path: Path, text: str) -> None:
    """Writes a new file that only this user may read. Raises OSError if one is there."""
    with os.fdopen(os.open(path, _NEW, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def read_own(path: Path, owner: int | None = None) -> str:
    """The text of a regular file that the owner, or else this user, made. Raises OSError for any other."""
    by = os.geteuid() if owner is None else owner
    with os.fdopen(os.open(path, _READ), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != by or status.st_mode & 0o022:
            raise OSError(errno.EPERM, "not a file of this user alone", str(path))
        return file.read(BYTES_MAX).decode("utf-8", "replace")
