"""The disks of a trial: synced before and after, watched during it, and checked to hold the data."""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import stat
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import LoadError, ProvisionError
from scale_sweep.base.input_file import below
from scale_sweep.base.interrupts import LOOK_S, current
from scale_sweep.base.units import format_bytes
from scale_sweep.model.declared_parts import Load
from scale_sweep.model.samples import DataDisk, Sample
from scale_sweep.server.targets import Part

SYNC_S = 600.0  # also of others, and of the trial before


def data_paths(disks: Sequence[DataDisk]) -> list[str]:
    return list(dict.fromkeys(disk.path for disk in disks))


def sync_disks(disks: Sequence[DataDisk], limit_s: float = SYNC_S) -> None:
    """By syncfs on all at once. Raises LoadError, after limit_s with the disks that have not answered."""
    left = {disk.path: disk for disk in disks}
    ended: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()
    for disk in left.values():
        threading.Thread(target=_sync_into, args=(ended, disk), name=f"sync {disk.name}", daemon=True).start()
    deadline = time.monotonic() + limit_s
    while left:
        try:
            path, error = ended.get(timeout=min(LOOK_S, max(0.0, deadline - time.monotonic())))
        except queue.Empty:
            current().look()
            if time.monotonic() > deadline:
                names = ", ".join(f"{disk.name} ({path})" for path, disk in left.items())
                raise LoadError(f"disk {names} did not finish syncing within {limit_s:.0f} s") from None
            continue
        if error is not None:
            raise error
        del left[path]


def _sync_into(ended: queue.SimpleQueue[tuple[str, BaseException | None]], disk: DataDisk) -> None:
    try:
        _sync(disk)
        ended.put((disk.path, None))
    except BaseException as error:  # the caller raises it
        ended.put((disk.path, error))


def _sync(disk: DataDisk) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(disk.path, os.O_RDONLY)
    try:
        if libc.syncfs(fd) != 0:
            raise LoadError(f"disk {disk.name} ({disk.path}) cannot be synced: {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(fd)


_LEFT_SHARE = 0.3  # the flush and merges need space too


def refuse_full(sample: Sample, disks: Sequence[DataDisk], free_min_bytes: int) -> None:
    """Raises LoadError that names the first disk with less free space than the trial must leave."""
    for name, disk in sample.disks.items():
        if disk.free_bytes is not None and disk.free_bytes < free_min_bytes:
            raise LoadError(
                f"{_disk_words(name, disks)} is about to fill: {disk.free_bytes / 1e6:.0f} MB free, "
                f"{free_min_bytes / 1e6:.0f} MB is the least",
                remedy="larger disks, fewer rows or a shorter window; --disk-free-min sets the least",
            )


class Growth:
    """Ends a growing window before a disk is full."""

    def __init__(self, load: Load, disks: Sequence[DataDisk]) -> None:
        self._load, self._disks, self._has_ended = load, disks, False

    def end(self, measure_start_ns: int | None, samples: Sequence[Sample]) -> str:
        """Once, when the window has its requested length and would grow; else ""."""
        load = self._load
        if load.window_max_s is None or load.duration_s is None or not samples or self._has_ended:
            return ""
        if measure_start_ns is None or (samples[-1].monotonic_ns - measure_start_ns) / 1e9 < load.duration_s:
            return ""
        sentence = filling_disk(samples[0], samples[-1], self._disks)
        self._has_ended = bool(sentence)
        return sentence


def filling_disk(first: Sample, last: Sample, disks: Sequence[DataDisk]) -> str:
    """Less is free than a part of what was taken: a window that grew further could end with a full disk."""
    for name, disk in last.disks.items():
        before = first.disks.get(name)
        if before is None or before.free_bytes is None or disk.free_bytes is None:
            continue
        taken = before.free_bytes - disk.free_bytes
        if disk.free_bytes < _LEFT_SHARE * taken:
            return (
                f"{_disk_words(name, disks)} is filling: the load took {format_bytes(taken)}, and "
                f"{format_bytes(disk.free_bytes)} are free"
            )
    return ""


def full_disk(disks: Sequence[DataDisk], free_min_bytes: int) -> str:
    """ "" if none is."""
    for disk in disks:
        space = os.statvfs(disk.path)
        free = space.f_bavail * space.f_frsize
        if free < free_min_bytes:
            return f"{_disk_words(disk.name, disks)} is full: {free / 1e6:.0f} MB free"
    return ""


def _disk_words(name: str, disks: Sequence[DataDisk]) -> str:
    disk = next((disk for disk in disks if disk.name == name), None)
    if disk is not None and disk.kind == "ram":
        return f"the memory for the data ({disk.path}, {format_bytes(disk.size_bytes)}; --data-dir ram:SIZE)"
    together = "+".join(one.name for one in disks if disk is not None and one.path == disk.path)
    return f"disk {together or name} ({disk.path if disk else '?'})"


def bytes_at_rest(folders: Sequence[str]) -> int | None:
    """Each file once; None if there is nothing to read."""
    sizes: dict[tuple[int, int], int] = {}
    for folder in filter(None, folders):
        for path in below(folder):
            with contextlib.suppress(OSError):  # it was removed already
                seen = path.lstat()
                if stat.S_ISREG(seen.st_mode):
                    sizes[seen.st_dev, seen.st_ino] = seen.st_blocks * 512
    return sum(sizes.values()) if sizes else None


def check_placement(parts: Sequence[Part], disks: Sequence[DataDisk], folders: Sequence[str]) -> Mapping[str, str]:
    """`parts_per_disk`, by paths with links followed and file systems. Raises ProvisionError for parts on another
    disk."""
    counts: Counter[int] = Counter()
    strays = []
    for part in parts:
        at = _disk_of(part.path, folders)
        counts[at] += 1
        if at < 0 or part.disk not in (None, at):
            wanted = disks[part.disk].name if part.disk is not None else "any of them"
            is_on = disks[at].name if at >= 0 else os.path.realpath(part.path)
            strays.append(f"{part.name} is on {is_on}, planned was {wanted}")
    if strays:
        more = f" and {len(strays) - 3} more" if len(strays) > 3 else ""
        raise ProvisionError(f"the data are not on their disks: {'; '.join(strays[:3])}{more}")
    return {"parts_per_disk": ",".join(str(counts[i]) for i in range(len(folders)))} if parts else {}


def _disk_of(path: str, folders: Sequence[str]) -> int:
    real = Path(os.path.realpath(path))
    for i, folder in enumerate(folders):
        there = Path(os.path.realpath(folder))
        if real.is_relative_to(there) and real.exists() and real.stat().st_dev == there.stat().st_dev:
            return i
    return -1
