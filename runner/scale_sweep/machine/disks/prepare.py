"""Prepares disks for a sweep and removes them at its end, or makes disks that stay until they are removed by name."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from scale_sweep.base.errors import PreflightError, ProvisionError, ScaleError, UsageError
from scale_sweep.machine.disks.playbook import run_playbook
from scale_sweep.machine.disks.removal import undo
from scale_sweep.machine.disks.sets import DiskSet, claim_folder, find_set, name_of_run, new_set, save
from scale_sweep.machine.disks.source import check_source
from scale_sweep.machine.disks.verify import verify_caps
from scale_sweep.machine.host import disk_of
from scale_sweep.model import DataDisk, DiskKind, DiskSource


@contextlib.contextmanager
def prepared(source: DiskSource, count: int, run_id: str, base: Path) -> Iterator[tuple[DataDisk, ...]]:
    """d1 ... d<count>, with limits set and verified. Everything made is removed at the end, also after an error.

    Raises PreflightError for findings of check_source, ProvisionError if making or verifying fails.
    """
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
    """Makes disks that stay until `remove_disks`. The same name and request again changes nothing and verifies again.

    Raises UsageError if the name belongs to another request; else as `prepared`.
    """
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
    """Undoes the set and raises the first error again. `scale clean` finds what could not be undone."""
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
    kind: DiskKind = source.kind
    if disk is None or (kind != "dir" and disk.mount_point != path):
        raise ProvisionError(f"{name}: {path} is not mounted", remedy="see docs/disks.md")
    usage = shutil.disk_usage(path)
    return DataDisk(
        name=name,
        kind=kind,
        path=path,
        device=disk.device,
        block_name=disk.name,
        file_system=disk.file_system,
        size_bytes=usage.total,
        free_bytes=usage.free,
        cap_bytes_per_s=source.cap_bytes_per_s,
        cap_iops=source.cap_iops,
    )
