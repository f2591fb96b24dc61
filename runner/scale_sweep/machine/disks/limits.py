"""The disks' own limits by fio: measured for a sweep, kept for a day, and whether a limit that was set holds."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.units import format_bytes
from scale_sweep.machine.disks.fio import FioRates, Writing, file_bytes, run_fio
from scale_sweep.machine.disks.playbook import search_path
from scale_sweep.machine.state.places import folder
from scale_sweep.machine.state.trusted import read_own, write_own
from scale_sweep.model.planned import Finding
from scale_sweep.model.samples import CEILING_S, DataDisk, DiskCeiling

SYNC_BLOCK_BYTES = 4096
SYNC_FILE_BYTES = 2**20
SYNC_PART = 0.5  # of the seconds for sequential writes
SHARED_BELOW = 0.85  # of the sum; fio's own scatter stays above it


def measure_ceilings(disks: Sequence[DataDisk], seconds: float, block_bytes: int) -> tuple[DiskCeiling, ...]:
    """Each disk alone, then all together, in about 1.5 × seconds × (disks + 1). Raises ProvisionError."""
    groups = [(disk,) for disk in disks] + ([tuple(disks)] if len(disks) > 1 else [])
    return tuple(_measure(group, seconds, block_bytes) for group in groups)


def _rates(
    disks: Sequence[DataDisk], size: Callable[[DataDisk], int], label: str = "", **how: Any
) -> Mapping[str, FioRates]:
    """Writes to all disks at the same time. size: of the file, if there is room. how: as fields of Writing."""
    sizes = [file_bytes(d.free_bytes, size(d)) for d in disks]
    writings = [Writing(name=d.name, path=d.path, file_bytes=n, **how) for d, n in zip(disks, sizes, strict=True)]
    return run_fio(writings, label)


def _measure(disks: Sequence[DataDisk], seconds: float, block_bytes: int) -> DiskCeiling:
    sequential = _rates(disks, lambda _: 2**30, block_bytes=block_bytes, seconds=seconds)
    how: dict[str, Any] = {"seconds": seconds * SYNC_PART, "fsync_each": True, "direct": False}
    synced = _rates(disks, lambda _: SYNC_FILE_BYTES, block_bytes=SYNC_BLOCK_BYTES, **how)
    by_disk = {d.name: sequential[d.name].bytes_per_s / 1e6 for d in disks}
    return DiskCeiling(
        disks=tuple(d.name for d in disks),
        write_mb_per_s=sum(by_disk.values()),
        sync_writes_per_s=sum(synced[d.name].writes_per_s for d in disks),
        by_disk=by_disk,
    )


def shares_bottleneck(ceilings: Sequence[DiskCeiling]) -> Finding | None:
    """A finding if all disks together write clearly less than the sum of each alone. Pure."""
    alone = {c.disks[0]: c.write_mb_per_s for c in ceilings if len(c.disks) == 1}
    together = next((c for c in ceilings if len(c.disks) > 1), None)
    if together is None or not set(together.disks) <= set(alone):
        return None
    total = sum(alone[name] for name in together.disks)
    if total <= 0 or together.write_mb_per_s >= SHARED_BELOW * total:
        return None
    return Finding(
        blocking=False,
        subject="disks",
        sentence=f"the disks share a bottleneck: {' + '.join(together.disks)} together write "
        f"{together.write_mb_per_s:.1f} MB/s, {together.write_mb_per_s / total:.0%} of the {total:.1f} MB/s "
        "that each does alone; no database can scale on them beyond that",
        remedy="disks on separate controllers; with --loop, a lower --cap",
    )


DISK_LIMIT_SWITCH = "SCALE_DISK_LIMIT"  # "off" in the environment: neither measured nor read
LIMITS_FOLDER = "limits"
KEPT_S = 86_400.0
FREE_BYTES_MIN = 4 * 2**30


def limit_of(
    disk: DataDisk, data_dir: Path, block_bytes: int, now_s: float, say: Callable[[str], None]
) -> DiskCeiling | None:
    """The kept limit if it is younger than a day, else a new one; None if it is not known. now_s: since 1970."""
    if os.environ.get(DISK_LIMIT_SWITCH) == "off" or not disk.device:
        return None
    kept = folder(LIMITS_FOLDER) / f"{disk.device.replace(':', '-')}.json"
    if (known := _read_kept(kept, disk, now_s)) is not None:
        return known
    if shutil.which("fio", path=search_path()) is None or disk.free_bytes < FREE_BYTES_MIN:
        return None
    say(f"measuring the limit of the data's disk {disk.block_name} (fio, once a day)")
    try:
        (limit,) = measure_ceilings([replace(disk, path=str(data_dir))], CEILING_S, block_bytes)
    except ProvisionError as error:
        say(f"the limit of the data's disk is not known: {error.message}")
        return None
    partial = kept.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        write_own(partial, json.dumps({"measured_unix_s": now_s, "disk": _identity(disk), "limit": asdict(limit)}))
        os.replace(partial, kept)
    return limit


def _identity(disk: DataDisk) -> list[object]:
    return [disk.device, disk.block_name, disk.file_system, disk.path, disk.size_bytes]


def _read_kept(kept: Path, disk: DataDisk, now_s: float) -> DiskCeiling | None:
    try:
        held = json.loads(read_own(kept))
        age_s, limit = now_s - float(held["measured_unix_s"]), held["limit"]
        if held["disk"] != _identity(disk) or not 0 <= age_s < KEPT_S:
            return None
        rate, synced = float(limit["write_mb_per_s"]), limit["sync_writes_per_s"]
        by_disk = {str(name): float(value) for name, value in limit["by_disk"].items()}
        return DiskCeiling(
            disks=tuple(by_disk),
            write_mb_per_s=rate,
            sync_writes_per_s=None if synced is None else float(synced),
            by_disk=by_disk,
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


CAP_TOLERANCE = 0.2
CAP_S = 2.0
_ROOT_GROUP = Path("/sys/fs/cgroup/blkio/cgroup.procs")
BLOCK_BYTES, SMALL_BLOCK_BYTES = 64 * 2**10, 4 * 2**10


@dataclass(frozen=True, kw_only=True)
class Off:
    """A disk whose rate is not the requested one."""

    disk: str
    what: str  # the rate in words, with its unit
    requested: float
    seen: float

    @property
    def sentence(self) -> str:
        requested, seen = (f"{format_bytes(round(v))}/s" for v in (self.requested, self.seen))
        return f"{self.disk} does {seen} of {self.what}, not the requested {requested}"


def verify_caps(disks: Sequence[DataDisk], label: str) -> None:
    """All disks together, then those that seem too slow again alone. Raises ProvisionError."""
    capped = [d for d in disks if d.cap_bytes_per_s or d.cap_iops]
    if not capped:
        return
    if _ROOT_GROUP.exists():  # cgroup v1: it has the limits, a session's own group has none
        with contextlib.suppress(OSError):  # the measurement shows whether it was needed
            _ROOT_GROUP.write_text(str(os.getpid()), encoding="utf-8")
    off = _direct(capped, label)
    slow = [d for d in capped if any(o.disk == d.name and o.seen < o.requested for o in off)]
    off = [o for o in off if o.seen > o.requested]
    for disk in slow:  # the disk below them may slow them all together; the ceilings show that
        off += _direct([disk], label)
    off += _buffered(capped, label)
    if not off:
        return
    remedy = "on cgroup v2 the limit holds in groups below the root: run scale in a session or service, not in the root"
    if all(o.seen < o.requested for o in off):
        remedy = "the disk under it is slower than that: a lower --cap, or a quieter machine"
    raise ProvisionError(f"limits do not hold: {'; '.join(o.sentence for o in off)}", remedy=remedy)


def expected(disk: DataDisk, block_bytes: int) -> float:
    """Bytes per second that both limits together allow."""
    unlimited = float("inf")
    return min(disk.cap_bytes_per_s or unlimited, (disk.cap_iops or unlimited) * block_bytes)


def _direct(disks: Sequence[DataDisk], label: str) -> list[Off]:
    blocks = [BLOCK_BYTES] if any(d.cap_bytes_per_s for d in disks) else []
    blocks += [SMALL_BLOCK_BYTES] if any(d.cap_iops for d in disks) else []
    off = []
    for block in blocks:
        seen = _rates(disks, lambda _: 2**28, label, block_bytes=block, seconds=CAP_S)
        for disk in disks:
            requested, rate = expected(disk, block), seen[disk.name].bytes_per_s
            if abs(rate / requested - 1) > CAP_TOLERANCE:
                off.append(Off(disk=disk.name, what=f"direct writes of {block} B", requested=requested, seen=rate))
    return off


def _buffered(disks: Sequence[DataDisk], label: str) -> list[Off]:
    """Disks that are too fast through the page cache. Slower is right: the journal writes too."""
    capped = [d for d in disks if d.cap_bytes_per_s]
    if not capped:
        return []
    seen = _rates(
        capped, lambda d: round((d.cap_bytes_per_s or 0) * CAP_S), label, block_bytes=BLOCK_BYTES, direct=False
    )
    return [
        Off(disk=d.name, what="buffered writes and fsync", requested=d.cap_bytes_per_s or 0, seen=rate)
        for d in capped
        if (rate := seen[d.name].bytes_per_s) > (d.cap_bytes_per_s or 0) * (1 + CAP_TOLERANCE)
    ]
