"""The control groups of a container, as the host sees them. Refuses to change a container.

The engine removes the groups when the container ends, and keeps one fact of them: whether it ran out of memory.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scale_sweep.model import Accounting
from scale_sweep.server.runtimes.out_of_memory import OutOfMemory

EXITED_S = 10.0  # the engine hears of the end of a container later than the kernel


def killed_at_its_end(container: Any) -> OutOfMemory:
    """The engine's words for a container whose first process has ended."""
    deadline = time.monotonic() + EXITED_S
    with contextlib.suppress(Exception):  # an engine that is failing may raise anything: then nothing is known
        while True:
            container.reload()
            state = container.attrs["State"]
            if state["Status"] == "exited" or time.monotonic() > deadline:
                return OutOfMemory(killed=int(state["OOMKilled"]))
            time.sleep(0.05)
    return OutOfMemory()


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
