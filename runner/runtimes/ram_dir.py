"""A tmpfs for the servers' data, mounted for a run and removed with its contents.

Refuses to mount over an existing directory's contents, and to leave a mount: a busy one is detached, and disappears
with its last user. A killed run leaves its mount, whose name contains the run's process: `scale clean` removes it.
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
    """Mounts the tmpfs for the block. A directory on an existing tmpfs is not mounted here.

    Raises ProvisionError if it cannot be mounted.
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
    """Unmounts and removes the directory. A busy mount is detached."""
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
