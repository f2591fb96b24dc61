"""Checks the source that the user gave for disks, before anything is touched."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scale_sweep.base.units import counted, format_bytes
from scale_sweep.machine.disks.device import look_at, whole_disk
from scale_sweep.machine.disks.playbook import search_path
from scale_sweep.machine.host.block_devices import disk_of
from scale_sweep.machine.host.host_facts import text_of
from scale_sweep.machine.state.trusted import distrust
from scale_sweep.model.planned import Finding
from scale_sweep.model.samples import DiskSource

BYTES_MIN = {"ext4": 64 * 2**20, "xfs": 300 * 2**20}  # mkfs.xfs refuses less, and ext4 would hold hardly any data
TIMED_BYTES_MIN = 2**30
FILE_SYSTEMS = tuple(BYTES_MIN)
CAP_BYTES_PER_S_MIN = 2**20
USABLE = 0.9  # of a disk by files, beside its file system
SPARE_BYTES = 2**28  # of the disk below loop devices, for other files on it
_V1 = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
_V2 = Path("/sys/fs/cgroup/cgroup.controllers")
_PACKAGES = {"losetup": "util-linux mount", "wipefs": "util-linux", "mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs"}
_Mistake = tuple[str, str, str]  # subject, sentence, remedy


def check_source(source: DiskSource, count: int, base: Path = Path("/var/tmp")) -> tuple[Finding, ...]:
    """Everything that is wrong, at once. base: the directory for loop devices' files and all mount points."""
    if source.kind == "dir":
        return _blocking(*_dirs(source, count), *_tools(("fio",)))
    mistakes = []
    if source.file_system not in FILE_SYSTEMS:
        unknown = f"unknown file system {source.file_system!r}"
        mistakes.append(("--file-system", unknown, f"one of {' or '.join(FILE_SYSTEMS)}"))
    if os.geteuid() != 0:
        return _blocking(*mistakes, _not_root(source, count))
    makers = ("losetup", "wipefs", f"mkfs.{source.file_system}", "fio", "ansible-playbook")
    missing = list(_tools([m for m in makers if not (mistakes and m.startswith("mkfs"))]))
    made = () if missing else _devices(source, count) if source.kind == "device" else _loops(source, count, base)
    is_shared = source.kind == "loop" and not missing and not _is_capped(source) and count > 1
    warnings = (_SHARED,) if is_shared else ()
    return (*_blocking(*mistakes, *missing, *made), *warnings, *_blocking(*_caps(source)))


_SHARED = Finding(
    blocking=False,
    subject="--loop",
    sentence="without a limit all loop devices share the disk under them",
    remedy="--cap 20MiB/s gives each a separate bandwidth",
)


def _blocking(*mistakes: _Mistake) -> tuple[Finding, ...]:
    return tuple(Finding(blocking=True, subject=s, sentence=words, remedy=remedy) for s, words, remedy in mistakes)


def _is_capped(source: DiskSource) -> bool:
    return bool(source.cap_bytes_per_s or source.cap_iops)


def _tools(programs: Sequence[str]) -> Iterator[_Mistake]:
    missing = [p for p in programs if shutil.which(p, path=search_path()) is None]
    if packages := " ".join(dict.fromkeys(_PACKAGES.get(p, p) for p in missing if p != "ansible-playbook")):
        yield "disks", f"{', '.join(missing)}: not installed", f"apt-get install {packages}"
    lacks_runner = "ansible-playbook" in programs and importlib.util.find_spec("ansible_runner") is None
    if "ansible-playbook" in missing or lacks_runner:
        yield "disks", "Ansible is not installed", "pip install ansible-core ansible-runner"


def _not_root(source: DiskSource, count: int) -> _Mistake:
    words = f"--loop {format_bytes(source.loop_bytes)}" if source.loop_bytes else "--device ... --format"
    cap = f" --cap {format_bytes(source.cap_bytes_per_s)}/s" if source.cap_bytes_per_s else ""
    remedy = (
        f"run with sudo, or let root make them once: sudo scale disks create {words}{cap} --count {count} "
        "--owner $USER, and sweep as yourself with the --dir that it prints; or use existing mounts with --dir"
    )
    return f"--{source.kind}", "making and mounting disks needs root", remedy


def _dirs(source: DiskSource, count: int) -> Iterator[_Mistake]:
    seen: dict[str, str] = {}
    for path in source.dirs[:count]:
        if not os.path.isdir(path):
            yield "--dir", f"{path} is not a directory", "mount the disk there, or name another"
        elif reason := distrust(Path(path)):
            yield "--dir", reason, "a directory that only this user or root may change"
        elif not os.access(path, os.W_OK | os.X_OK):
            yield "--dir", f"{path} cannot be written by this user", f"chown it, or write as {path}'s owner"
        elif (disk := disk_of(Path(path))) is None:
            sentence = f"{path} is on no block device (memory, network or overlay), so nothing can be counted there"
            yield "--dir", sentence, "a directory on a separate disk"
        else:
            whole = whole_disk(disk.device)
            if whole in seen and not source.allow_shared_device:
                remedy = "a directory on each disk, or --allow-shared-device to do it all the same"
                yield "--dir", f"{seen[whole]} and {path} are both on {whole}", remedy
            seen.setdefault(whole, path)


