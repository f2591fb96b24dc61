"""Where `scale servers install` puts the servers that it brings, in the cache of the user.

Refuses to bring them: that is the package `servers`.
"""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "SCALE_SERVERS_DIR"
COMPLETE = "complete"  # a file in the folder of a server, written last


def servers_folder() -> Path:
    """Of all servers: what the variable names, else `scale/servers` in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE, "")
    cache = os.environ.get("XDG_CACHE_HOME", "") or str(Path.home() / ".cache")
    return Path(named) if named else Path(cache) / "scale" / "servers"


def installed(name: str) -> tuple[str, ...]:
    """Folders of the versions of a server that are whole, the newest installed first."""
    folders = [path.parent for path in servers_folder().glob(f"{name}-*/{COMPLETE}")]
    return tuple(str(path) for path in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True))
