"""The directories of servers from `scale servers install`, in the user's cache.

Refuses to install them: the package `servers` does that.
"""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "SCALE_SERVERS_DIR"
COMPLETE = "complete"  # a file in the folder of a server, written last


def servers_folder() -> Path:
    """The directory of all servers: the one that the variable names, else `scale/servers` in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE, "")
    cache = os.environ.get("XDG_CACHE_HOME", "") or str(Path.home() / ".cache")
    return Path(named) if named else Path(cache) / "scale" / "servers"


def installed(name: str) -> tuple[str, ...]:
    """Directories of a server's completely installed versions, the newest first."""
    folders = [path.parent for path in servers_folder().glob(f"{name}-*/{COMPLETE}")]
    return tuple(str(path) for path in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True))
