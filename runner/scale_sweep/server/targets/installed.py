"""The directories of servers from `scale servers install`, in the user's cache, and of their copies on a host."""

from __future__ import annotations

import os
from pathlib import Path

from scale_sweep.machine.state import distrust

CACHE_VARIABLE = "SCALE_SERVERS_DIR"
COPIES_VARIABLE = "SCALE_COPIED_SERVERS_DIR"  # on a host: the copies that `scale hosts prepare` made there
NO_HOME = "/nonexistent"  # as Debian calls it
COMPLETE = "complete"  # a file in the folder of a server, written last


def servers_folder() -> Path:
    """The directory of all servers: the one that the variable names, else `scale/servers` in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE, "")
    home = os.path.expanduser("~")  # as it is, for a user that the system does not know
    cache = os.environ.get("XDG_CACHE_HOME", "") or f"{home if home != '~' else NO_HOME}/.cache"
    return Path(named) if named else Path(cache) / "scale" / "servers"


def copies_folder() -> Path | None:
    """The directory of the copies of servers; None where no controller made any."""
    named = os.environ.get(COPIES_VARIABLE, "")
    return Path(named) if named else None


def installed(name: str) -> tuple[str, ...]:
    """Directories of a server's completely installed versions, the newest first. Those that another user can change
    are left out: what is in them would run as this user."""
    folders = [folder for folder in _complete(name) if not distrust(folder)]
    return tuple(str(path) for path in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True))


def distrusted(name: str) -> str:
    """Why an installed version of a server is not used; "" if none is left out."""
    return next(filter(None, map(distrust, _complete(name))), "")


def _complete(name: str) -> list[Path]:
    folders = [folder for folder in (servers_folder(), copies_folder()) if folder]
    return [path.parent for folder in folders for path in folder.glob(f"{name}-*/{COMPLETE}")]
