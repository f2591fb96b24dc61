"""One RAID-0 array (md) over the first disks of a set, made again when their number changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.disks.playbook import run_playbook, search_path
from scale_sweep.machine.disks.sets import DiskSet, find_set, name_of_run, save
from scale_sweep.machine.host import disk_of
from scale_sweep.model import DataDisk, DiskSource, Finding

MODPROBE_S = 10.0
_MDSTAT = Path("/proc/mdstat")
_SYS = Path("/sys/dev/block")
_INSTEAD = "--disk-placement spread, which puts each vgroup or partition on one disk"


def check_stripe(source: DiskSource) -> tuple[Finding, ...]:
    """Everything that prevents an array on this machine. Reads only."""
    has_mdadm = shutil.which("mdadm", path=search_path()) is not None
    return unstripable(source, has_md=_has_md(), has_mdadm=has_mdadm)


def unstripable(source: DiskSource, *, has_md: bool, has_mdadm: bool) -> tuple[Finding, ...]:
    """The decision of check_stripe, from its inputs alone. Pure."""
    reasons = []
    if source.kind == "dir":
        reasons.append(
            (
                "--dir are file systems already, and an array is made of devices",
                f"--loop, or --device with --format; or {_INSTEAD}",
            )
        )
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
    """The first disks of a run's set as one array: each with its own device, all with the array's path and file system.

    The disks' contents are lost, unless they form that array already. Raises ProvisionError if the array cannot be
    made, or does not consist of these members afterwards.
    """
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
    if disk is None or disk.mount_point != path or (there := members_of(_SYS / disk.device)) != wanted:
        members_now = "nothing" if disk is None or disk.mount_point != path else ", ".join(there) or "no array"
        raise ProvisionError(
            f"stripe at {path}: of {', '.join(wanted)} wanted, {members_now} found", remedy="scale clean"
        )
    free = shutil.disk_usage(path).free
    return tuple(replace(m, path=path, file_system=disk.file_system, free_bytes=free) for m in members)


def members_of(array: Path) -> list[str]:
    """The kernel's names of the devices of a RAID-0 array, sorted; empty if the folder is not on one."""
    level = array / "md/level"
    if not level.exists() or level.read_text(encoding="utf-8").strip() != "raid0":
        return []
    return sorted(p.name for p in (array / "slaves").iterdir())
