"""Disks: their source, their properties, and their own speed. In no database's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CEILING_S = 4.0  # of sequential writes by fio, on each disk and on all together; half of it for small blocks
DiskKind = Literal["dir", "device", "loop", "ram"]


@dataclass(frozen=True, kw_only=True)
class DiskSource:
    """The source of a sweep's disks. Making this object touches nothing."""

    kind: DiskKind
    dirs: tuple[str, ...] = ()  # existing mounts
    # block devices that we may format (only with `format`; `wipe` allows one that holds data)
    devices: tuple[str, ...] = ()
    loop_bytes: int | None = None  # the size of each loop device that we make
    # cap_bytes_per_s, cap_iops: the limit of each loop device's writes and reads
    cap_bytes_per_s: int | None = None
    cap_iops: int | None = None
    format: bool = False
    wipe: bool = False
    allow_shared_device: bool = False  # two dirs may be on one device
    file_system: str = "ext4"  # for devices and loop devices


@dataclass(frozen=True, kw_only=True)
class DataDisk:
    """A disk for a server: a directory on its own device."""

    name: str  # d1, d2, ... in the order of the axis
    kind: DiskKind  # "ram" is a tmpfs, of which only the free space is known
    path: str  # the mount point
    device: str  # "7:0" (major:minor), as in /proc/diskstats
    block_name: str  # "loop0". cap_*: the limit that was set and verified; None without one
    file_system: str
    size_bytes: int
    free_bytes: int
    cap_bytes_per_s: int | None = None
    cap_iops: int | None = None


@dataclass(frozen=True, kw_only=True)
class DiskCeiling:
    """The rates of disks without a database (fio): sequential writes, and small writes each followed by fsync."""

    disks: tuple[str, ...]  # the names that were written at the same time
    write_mb_per_s: float
    sync_writes_per_s: float | None
    by_disk: Mapping[str, float] = field(default_factory=dict)  # each one's part of write_mb_per_s. MB is 10^6 bytes


@dataclass(frozen=True, kw_only=True)
class DiskFigures:
    """One disk in one trial, from the first request to the end of flush and sync."""

    write_mb_per_s: float | None
    share_percent: float | None = None  # of all bytes that the trial's disks took
    used_percent: float | None = None  # of this disk's own ceiling (fio); None if that was not measured
    # time with requests in flight, as the kernel counts it. A capped loop device waits before that counter, so judge it
    # by used_percent
    busy_percent: float | None = None
    queue: float | None = None  # requests in flight, on average
    free_gb_min: float | None = None


@dataclass(frozen=True, kw_only=True)
class DiskSample:
    """One disk's counters at one tick, from /proc/diskstats and statvfs. Names with _total are cumulative."""

    written_bytes_total: int | None
    read_bytes_total: int | None
    writes_total: int | None
    busy_s_total: float | None
    queue_s_total: float | None  # the weighted time of requests in flight. Its growth over time is the mean queue
    free_bytes: int | None
