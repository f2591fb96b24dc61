"""What a sweep of a database in a process may leave in its data directory: looked for after every end, good or bad."""

import os
from pathlib import Path

import psutil

from scale_sweep.machine.state import Record, read_records


def ours_running(data_dir: Path) -> list[str]:
    """Command lines of others' processes that name the data directory."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(data_dir) in line and process.pid != os.getpid():
            found.append(line)
    return found


def records_in(data_dir: Path) -> list[Record]:
    """Records of what runs made in the data directory."""
    return [r for r in read_records().records if any(Path(p).is_relative_to(data_dir) for p in r.paths)]


def makers_of_segments() -> set[int]:
    """PIDs that made the System V shared memory of this machine."""
    return {int(line.split()[4]) for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def assert_nothing_left(data_dir: Path) -> None:
    assert ours_running(data_dir) == []
    assert [p for p in data_dir.glob("*") if p.is_dir() and "cores-" in p.name] == []
    assert records_in(data_dir) == []
