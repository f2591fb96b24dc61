"""Measures whether writers meet the limit that was set, with direct writes and through the page cache."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.units import format_bytes
from scale_sweep.machine.disks.fio import Writing, file_bytes, run_fio
from scale_sweep.model import DataDisk

TOLERANCE = 0.2
SECONDS = 2.0
_ROOT_GROUP = Path("/sys/fs/cgroup/blkio/cgroup.procs")
BLOCK_BYTES, SMALL_BLOCK_BYTES = 64 * 2**10, 4 * 2**10


@dataclass(frozen=True, kw_only=True)
class Off:
    """A disk whose rate is not the requested one."""

    disk: str
    what: str  # the rate in words, with its unit
    requested: float
    seen: float


def join_root_group() -> None:
    """On cgroup v1, moves this process and its children into the group that has the limits: a session's own group has
    none."""
    if _ROOT_GROUP.exists():
        with contextlib.suppress(OSError):  # the measurement shows whether it was needed
            _ROOT_GROUP.write_text(str(os.getpid()), encoding="utf-8")


def verify_caps(disks: Sequence[DataDisk], label: str) -> None:
    """Measures all disks together, and again alone those that seem too slow. Raises ProvisionError that names disk and
    rates."""
    capped = [d for d in disks if d.cap_bytes_per_s or d.cap_iops]
    if not capped:
        return
    join_root_group()
    off = _direct(capped, label)
    slow = [d for d in capped if any(o.disk == d.name and o.seen < o.requested for o in off)]
    off = [o for o in off if o.seen > o.requested]
    for disk in slow:  # the disk below them may slow them all together; the ceilings show that
        off += _direct([disk], label)
    off += _buffered(capped, label)
    if off:
        raise ProvisionError(
            "limits do not hold: " + "; ".join(_sentence(o) for o in off),
            remedy=_remedy(off),
        )


def expected(disk: DataDisk, block_bytes: int) -> tuple[float, float]:
    """Bytes and writes per second that both limits together allow for writes of that size."""
    by_bytes = disk.cap_bytes_per_s or float("inf")
    by_count = (disk.cap_iops or float("inf")) * block_bytes
    allowed = min(by_bytes, by_count)
    return allowed, allowed / block_bytes


def _direct(disks: Sequence[DataDisk], label: str) -> list[Off]:
    blocks = [BLOCK_BYTES] if any(d.cap_bytes_per_s for d in disks) else []
    blocks += [SMALL_BLOCK_BYTES] if any(d.cap_iops for d in disks) else []
    return [off for block in blocks for off in _direct_in(block, disks, label)]


def _direct_in(block: int, disks: Sequence[DataDisk], label: str) -> list[Off]:
    seen = run_fio(
        [
            Writing(
                name=d.name, path=d.path, block_bytes=block, seconds=SECONDS, file_bytes=file_bytes(d.free_bytes, 2**28)
            )
            for d in disks
        ],
        label,
    )
    rates = {d.name: (expected(d, block)[0], seen[d.name].bytes_per_s) for d in disks}
    return [
        Off(disk=name, what=f"direct writes of {block} B", requested=requested, seen=rate)
        for name, (requested, rate) in rates.items()
        if abs(rate / requested - 1) > TOLERANCE
    ]


def _buffered(disks: Sequence[DataDisk], label: str) -> list[Off]:
    """Disks that are too fast through the page cache. Slower is right, because the journal writes too. A write without
    a limit is many times too fast."""
    capped = [d for d in disks if d.cap_bytes_per_s]
    if not capped:
        return []
    seen = run_fio(
        [
            Writing(
                name=d.name,
                path=d.path,
                block_bytes=BLOCK_BYTES,
                direct=False,
                file_bytes=file_bytes(d.free_bytes, round((d.cap_bytes_per_s or 0) * SECONDS)),
            )
            for d in capped
        ],
        label,
    )
    return [
        Off(disk=d.name, what="buffered writes and fsync", requested=d.cap_bytes_per_s or 0, seen=rate)
        for d in capped
        if (rate := seen[d.name].bytes_per_s) > (d.cap_bytes_per_s or 0) * (1 + TOLERANCE)
    ]


def _sentence(off: Off) -> str:
    requested, seen = (f"{format_bytes(round(v))}/s" for v in (off.requested, off.seen))
    return f"{off.disk} does {seen} of {off.what}, not the requested {requested}"


def _remedy(off: Sequence[Off]) -> str:
    if all(o.seen < o.requested for o in off):
        return "the disk under it is slower than that: a lower --cap, or a quieter machine"
    return "on cgroup v2 the limit holds in groups below the root: run scale in a session or service, not in the root"
