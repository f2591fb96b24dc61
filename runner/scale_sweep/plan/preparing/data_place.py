"""Where the servers' data is on this machine: a directory on a disk, or one in memory. Makes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from scale_sweep.machine.host import disk_of, memory_disk
from scale_sweep.machine.host.ram import RamDirectory, is_ram, ram_directory, with_size
from scale_sweep.machine.state import folder_path
from scale_sweep.model import Plan
from scale_sweep.server.targets import load_facts


@dataclass(frozen=True, kw_only=True)
class DataPlace:
    """wanted: --data-dir, with the size of memory. path: the directory. ram: the same, if it is in memory. is_seen:
    whether the disk, or the memory, below it is known."""

    wanted: str
    path: Path
    ram: RamDirectory | None = None
    is_seen: bool = True


def data_place(requested: str) -> DataPlace:
    """The place for a --data-dir; "" means the default one."""
    wanted = with_size(requested)
    ram = ram_directory(wanted, folder_path("ram")) if is_ram(wanted) else None
    path = ram.path if ram else Path(wanted) if wanted else default_data_dir()
    is_seen = ram is not None or disk_of(path) is not None or memory_disk(path) is not None
    return DataPlace(wanted=wanted, path=path, ram=ram, is_seen=is_seen)


def with_unseen_disk(plan: Plan, data: DataPlace) -> Plan:
    """The plan, which says if servers write files to a disk that is not seen."""
    note = f"the disk below {data.path} is not seen: it cannot be named as the bottleneck"
    writes = any(load_facts(t.subject.target).has_files and not t.subject.endpoint for t in plan.trials)
    if data.is_seen or plan.sweep.disks is not None or not writes or note in plan.notes:
        return plan
    return replace(plan, notes=(*plan.notes, note))


def default_data_dir() -> Path:
    """The folder for data in this user's state: on a disk, because TMPDIR may be in memory."""
    return folder_path("data")
