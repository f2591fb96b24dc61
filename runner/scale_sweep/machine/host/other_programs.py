"""How many cores other programs use now."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

LOOK_S = 0.5
BUSY = (1, 2, 3, 6, 7)  # fields of a CPU in /proc/stat: user, nice, system, irq, softirq


def other_cores(cpus: Iterable[int], proc: Path = Path("/proc")) -> float | None:
    """The cores of these CPUs that other programs use, over LOOK_S. None: not readable."""
    names, begun = {f"cpu{cpu}" for cpu in cpus}, time.monotonic()
    try:
        before = _busy_s(names, proc)
        time.sleep(LOOK_S)
        return (_busy_s(names, proc) - before) / (time.monotonic() - begun)
    except (OSError, ValueError, IndexError):
        return None


def _busy_s(names: Iterable[str], proc: Path) -> float:
    lines = map(str.split, (proc / "stat").read_text(encoding="ascii").splitlines())
    return sum(int(line[at]) for line in lines if line and line[0] in names for at in BUSY) / os.sysconf("SC_CLK_TCK")
