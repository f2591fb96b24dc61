"""The control groups of a container, as the host sees them. Refuses to change a container's own groups."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.model import Accounting

JOIN_S = 5.0
_BLKIO = Path("/sys/fs/cgroup/blkio/cgroup.procs")


def join_root_blkio(pids: Callable[[], Sequence[int]]) -> None:
    """Moves the container's processes to the root group of cgroup v1, where disk limits are set and writeback runs.

    Otherwise writes by fsync are counted in the container's group and escape the limits. A rule in each group would
    give twice the limit. Raises ProvisionError."""
    if not _BLKIO.exists() or os.geteuid() != 0:
        return
    deadline = time.monotonic() + JOIN_S
    while (outside := outside_root_blkio(pids())) and time.monotonic() < deadline:
        for pid in outside:
            with contextlib.suppress(OSError):  # it ended, or a child has just started; the next round finds it
                _BLKIO.write_text(str(pid), encoding="utf-8")
    if outside:
        raise ProvisionError(f"processes {outside} of the container are not under the disks' limits")


def outside_root_blkio(pids: Sequence[int]) -> list[int]:
    """Those of the processes that are not in the root group of cgroup v1's blkio."""
    outside = []
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
            outside += [pid for line in lines if "blkio" in line.split(":")[1].split(",") and line.split(":")[2] != "/"]
    return outside


def accounting_of(pid: int) -> Accounting | None:
    """The directories of a container's groups on the host, by a process in it; None once that is ending.

    cgroup v1 names the root group for a process that is ending. The counts of that group are the machine's.
    """
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    paths = {}
    for line in lines:
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(","):
            if name in ("cpuacct", "cpu", "memory"):
                paths[name] = f"/sys/fs/cgroup/{name}{path}"
    if "cpuacct" in paths:
        ending = Path(paths["cpuacct"]) == Path("/sys/fs/cgroup/cpuacct")
        return None if ending else Accounting(kind="cgroup1", paths=paths)
    unified = [line.split(":", 2)[2] for line in lines if line.startswith("0::")]
    return Accounting(kind="cgroup2", paths={"unified": f"/sys/fs/cgroup{unified[0]}"}) if unified else None
