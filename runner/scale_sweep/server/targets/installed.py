"""The directories of servers from `scale servers install`, in the user's cache.

Refuses to install them: the package `servers` does that. Refuses directories that another user can change.
"""

from __future__ import annotations

import os
from pathlib import Path

from scale_sweep.machine.state import distrust

CACHE_VARIABLE = "SCALE_SERVERS_DIR"
COMPLETE = "complete"  # a file in the folder of a server, written last


def servers_folder() -> Path:
    """The directory of all servers: the one that the variable names, else `scale/servers` in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE, "")
    cache = os.environ.get("XDG_CACHE_HOME", "") or str(Path.home() / ".cache")
    return Path(named) if named else Path(cache) / "scale" / "servers"


def installed(name: str) -> tuple[str, ...]:
    """Directories of a server's completely installed versions, the newest first. Those that another user can change
    are left out: what is in them would run as this user."""
    folders = [folder for folder in _complete(name) if not distrust(folder)]
    return tuple(str(path) for path in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True))


def distrusted(name: str) -> str:
    """Why an installed version of a server is not used; "" if none is left out."""
    return next(filter(None, map(distrust, _complete(name))), "")


def _complete(name: str) -> list[Path]:
    return [path.parent for path in servers_folder().glob(f"{name}-*/{COMPLETE}")]
