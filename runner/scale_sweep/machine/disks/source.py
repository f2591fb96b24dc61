"""Checks the source that the user gave for disks, before anything is touched."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.units import counted, format_bytes
from scale_sweep.machine.disks.device import look_at, whole_disk
from scale_sweep.machine.disks.playbook import search_path
from scale_sweep.machine.host import disk_of
from scale_sweep.machine.state import distrust
from scale_sweep.model import DiskSource, Finding

BYTES_MIN = {"ext4": 64 * 2**20, "xfs": 300 * 2**20}  # mkfs.xfs refuses less, and ext4 would hold hardly any data
FILE_SYSTEMS = tuple(BYTES_MIN)
CAP_BYTES_PER_S_MIN = 2**20
USABLE = 0.9  # of a disk by files, beside its file system
SPARE_BYTES = 2**28  # of the disk below loop devices, for other files on it
_V1 = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
_V2 = Path("/sys/fs/cgroup/cgroup.controllers")
_PACKAGES = {"losetup": "util-linux mount", "wipefs": "util-linux", "mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs"}


def check_source(source: DiskSource, count: int, base: Path = Path("/var/tmp")) -> tuple[Finding, ...]:
    """Everything that is wrong, at once. base: the directory for loop devices' files and all mount points."""
    if source.kind == "dir":
        return (*_dirs(source, count), *_tools(("fio",)))
    findings = _file_system(source)
    if os.geteuid() != 0:
        return (*findings, _not_root(source, count))
    makers = ("losetup", "wipefs", f"mkfs.{source.file_system}", "fio", "ansible-playbook")
    missing = _tools([m for m in makers if not (findings and m.startswith("mkfs"))])
    made = _devices(source, count) if source.kind == "device" else _loops(source, count, base)
    return (*findings, *missing, *([] if missing else made), *_caps(source))


def _blocking(subject: str, sentence: str, remedy: str) -> Finding:
    return Finding(blocking=True, subject=subject, sentence=sentence, remedy=remedy)


def _tools(programs: Sequence[str]) -> list[Finding]:
    missing = [p for p in programs if shutil.which(p, path=search_path()) is None]
    findings = []
    if packages := " ".join(dict.fromkeys(_PACKAGES.get(p, p) for p in missing if p != "ansible-playbook")):
        findings.append(_blocking("disks", f"{', '.join(missing)}: not installed", f"apt-get install {packages}"))
    if "ansible-playbook" in missing or ("ansible-playbook" in programs and not _has_ansible_runner()):
        findings.append(_blocking("disks", "Ansible is not installed", "pip install ansible-core ansible-runner"))
    return findings


def _has_ansible_runner() -> bool:
    return importlib.util.find_spec("ansible_runner") is not None


def _file_system(source: DiskSource) -> list[Finding]:
    if source.file_system in FILE_SYSTEMS:
        return []
    known = " or ".join(FILE_SYSTEMS)
    return [_blocking("--file-system", f"unknown file system {source.file_system!r}", f"one of {known}")]


def _not_root(source: DiskSource, count: int) -> Finding:
    words = f"--loop {format_bytes(source.loop_bytes)}" if source.loop_bytes else "--device ... --format"
    cap = f" --cap {format_bytes(source.cap_bytes_per_s)}/s" if source.cap_bytes_per_s else ""
    return _blocking(
        f"--{source.kind}",
        "making and mounting disks needs root",
        f"run with sudo, or let root make them once: sudo scale disks create {words}{cap} --count {count} "
        "--owner $USER, and sweep as yourself with the --dir that it prints; or use existing mounts with --dir",
    )


def _dirs(source: DiskSource, count: int) -> list[Finding]:
    findings: list[Finding] = []
    seen: dict[str, str] = {}
    for path in source.dirs[:count]:
        if not os.path.isdir(path):
            findings.append(_blocking("--dir", f"{path} is not a directory", "mount the disk there, or name another"))
        elif reason := distrust(Path(path)):
            findings.append(_blocking("--dir", reason, "a directory that only this user or root may change"))
        elif not os.access(path, os.W_OK | os.X_OK):
            findings.append(
                _blocking("--dir", f"{path} cannot be written by this user", f"chown it, or write as {path}'s owner")
            )
        elif (disk := disk_of(Path(path))) is None:
            findings.append(
                _blocking(
                    "--dir",
                    f"{path} is on no block device (memory, network or overlay), so nothing can be counted there",
                    "a directory on a separate disk",
                )
            )
        else:
            whole = whole_disk(disk.device)
            if whole in seen and not source.allow_shared_device:
                findings.append(
                    _blocking(
                        "--dir",
                        f"{seen[whole]} and {path} are both on {whole}",
                        "a directory on each disk, or --allow-shared-device to do it all the same",
                    )
                )
            seen.setdefault(whole, path)
    return findings


