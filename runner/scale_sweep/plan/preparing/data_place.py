"""Where the servers' data is on this machine: a directory on a disk, or one in memory. Makes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scale_sweep.machine.host.ram import RamDirectory, is_ram, ram_directory, with_size
from scale_sweep.machine.state import folder_path


@dataclass(frozen=True, kw_only=True)
class DataPlace:
    """wanted: --data-dir, with the size of memory. path: the directory. ram: the same, if it is in memory."""

    wanted: str
    path: Path
    ram: RamDirectory | None = None


def data_place(requested: str) -> DataPlace:
    """The place for a --data-dir; "" means the default one."""
    wanted = with_size(requested)
    ram = ram_directory(wanted, folder_path("ram")) if is_ram(wanted) else None
    path = ram.path if ram else Path(wanted) if wanted else default_data_dir()
    return DataPlace(wanted=wanted, path=path, ram=ram)


def default_data_dir() -> Path:
    """The folder for data in this user's state: on a disk, because TMPDIR may be in memory."""
    return folder_path("data")
