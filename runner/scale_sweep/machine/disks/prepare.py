"""Prepares disks for a sweep or until they are removed by name, makes arrays of them, and removes them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, ProvisionError, ScaleError, UsageError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.disks.limits import verify_caps
from scale_sweep.machine.disks.playbook import end_processes, run_playbook, search_path
from scale_sweep.machine.disks.sets import (
    DiskSet,
    claim_folder,
    find_set,
    forget,
    held,
    list_disks,
    name_of_run,
    names,
    new_set,
    save,
)
from scale_sweep.machine.disks.source import check_source
from scale_sweep.machine.host.block_devices import data_disk, disk_of
from scale_sweep.machine.host.host_facts import text_of
from scale_sweep.model.planned import Finding
from scale_sweep.model.samples import DataDisk, DiskSource


@contextlib.contextmanager
def prepared(source: DiskSource, count: int, run_id: str, base: Path) -> Iterator[tuple[DataDisk, ...]]:
    """d1 ... d<count>, with verified limits; removed at the end of the block. Raises PreflightError, ProvisionError."""
    _refuse(source, count, base)
    if source.kind == "dir":
        yield tuple(_disk(f"d{i + 1}", path, source) for i, path in enumerate(source.dirs[:count]))
        return
    name = name_of_run(run_id)
    there = find_set(name)
    if there is not None and there.in_use:  # an agent that lost its controller, and still removes them
        raise ProvisionError(f"the disks {name} are another process's now", remedy="wait until it has removed them")
    disk_set = new_set(name, source, count, base, owner="root", kept=False)
    with _undone_on_error(disk_set):
        yield _make(disk_set)
    undo(disk_set)


def create(
    name: str, source: DiskSource, count: int, base: Path, owner: str = "root"
) -> tuple[DiskSet, tuple[DataDisk, ...]]:
    """Makes disks that stay until `remove_disks`; the same request again verifies again. Raises UsageError if the name
    belongs to another request."""
    wanted = new_set(name, source, count, base, owner=owner, kept=True)
    there = find_set(name)
    if there is not None and there.ready:
        if (there.source, there.count, there.folder, there.owner) != (source, count, wanted.folder, owner):
            raise UsageError(f"--name: {name} exists with other options", remedy=f"scale disks remove {name}")
    else:
        if there is not None and there.in_use:
            raise UsageError(f"--name: {name} is just being made", remedy="another name, or wait")
        _refuse(source, count, base)
    with _undone_on_error(wanted):
        return wanted, _make(wanted)


@contextlib.contextmanager
def _undone_on_error(disk_set: DiskSet) -> Iterator[None]:
    """Undoes the set after an error. `scale clean` finds what could not be undone."""
    try:
        yield
    except BaseException as error:
        try:
            undo(disk_set)
        except ProvisionError as second:
            if isinstance(error, ScaleError):
                error.remedy = f"{error.remedy}; not all could be undone ({second.message}): scale clean"
            else:
                error.add_note(f"disks are left: {second.message}")
        raise


def _refuse(source: DiskSource, count: int, base: Path) -> None:
    findings = [f for f in check_source(source, count, base) if f.blocking]
    if findings:
        raise PreflightError(
            "; ".join(f"{f.subject}: {f.sentence}" for f in findings),
            remedy="; ".join(dict.fromkeys(f.remedy for f in findings)),
        )


def _make(disk_set: DiskSet) -> tuple[DataDisk, ...]:
    save(disk_set)
    claim_folder(disk_set, makes=True)
    run_playbook(disk_set, "present")
    disks = tuple(_disk(f"d{i + 1}", path, disk_set.source) for i, path in enumerate(disk_set.paths))
    verify_caps(disks, disk_set.name)
    save(replace(disk_set, ready=True))
    return disks


def _disk(name: str, path: str, source: DiskSource) -> DataDisk:
    disk = disk_of(Path(path))
    if disk is None or (source.kind != "dir" and disk.mount_point != path):
        raise ProvisionError(f"{name}: {path} is not mounted", remedy="see docs/disks.md")
    caps: dict[str, Any] = {"cap_bytes_per_s": source.cap_bytes_per_s, "cap_iops": source.cap_iops}
    return replace(data_disk(disk), name=name, kind=source.kind, path=path, **caps)


def undo(disk_set: DiskSet) -> None:
    """Ends what uses the set and removes all of it. Ctrl-C waits. Raises ProvisionError if something cannot be
    removed."""
    with deferred(), held(disk_set.name) as is_there:
        if not is_there:
            return
        disk_set = find_set(disk_set.name) or disk_set
        end_processes(disk_set.name)
        claim_folder(disk_set, makes=False)
        run_playbook(disk_set, "absent")
        forget(disk_set.name)


def remove_disks(wanted: Sequence[str] = (), *, everything: bool = False) -> tuple[DiskSet, ...]:
    """By name, or all. Raises UsageError before anything is removed."""
    there = list_disks()
    sets = there if everything else tuple(s for name in wanted if (s := find_set(name)))
    unknown = [name for name in wanted if find_set(name) is None]
    if unknown:
        raise UsageError(f"no set of disks called {', '.join(unknown)}", remedy=f"there are: {names(there)}")
    busy = [s for s in sets if not s.kept and s.in_use and s.maker_pid != os.getpid()]
    if busy:
        raise UsageError(f"in use by a sweep that runs: {names(busy)}", remedy="end the sweep; it removes its disks")
    remove_sets(sets)
    return sets


def leftover_sets() -> tuple[DiskSet, ...]:
    """Sets whose maker has ended and that were not made to stay."""
    return tuple(s for s in list_disks() if not s.in_use and not (s.kept and s.ready))


def remove_sets(sets: Sequence[DiskSet]) -> None:
    """Whoever made them. Raises PreflightError."""
    if sets and os.geteuid() != 0:
        raise PreflightError("removing disks needs root", remedy="run with sudo")
    for disk_set in sets:
        undo(disk_set)


MODPROBE_S = 10.0
_MDSTAT = Path("/proc/mdstat")
_DEVICES = Path("/sys/dev/block")
_INSTEAD = "--disk-placement spread, which puts each vgroup or partition on one disk"


def check_stripe(source: DiskSource) -> tuple[Finding, ...]:
    """Reads only."""
    has_mdadm = shutil.which("mdadm", path=search_path()) is not None
    return unstripable(source, has_md=_has_md(), has_mdadm=has_mdadm)


def unstripable(source: DiskSource, *, has_md: bool, has_mdadm: bool) -> tuple[Finding, ...]:
    """The decision of `check_stripe`, from its inputs alone."""
    reasons = []
    if source.kind == "dir":
        sentence = "--dir are file systems already, and an array is made of devices"
        reasons.append((sentence, f"--loop, or --device with --format; or {_INSTEAD}"))
    if not has_md:
        reasons.append(("this kernel has no md, so no RAID-0", f"{_INSTEAD}; or a kernel with the module raid0"))
    elif not has_mdadm:
        reasons.append(("mdadm: not installed", f"apt-get install mdadm; or {_INSTEAD}"))
    return tuple(
        Finding(blocking=True, subject="--disk-placement", sentence=f"stripe: {sentence}", remedy=remedy)
        for sentence, remedy in reasons
    )


def _has_md() -> bool:
    if _MDSTAT.exists():
        return True
    try:
        environment = {**os.environ, "PATH": search_path()}
        probe = run_within(MODPROBE_S, ["modprobe", "--dry-run", "--quiet", "raid0"], env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probe.returncode == 0


def restripe(run_id: str, members: Sequence[DataDisk]) -> tuple[DataDisk, ...]:
    """A run's first disks as one RAID-0 array (md), whose path each gets. Other contents are lost. Raises
    ProvisionError."""
    name = name_of_run(run_id)
    disk_set = find_set(name)
    if disk_set is None:
        raise ProvisionError(f"the set of disks {name} is gone", remedy="start again")
    striped = replace(disk_set, stripe=len(members))
    if disk_set.stripe != len(members):
        save(striped)  # written first, so that a cleanup knows that an array may exist
        run_playbook(striped, "present")
    return _on_array(striped, members)


def _on_array(striped: DiskSet, members: Sequence[DataDisk]) -> tuple[DataDisk, ...]:
    (path,) = striped.paths
    disk = disk_of(Path(path))
    wanted = sorted(m.block_name for m in members)
    if disk is None or disk.mount_point != path or (there := members_of(_DEVICES / disk.device)) != wanted:
        members_now = "nothing" if disk is None or disk.mount_point != path else ", ".join(there) or "no array"
        raise ProvisionError(
            f"stripe at {path}: of {', '.join(wanted)} wanted, {members_now} found", remedy="scale clean"
        )
    free = shutil.disk_usage(path).free
    return tuple(replace(m, path=path, file_system=disk.file_system, free_bytes=free) for m in members)


def members_of(array: Path) -> list[str]:
    """The kernel's names of a RAID-0 array's devices, sorted; empty if the folder is not on one."""
    if text_of(array / "md/level") != "raid0":
        return []
    return sorted(p.name for p in (array / "slaves").iterdir())