def _devices(source: DiskSource, count: int) -> list[Finding]:
    findings: list[Finding] = []
    seen: dict[str, str] = {}
    for path in source.devices[:count]:
        device = look_at(path)
        if device is None:
            findings.append(_blocking("--device", f"{path} is not a block device", "see lsblk for their names"))
            continue
        if device.whole in seen:
            same = f"{seen[device.whole]} and {path} are both {device.whole}"
            findings.append(_blocking("--device", same, "name each disk once"))
        seen.setdefault(device.whole, path)
        if device.used_by:
            findings.append(
                _blocking(
                    "--device",
                    f"{path} is in use: {device.used_by}",
                    "another device, or unmount it first: --wipe does not take a device in use",
                )
            )
        elif device.holds and not source.wipe:
            findings.append(
                _blocking(
                    "--device",
                    f"{path} holds {', '.join(device.holds)}",
                    "another device; or --wipe, and all of it is lost",
                )
            )
        elif device.size_bytes < _least(source):
            findings.append(
                _blocking(
                    "--device",
                    f"{path} has {format_bytes(device.size_bytes)}, too little for {source.file_system} with data",
                    _or_more(source),
                )
            )
    if not source.format:
        devices = ", ".join(source.devices[:count])
        findings.append(
            _blocking(
                "--device",
                f"{devices}: not formatted: --format is missing",
                "--format to make file systems there; or mount them yourself and give --dir",
            )
        )
    return findings


def _least(source: DiskSource) -> int:
    return BYTES_MIN.get(source.file_system, min(BYTES_MIN.values()))


def _or_more(source: DiskSource) -> str:
    return f"{format_bytes(_least(source))} or more"


def too_small(source: DiskSource, needed: Mapping[int, int]) -> tuple[Finding, ...]:
    """A finding if the disks of a level cannot hold the rows of a trial. needed: bytes by the number of disks."""
    each = {count: _room(source, count) for count in needed}
    lacking = [count for count, size in needed.items() if size > each[count]]
    if not lacking:
        return ()
    count = max(lacking, key=lambda n: needed[n] / n)
    sentence = (
        f"the rows of a trial take about {format_bytes(needed[count])}; {counted(count, 'disk')} can hold "
        f"{format_bytes(each[count])}"
    )
    share = -(-needed[count] // count)
    fits = -(-int(share / USABLE) // 2**30)
    larger = f"--loop {fits}GiB" if source.kind == "loop" else "larger disks"
    return (_blocking(f"--{source.kind}", sentence, f"{larger}, or fewer --rows"),)


def _room(source: DiskSource, count: int) -> int:
    """Bytes for data on the first disks of a source; no limit where one cannot be asked."""
    if source.kind == "loop":
        return int(count * (source.loop_bytes or 0) * USABLE)
    if source.kind == "device":
        devices = [look_at(path) for path in source.devices[:count]]
        return int(sum(device.size_bytes * USABLE if device else sys.maxsize for device in devices))
    return sum(shutil.disk_usage(path).free if os.path.isdir(path) else sys.maxsize for path in source.dirs[:count])


def _loops(source: DiskSource, count: int, base: Path) -> list[Finding]:
    size = source.loop_bytes or 0
    findings = []
    if size < _least(source):
        findings.append(
            _blocking(
                "--loop", f"{format_bytes(size)} is too small for {source.file_system} with data", _or_more(source)
            )
        )
    if not os.path.exists("/dev/loop-control"):
        findings.append(
            _blocking(
                "--loop",
                "this machine has no loop devices (/dev/loop-control)",
                "modprobe loop (in a container: --privileged with /dev), or --dir",
            )
        )
    there = next(p for p in (base.absolute(), *base.absolute().parents) if p.exists())
    free = shutil.disk_usage(there).free
    if size * count + SPARE_BYTES > free:
        findings.append(
            _blocking(
                "--loop",
                f"not enough space: {count} × {format_bytes(size)} and a reserve of "
                f"{format_bytes(SPARE_BYTES)}, but {there} has {format_bytes(free)} free",
                "a smaller --loop, or --data-dir on a larger disk",
            )
        )
    if not (source.cap_bytes_per_s or source.cap_iops) and count > 1:
        findings.append(
            Finding(
                blocking=False,
                subject="--loop",
                sentence="without a limit all loop devices share the disk under them",
                remedy="--cap 20MiB/s gives each a separate bandwidth",
            )
        )
    return findings


def _caps(source: DiskSource) -> list[Finding]:
    if not (source.cap_bytes_per_s or source.cap_iops):
        return []
    findings = []
    v2 = _V2.exists() and "io" in _V2.read_text(encoding="utf-8").split()
    if not (_V1.exists() or v2):
        findings.append(
            _blocking(
                "--cap",
                "no cgroup hierarchy that limits disks is mounted",
                "mount the blkio controller (cgroup v1) or io (v2); or real disks with --dir",
            )
        )
    if source.cap_bytes_per_s and source.cap_bytes_per_s < CAP_BYTES_PER_S_MIN:
        findings.append(
            _blocking(
                "--cap",
                f"{format_bytes(source.cap_bytes_per_s)}/s cannot be verified in seconds",
                f"{format_bytes(CAP_BYTES_PER_S_MIN)}/s or more",
            )
        )
    return findings
