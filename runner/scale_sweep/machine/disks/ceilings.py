"""The disks' own limits, measured by fio: each alone and all together, sequential writes and small writes with
fsync."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.machine.disks.fio import Writing, file_bytes, run_fio
from scale_sweep.model import DataDisk, DiskCeiling, Finding

SYNC_BLOCK_BYTES = 4096
SYNC_FILE_BYTES = 2**20
SYNC_PART = 0.5  # of the seconds for sequential writes
SHARED_BELOW = 0.85  # of the sum; fio's own scatter stays above it


def measure_ceilings(disks: Sequence[DataDisk], seconds: float, block_bytes: int) -> tuple[DiskCeiling, ...]:
    """Measures each disk alone, then all together (with two or more). Takes about 1.5 × seconds × (disks + 1).

    Raises ProvisionError if fio fails.
    """
    groups = [(disk,) for disk in disks] + ([tuple(disks)] if len(disks) > 1 else [])
    return tuple(_measure(group, seconds, block_bytes) for group in groups)


def _measure(disks: Sequence[DataDisk], seconds: float, block_bytes: int) -> DiskCeiling:
    sequential = run_fio(
        [
            Writing(
                name=d.name,
                path=d.path,
                block_bytes=block_bytes,
                seconds=seconds,
                file_bytes=file_bytes(d.free_bytes, 2**30),
            )
            for d in disks
        ]
    )
    synced = run_fio(
        [
            Writing(
                name=d.name,
                path=d.path,
                block_bytes=SYNC_BLOCK_BYTES,
                seconds=seconds * SYNC_PART,
                fsync_each=True,
                direct=False,
                file_bytes=SYNC_FILE_BYTES,
            )
            for d in disks
        ]
    )
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
