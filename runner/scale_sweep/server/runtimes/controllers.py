"""The controllers of control groups on cgroup v2, which systemd switches off again."""

from __future__ import annotations

import errno
import functools
import os
import subprocess
import time
from pathlib import Path

from scale_sweep.base.spawning import spawn

NEEDED = ("cpu", "memory")
LOOK_S = 0.05
KEPT_WITHIN_S = 30.0
_SYSTEMD = Path("/run/systemd/system")  # there if systemd is the first process
_SCOPE = ("systemd-run", "--scope", "--quiet", "--collect", "--no-ask-password")
_IDLE = ("setpriv", "--pdeathsig", "KILL", "sleep", "infinity")


def enable_controllers(base: Path) -> None:
    """In the groups directly below the root of the hierarchy. Raises OSError."""
    if _SYSTEMD.is_dir():
        _keep(base)
    if missing := [f"+{name}" for name in _missing(base)]:
        (base / "cgroup.subtree_control").write_text(" ".join(missing), encoding="utf-8")


def _missing(base: Path) -> list[str]:
    there = (base / "cgroup.controllers").read_text(encoding="utf-8").split()
    return [name for name in NEEDED if name in there and name not in _enabled(base)]


def _enabled(base: Path) -> list[str]:
    return (base / "cgroup.subtree_control").read_text(encoding="utf-8").split()


@functools.cache
def _keep(base: Path) -> subprocess.Popen[bytes]:
    """An idle unit that needs them, until this process ends. Without it, whenever a unit starts, systemd switches off
    the controllers that no unit needs, and limits of other groups are gone. Raises OSError."""
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    # To switch cpuset on or off makes all processes forget the CPUs that `taskset` gave them, on older kernels.
    names = ("cpu", "io", "memory", *({"cpuset"} & set(_enabled(base))))
    keeper = spawn(
        (*_SCOPE, f"--property=Delegate={' '.join(names)}", *_IDLE),
        sorted(os.sched_getaffinity(0)),
        **quiet,
        start_new_session=True,
    )  # Ctrl-C is not for it
    deadline = time.monotonic() + KEPT_WITHIN_S
    while keeper.poll() is None and time.monotonic() < deadline:
        if Path(f"/proc/{keeper.pid}/comm").read_text(encoding="utf-8") == "sleep\n" and not _missing(base):
            return keeper
        time.sleep(LOOK_S)
    keeper.kill()
    keeper.wait(timeout=KEPT_WITHIN_S)
    raise OSError(errno.EPERM, "systemd starts no scope", _SCOPE[0])
