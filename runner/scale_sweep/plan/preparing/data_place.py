"""Where the servers' data is: a directory on a disk, or one in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.base.units import format_bytes
from scale_sweep.experiment.setting.readers import RAM_BYTES_MIN
from scale_sweep.machine.host.block_devices import (
    AUTO,
    RAM,
    RamDirectory,
    Room,
    disk_of,
    is_ram,
    memory_disk,
    ram_directory,
    room,
)
from scale_sweep.machine.state.places import folder_path
from scale_sweep.model.planned import Plan
from scale_sweep.plan.data_sets import bytes_needed, bytes_written, search_bytes
from scale_sweep.plan.make import noted
from scale_sweep.server.targets import load_facts

AUTO_BYTES_MIN = 2 * 2**30  # of memory: TDengine writes only while as much is free
_DISK = "--data-dir auto takes a disk: "


@dataclass(frozen=True, kw_only=True)
class DataPlace:
    wanted: str  # --data-dir, with the size of memory; "": the default
    path: Path
    ram: RamDirectory | None = None
    is_seen: bool = True  # the disk, or the memory, below it
    note: str = ""  # of the plan


def data_place(requested: str, least: int = 0, most: int = 0) -> DataPlace:
    """ "" is the default. least, most: bytes of data, an estimate. Raises PreflightError."""
    wanted, note = sized(requested, least, most, room)
    ram = ram_directory(wanted, folder_path("ram")) if is_ram(wanted) else None
    path = ram.path if ram else Path(wanted) if wanted else default_data_dir()
    is_seen = ram is not None or disk_of(path) is not None or memory_disk(path) is not None
    return DataPlace(wanted=wanted, path=path, ram=ram, is_seen=is_seen, note=note)


def with_unseen_disk(plan: Plan, data: DataPlace) -> Plan:
    note = f"the disk below {data.path} is not seen: it cannot be named as the bottleneck"
    writes = any(load_facts(t.subject.target).has_files and not t.subject.endpoint for t in plan.trials)
    is_known = data.is_seen or plan.sweep.disks is not None or not writes or note in plan.notes
    return plan if is_known else noted(plan, note)


def default_data_dir() -> Path:
    """On a disk, because TMPDIR may be in memory."""
    return folder_path("data")


def sized(requested: str, least: int, most: int, there: Callable[[], Room]) -> tuple[str, str]:
    """With the size of memory, or "" if `auto` takes a disk; and a sentence. there: reads the memory. Raises
    PreflightError."""
    wanted, word, more = requested, RAM, ""
    if requested in (RAM, AUTO):
        word, memory = requested, there()
        half = memory.free_bytes // 2  # the rest is for the server, the page cache and others
        if requested == AUTO:
            more = f", a trial may write {format_bytes(most)}"
            if half < max(most, AUTO_BYTES_MIN):
                return "", f"{_DISK}{memory.words}, half of it for data{more}"
        elif half < (needed := max(least, RAM_BYTES_MIN)):
            raise PreflightError(
                f"--data-dir: ram: {memory.words}, half of it for data, and a trial needs about {format_bytes(needed)}",
                remedy=f"--data-dir {sized_to(needed)}, or " * (needed <= memory.free_bytes)
                + "--data-dir auto, which takes a disk then",
            )
        wanted = f"{RAM}:{half // 2**20}MiB"
    if not is_ram(wanted):
        return wanted, ""
    return wanted, (
        f"the data is in memory (--data-dir {word}, {wanted.partition(':')[2]} at most{more}): the rates do not "
        "contain the cost of a disk, and the data uses the server's memory"
    )


def sized_to(needed: int) -> str:
    return f"{RAM}:{-(-needed // 2**20)}MiB"


def with_data(plan: Plan, place: Callable[[str, int, int], DataPlace]) -> Plan:
    """place: `data_place`, here or on the server's host. Raises PreflightError."""
    requested = plan.sweep.data_dir
    why = next(_on_disk(plan), "") if requested == AUTO else ""
    chosen = place("" if why else requested, *_bytes(plan))
    note = chosen.note or (f"{_DISK}{why or 'the inventory names its directory'}" if requested == AUTO else "")
    kept = chosen.wanted if is_ram(chosen.wanted) else "" if requested == AUTO else requested
    return noted(replace(plan, sweep=replace(plan.sweep, data_dir=kept)), note)


def _on_disk(plan: Plan) -> Iterator[str]:
    for trial in plan.trials:
        if trial.subject.endpoint:
            yield "the data of a server that runs already is elsewhere"
        if trial.resources.disks:
            yield "disks are swept"
        if trial.work.cache == "cold":
            yield "data in memory are never cold"
        if trial.resources.memory_bytes is not None:
            yield "the server's memory limit would count data in memory"


def _bytes(plan: Plan) -> tuple[int, int]:
    trials = [t for t in plan.trials if not t.subject.endpoint and load_facts(t.subject.target).has_files]
    sets = bytes_needed(trials) + plan.sweep.disk_free_min_bytes
    searches = (search_bytes(trial)[0] for trial in trials)
    least, most = (max((bytes_written(t, most=is_most) for t in trials), default=0) for is_most in (False, True))
    return sets + least, sets + max(most, *searches, 0)