def _devices(source: DiskSource, count: int) -> Iterator[_Mistake]:
    seen: dict[str, str] = {}
    for path in source.devices[:count]:
        device = look_at(path)
        if device is None:
            yield "--device", f"{path} is not a block device", "see lsblk for their names"
            continue
        if device.whole in seen:
            yield "--device", f"{seen[device.whole]} and {path} are both {device.whole}", "name each disk once"
        seen.setdefault(device.whole, path)
        if device.used_by:
            remedy = "another device, or unmount it first: --wipe does not take a device in use"
            yield "--device", f"{path} is in use: {device.used_by}", remedy
        elif device.holds and not source.wipe:
            remedy = "another device; or --wipe, and all of it is lost"
            yield "--device", f"{path} holds {', '.join(device.holds)}", remedy
        elif device.size_bytes < _least(source):
            size = format_bytes(device.size_bytes)
            yield "--device", f"{path} has {size}, too little for {source.file_system} with data", _or_more(source)
    if not source.format:
        sentence = f"{', '.join(source.devices[:count])}: not formatted: --format is missing"
        yield "--device", sentence, "--format to make file systems there; or mount them yourself and give --dir"


def _least(source: DiskSource) -> int:
    return BYTES_MIN.get(source.file_system, min(BYTES_MIN.values()))


def _or_more(source: DiskSource) -> str:
    return f"{format_bytes(_least(source))} or more"


def too_small(source: DiskSource, needed: Mapping[int, int], timed_s: float = 0.0) -> tuple[Finding, ...]:
    """Disks of a level that cannot hold the rows of a trial. needed: bytes by the number of disks. timed_s: for so long
    at least a trial writes as many rows as it can."""
    if timed_s and source.loop_bytes and source.loop_bytes < TIMED_BYTES_MIN and _can_fill(source, timed_s):
        size = format_bytes(source.loop_bytes)
        sentence = f"{size} may be full before a window ends: a trial writes as many rows as it can"
        return _blocking(("--loop", sentence, f"--loop {format_bytes(TIMED_BYTES_MIN)} or more, or fixed --rows"))
    each = {count: _room(source, count) for count in needed}
    lacking = [count for count, size in needed.items() if size > each[count]]
    if not lacking:
        return ()
    count = max(lacking, key=lambda n: needed[n] / n)
    sentence = (
        f"the rows of a trial take about {format_bytes(needed[count])}; {counted(count, 'disk')} can hold "
        f"{format_bytes(each[count])}"
    )
    fits = -(-int(-(-needed[count] // count) / USABLE) // 2**30)
    larger = f"--loop {fits}GiB" if source.kind == "loop" else "larger disks"
    return _blocking((f"--{source.kind}", sentence, f"{larger}, or fewer --rows"))


def _can_fill(source: DiskSource, seconds: float) -> bool:
    """Whether a loop device's limits let a server fill it in this time."""
    if not source.cap_bytes_per_s:
        return not source.cap_iops
    return source.cap_bytes_per_s * seconds > (source.loop_bytes or 0) * USABLE


def _room(source: DiskSource, count: int) -> int:
    """Bytes for data on the first disks of a source; no limit where one cannot be asked."""
    if source.kind == "loop":
        return int(count * (source.loop_bytes or 0) * USABLE)
    if source.kind == "device":
        devices = [look_at(path) for path in source.devices[:count]]
        return int(sum(device.size_bytes * USABLE if device else sys.maxsize for device in devices))
    return sum(shutil.disk_usage(path).free if os.path.isdir(path) else sys.maxsize for path in source.dirs[:count])


def _loops(source: DiskSource, count: int, base: Path) -> Iterator[_Mistake]:
    size = source.loop_bytes or 0
    if size < _least(source):
        yield "--loop", f"{format_bytes(size)} is too small for {source.file_system} with data", _or_more(source)
    if not os.path.exists("/dev/loop-control"):
        remedy = "modprobe loop (in a container: --privileged with /dev), or --dir"
        yield "--loop", "this machine has no loop devices (/dev/loop-control)", remedy
    there = next(p for p in (base.absolute(), *base.absolute().parents) if p.exists())
    free = shutil.disk_usage(there).free
    if size * count + SPARE_BYTES > free:
        sentence = (
            f"not enough space: {count} × {format_bytes(size)} and a reserve of {format_bytes(SPARE_BYTES)}, but "
            f"{there} has {format_bytes(free)} free"
        )
        yield "--loop", sentence, "a smaller --loop, or --data-dir on a larger disk"


def _caps(source: DiskSource) -> Iterator[_Mistake]:
    if not _is_capped(source):
        return
    if not (_V1.exists() or "io" in text_of(_V2).split()):
        remedy = "mount the blkio controller (cgroup v1) or io (v2); or real disks with --dir"
        yield "--cap", "no cgroup hierarchy that limits disks is mounted", remedy
    if source.cap_bytes_per_s and source.cap_bytes_per_s < CAP_BYTES_PER_S_MIN:
        sentence = f"{format_bytes(source.cap_bytes_per_s)}/s cannot be verified in seconds"
        yield "--cap", sentence, f"{format_bytes(CAP_BYTES_PER_S_MIN)}/s or more"
