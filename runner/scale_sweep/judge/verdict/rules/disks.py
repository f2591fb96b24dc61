"""The disks: were the prepared ones used up, unevenly, or not at all?"""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Explanation
from scale_sweep.judge.verdict.thresholds import DISK_BUSY_PERCENT, DISK_FULL_PERCENT, IO_WAITING_PERCENT
from scale_sweep.model import BottleneckKind, DiskFigures

SPREAD = "vgroups or partitions that every number of disks divides, more commit threads, a longer load"


def disks_of(use: ResourceUse, resources: TrialResources) -> Mapping[str, DiskFigures]:
    """The figures over the whole load; for a single second, over that second."""
    if use.load_disks is not None:
        return use.load_disks
    own = resources.disk_ceilings_mb_per_s
    return {
        name: DiskFigures(
            write_mb_per_s=written,
            used_percent=100 * written / own[name] if written is not None and own.get(name) else None,
            busy_percent=use.disk_busy_percent.get(name),
        )
        for name in {**use.disk_busy_percent, **use.disk_mb_per_s}
        for written in (use.disk_mb_per_s.get(name),)
    }


def disk_words(use: ResourceUse, resources: TrialResources) -> str:
    """The use of the disks, in words, and whether the disk that the level adds was used fully; "" if they were not
    read."""
    disks = disks_of(use, resources)
    if not _known(disks):
        return ""
    last = list(disks)[-1]
    what = "the disk" if len(disks) == 1 else f"the new disk {last}"
    idle = [name for name, disk in disks.items() if not _full(disk)]
    if not idle:
        words = f"{what} was used fully" if len(disks) == 1 else f"{what} was used fully, and so were the others"
    elif last in idle:
        words = f"{what} was not used fully"
    else:
        words = f"{what} was used fully, {', '.join(idle)} not"
    return f"{words} ({uses(disks)})"


def uses(disks: Mapping[str, DiskFigures]) -> str:
    of = "of its ceiling" if all(d.used_percent is not None for d in disks.values()) else "busy"
    return ", ".join(f"{name} {_use(disk) or 0.0:.0f} %" for name, disk in disks.items()) + f" {of}"


def disks_unread(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """The disks were not read, so nothing proves that the level's disks were used up."""
    if _known(disks_of(use, resources)):
        return None
    sentence = "the disks could not be read, so nothing proves that they were full"
    return Explanation(kind=BottleneckKind.UNREAD, sentence=sentence, remedy="use disks that /proc/diskstats lists")


def disks_full(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    disks = disks_of(use, resources)
    if not resources.prepared_disks or not _known(disks) or not all(map(_full, disks.values())):
        return None
    sentence = disk_words(use, resources)
    return Explanation(kind=BottleneckKind.DISK, sentence=sentence, remedy="more disks", noted=True)


def uneven_disks(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Some prepared disks were used up while others had unused capacity."""
    disks = disks_of(use, resources)
    if not resources.prepared_disks or not _known(disks) or not any(map(_full, disks.values())):
        return None
    sentence = disk_words(use, resources)
    return Explanation(kind=BottleneckKind.UNEVEN_DISKS, sentence=sentence, remedy=SPREAD)


def disk_waits(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """Prepared disks delayed the server for a while, but had unused capacity over the whole load."""
    delay = held_up(use, resources)
    if not resources.prepared_disks or not delay:
        return None
    return Explanation(
        kind=BottleneckKind.DISK_WAITS,
        sentence=f"in the window {delay}, but over the whole load the disks had capacity left",
        remedy=f"fewer flushes (see the target's page), {SPREAD}",
    )


def disk(use: ResourceUse, resources: TrialResources) -> Explanation | None:
    """A disk was busy all the time, wrote nearly its ceiling, or made the server wait."""
    delay = held_up(use, resources)
    if resources.prepared_disks or not delay:
        return None
    return Explanation(
        kind=BottleneckKind.DISK,
        sentence=delay,
        remedy="a faster disk (--data-dir), fewer flushes (see the target's page), or sweep disks: scale sweep disk",
    )


def held_up(use: ResourceUse, resources: TrialResources) -> str:
    """The way in which a disk made the server wait, in words; "" if none did."""
    for name, busy in use.disk_busy_percent.items():
        written, own = use.disk_mb_per_s.get(name), resources.disk_ceilings_mb_per_s.get(name)
        if own and written is not None and 100 * written >= DISK_FULL_PERCENT * own:
            return f"disk {name} wrote {written:.0f} MB/s of the {own:.0f} MB/s that it can by itself"
        if busy >= DISK_BUSY_PERCENT:
            return f"disk {name} was {busy:.0f} % busy"
    if use.io_waiting_percent is not None and use.io_waiting_percent >= IO_WAITING_PERCENT:
        return f"something waited for I/O {use.io_waiting_percent:.0f} % of the time"
    return ""


def _use(figures: DiskFigures) -> float | None:
    return figures.used_percent if figures.used_percent is not None else figures.busy_percent


def _known(disks: Mapping[str, DiskFigures]) -> bool:
    return bool(disks) and all(_use(disk) is not None for disk in disks.values())


def _full(figures: DiskFigures) -> bool:
    if figures.used_percent is not None:
        return figures.used_percent >= DISK_FULL_PERCENT
    return (figures.busy_percent or 0.0) >= DISK_BUSY_PERCENT
