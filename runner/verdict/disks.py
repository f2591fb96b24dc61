"""Were the disks the limit? In a disk sweep that takes the place of "were the server's cores busy?". Pure.

A disk was used fully when, from the first request to the end of flush and sync, it wrote at least FULL_PERCENT of what
it can without a database (fio). Time with requests in flight says less: a capped device waits before that counter.
The rate of acknowledgements is not asked to be steady, since buffers take them in bursts; the durable rate is fitted.
"""

from __future__ import annotations

from runner.model import Measurement, Trial, VerdictKind
from runner.units import format_number

FULL_PERCENT = 80.0
BUSY_PERCENT = 90.0
BEYOND_PERCENT = 150.0  # a capped device may burst for a second or two after a rest, so a short trial passes 100
CPU_FULL_PERCENT = 90.0

Found = list[tuple[VerdictKind, str]]


def disk_findings(trial: Trial, m: Measurement) -> Found:
    """Why the number is not the disks' (RESOURCE_NOT_SATURATED), or that it is (VALID)."""
    if not m.disks or any(_use(m, name) is None for name in m.disks):
        told = "the disks could not be read, so nothing proves that they were full"
        return [(VerdictKind.RESOURCE_NOT_SATURATED, told)]
    beyond = [name for name, disk in m.disks.items() if (disk.used_percent or 0.0) > BEYOND_PERCENT]
    if beyond:
        told = f"{' and '.join(beyond)} wrote far more than its own ceiling ({_uses(m)}): was its limit lifted?"
        return [(VerdictKind.ERRORS, told)]
    idle = [name for name in m.disks if not _full(m, name)]
    if not idle:
        return [(VerdictKind.VALID, f"{_new_disk(m)} ({_uses(m)})")]
    found = [(VerdictKind.RESOURCE_NOT_SATURATED, f"{_new_disk(m)} ({_uses(m)})")]
    share = m.server_cpu_percent
    if share is not None and share >= CPU_FULL_PERCENT:
        used = f"{m.server_cpu_cores:.2f} of {format_number(trial.cores)} cores ({share:.0f} %)"
        told = f"the server's cores were the limit and not its disks: {used}"
        found.insert(0, (VerdictKind.RESOURCE_NOT_SATURATED, told))
    elif m.client_cpu_percent is not None and m.client_cpu_percent >= CPU_FULL_PERCENT:
        told = f"the generator's CPUs were {m.client_cpu_percent:.0f} % busy while the disks had room"
        found.insert(0, (VerdictKind.GENERATOR_BOUND, told))
    return found


def _last(m: Measurement) -> str:
    return list(m.disks)[-1]


def _use(m: Measurement, name: str) -> float | None:
    disk = m.disks[name]
    return disk.used_percent if disk.used_percent is not None else disk.busy_percent


def _full(m: Measurement, name: str) -> bool:
    disk = m.disks[name]
    if disk.used_percent is not None:
        return disk.used_percent >= FULL_PERCENT
    return (disk.busy_percent or 0.0) >= BUSY_PERCENT


def _new_disk(m: Measurement) -> str:
    """The article's words, of the disk that this level adds."""
    what = "the disk" if len(m.disks) == 1 else f"the new disk {_last(m)}"
    if all(_full(m, name) for name in m.disks):
        return f"{what} was used fully" if len(m.disks) == 1 else f"{what} was used fully, and so were the others"
    if _full(m, _last(m)):
        others = ", ".join(name for name in m.disks if not _full(m, name))
        return f"{what} was used fully, {others} not"
    return f"{what} was not used fully"


def _uses(m: Measurement) -> str:
    of = "of its own ceiling" if all(d.used_percent is not None for d in m.disks.values()) else "busy"
    return ", ".join(f"{name} {_use(m, name):.0f} %" for name in m.disks) + f" {of}"
