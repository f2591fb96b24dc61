"""A tmpfs that holds the servers' data for as long as a run lasts, and is gone afterwards with all that is in it.

Refuses to mount over what is there, and to leave a mount behind: one that is busy is detached, and goes with its last
user. A run that was killed leaves its mount, whose name says whose it was: `scale clean` removes it.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from runner.errors import ProvisionError
from runner.host.ram import RamDirectory, mount_source
from runner.interrupts import deferred

_MOUNT_S = 10.0
_TRIES = 5
_PAUSE_S = 0.2


@contextlib.contextmanager
def mounted(directory: RamDirectory) -> Iterator[None]:
    """The tmpfs is there meanwhile; a directory on one that was there before is not made here.

    Raises ProvisionError when it cannot be mounted.
    """
    if not directory.is_mounted:
        yield
        return
    path = directory.path
    try:
        with deferred():
            path.mkdir(parents=True)
            _mount(path, directory.size_bytes)
        yield
    finally:
        with deferred():
            unmount(path)


def _mount(path: Path, size_bytes: int) -> None:
    options = f"size={size_bytes},mode=0755,nosuid,nodev"
    done = _run("mount", "-t", "tmpfs", "-o", options, mount_source(), str(path))
    if done.returncode:
        raise ProvisionError(
            f"no tmpfs at {path}: {done.stderr.strip()}", remedy="--data-dir DIR, a directory on a disk"
        )


def unmount(path: Path) -> None:
    """Ends a mount and removes its directory; one that is busy is detached."""
    for _ in range(_TRIES):
        if not path.is_mount():
            break
        if _run("umount", str(path)).returncode:
            time.sleep(_PAUSE_S)
    else:
        _run("umount", "--lazy", str(path))
    with contextlib.suppress(OSError):
        path.rmdir()


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_MOUNT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))
