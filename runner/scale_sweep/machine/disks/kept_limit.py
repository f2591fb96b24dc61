"""The limit of the disk that holds the data of a sweep without prepared disks: one run of fio, kept for a day."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.machine.disks.ceilings import measure_ceilings
from scale_sweep.machine.disks.playbook import search_path
from scale_sweep.machine.state import folder, read_own, write_own
from scale_sweep.model import CEILING_S, DataDisk, DiskCeiling

SWITCH = "SCALE_DISK_LIMIT"  # "off" in the environment: neither measured nor read
FOLDER = "limits"
KEPT_S = 86_400.0
FREE_BYTES_MIN = 4 * 2**30


def limit_of(
    disk: DataDisk, data_dir: Path, block_bytes: int, now_s: float, say: Callable[[str], None]
) -> DiskCeiling | None:
    """The kept limit if it is younger than a day, else a new one; None if it is not known.

    data_dir: a directory on the disk in which fio may write. now_s: seconds since 1970.
    """
    if os.environ.get(SWITCH) == "off" or not disk.device:
        return None
    kept = folder(FOLDER) / f"{disk.device.replace(':', '-')}.json"
    known = _read(kept, disk, now_s)
    return known if known is not None else _measured(disk, data_dir, block_bytes, now_s, kept, say)


def _measured(
    disk: DataDisk, data_dir: Path, block_bytes: int, now_s: float, kept: Path, say: Callable[[str], None]
) -> DiskCeiling | None:
    if shutil.which("fio", path=search_path()) is None or disk.free_bytes < FREE_BYTES_MIN:
        return None
    say(f"measuring the limit of the data's disk {disk.block_name} (fio, once a day)")
    try:
        (limit,) = measure_ceilings([replace(disk, path=str(data_dir))], CEILING_S, block_bytes)
    except ProvisionError as error:
        say(f"the limit of the data's disk is not known: {error.message}")
        return None
    _write(kept, json.dumps({"measured_unix_s": now_s, "disk": _identity(disk), "limit": asdict(limit)}))
    return limit


def _identity(disk: DataDisk) -> list[object]:
    return [disk.device, disk.block_name, disk.file_system, disk.path, disk.size_bytes]


def _read(kept: Path, disk: DataDisk, now_s: float) -> DiskCeiling | None:
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


def _write(kept: Path, text: str) -> None:
    partial = kept.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        write_own(partial, text)
        os.replace(partial, kept)
