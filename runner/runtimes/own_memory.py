"""Shared memory of their own for the commands that set a server up, gone with the last of their processes.

A setup command starts children, which share memory and remove it themselves, unless they are killed. What was made in
the machine's own /dev/shm and System V table would then stay there, and by whom would not be known. Refuses nothing:
where this user may make no namespace the commands run without, and what they use is looked up when they are killed.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Sequence

_TRY_S = 10.0
_ENTER = 'mount -t tmpfs -o nosuid,nodev,mode=1777 scale /dev/shm && exec "$@"'
_THEN = ("--ipc", "--mount", "/bin/sh", "-c", _ENTER, "scale-memory")
_NO_RIGHTS = ("setpriv", "--inh-caps=-all", "--ambient-caps=-all")
# Who is not root gets, for a moment, the rights to mount, in a user namespace.
WAYS: Sequence[Sequence[str]] = (
    ("unshare", *_THEN),
    ("unshare", "--user", "--map-current-user", "--keep-caps", *_THEN, *_NO_RIGHTS),
)


@functools.cache
def with_own_memory() -> tuple[str, ...]:
    """The words before a command that give it shared memory of its own; none where this user may not."""
    if not os.path.isdir("/dev/shm"):
        return ()
    return next((tuple(way) for way in WAYS if _works(way)), ())


def _works(way: Sequence[str]) -> bool:
    try:
        return subprocess.run([*way, "true"], capture_output=True, timeout=_TRY_S, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
