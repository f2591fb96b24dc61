"""Gives setup commands their own shared memory, which disappears with the last of their processes."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Sequence

_TRY_S = 10.0
_ENTER = 'mount -t tmpfs -o nosuid,nodev,mode=1777 scale /dev/shm && exec "$@"'
_THEN = ("--ipc", "--mount", "/bin/sh", "-c", _ENTER, "scale-memory")
_NO_RIGHTS = ("setpriv", "--inh-caps=-all", "--ambient-caps=-all")
# A user who is not root gets the right to mount, in a user namespace, for a moment.
WAYS: Sequence[Sequence[str]] = (
    ("unshare", *_THEN),
    ("unshare", "--user", "--map-current-user", "--keep-caps", *_THEN, *_NO_RIGHTS),
)


@functools.cache
def with_own_memory() -> tuple[str, ...]:
    """The words before a command that give it its own shared memory; empty if this user may not."""
    if not os.path.isdir("/dev/shm"):
        return ()
    ways = WAYS[:1] if os.geteuid() == 0 else WAYS  # in a user namespace root could not become the server's user
    return next((tuple(way) for way in ways if _works(way)), ())


def _works(way: Sequence[str]) -> bool:
    try:
        return subprocess.run([*way, "true"], capture_output=True, timeout=_TRY_S, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
