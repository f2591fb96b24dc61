"""Facts of this machine, and the part of it that this process may use. Reads /proc and /sys only.

A limit holds for the group and for all below it, so that the least one on the way to the root counts: v1 and v2.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scale_sweep.base.units import parse_cpus

SAME_KIND = 0.9  # of the capacity of the fastest core of a kind


@dataclass(frozen=True, kw_only=True)
class Cpu:
    id: int
    core: int  # its lowest CPU; as the kernel numbers it in its package, if it lists no CPUs of a core
    package: int
    node: int  # its NUMA node
    l3: int = 0  # the lowest CPU that shares its L3 cache; 0 if the kernel does not say
    kind: int = 0  # of its core, 0 for the fastest kind of the machine


@dataclass(frozen=True, kw_only=True)
class Host:
    """The machine, as far as this process may use it."""

    hostname: str
    os: str
    kernel: str
    arch: str
    cpu_model: str
    cpus: tuple[Cpu, ...]
    allowed: tuple[int, ...]  # its CPUs
    governor: str
    memory_bytes: int
    cgroup: Literal["v1", "v2", "none"]
    cgroup_writable: bool
    psi: tuple[str, ...]  # resources that have pressure files
    is_root: bool
    makes_load: bool = True  # the load generator runs on it too
    cpu_quota: float | None = None  # CPUs that may be busy at once; None: all

    @property
    def cpus_max(self) -> float:
        return float(len(self.allowed)) if self.cpu_quota is None else min(len(self.allowed), self.cpu_quota)


def read_host(root: Path = Path("/")) -> Host:
    """root: where /proc, /sys and /etc are."""
    cgroup = cgroup_version(root)
    return Host(
        hostname=platform.node(),
        os=_first(r'^PRETTY_NAME="?([^"\n]*)', root / "etc/os-release", platform.system()),
        kernel=platform.release(),
        arch=platform.machine(),
        cpu_model=_first(r"^(?:model name|Model)\s*:\s*(.+)$", root / "proc/cpuinfo", platform.machine()),
        cpus=_cpus(root),
        allowed=tuple(sorted(os.sched_getaffinity(0))),
        governor=text_of(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        memory_bytes=memory_bytes(root),
        cpu_quota=cpu_quota(root),
        cgroup=cgroup,
        cgroup_writable=_cgroup_writable(root, cgroup),
        psi=tuple(n for n in ("cpu", "io", "memory") if text_of(root / "proc/pressure" / n)),
        is_root=os.geteuid() == 0,
    )


def cgroup_version(root: Path = Path("/")) -> Literal["v1", "v2", "none"]:
    """v2 if only the unified hierarchy is mounted, v1 if controllers have mounts of their own."""
    base = root / "sys/fs/cgroup"
    if (base / "cgroup.controllers").exists():
        return "v2"
    return "v1" if (base / "cpuacct").is_dir() else "none"


def _cgroup_writable(root: Path, version: str) -> bool:
    base = root / "sys/fs/cgroup"
    place = base if version == "v2" else base / "cpuacct"
    return version != "none" and os.access(place, os.W_OK) and not os.statvfs(place).f_flag & os.ST_RDONLY


def _first(pattern: str, path: Path, default: str) -> str:
    """The group of the first match."""
    match = re.search(pattern, text_of(path), re.MULTILINE)
    return match.group(1) if match else default


def _cpus(root: Path) -> tuple[Cpu, ...]:
    base = root / "sys/devices/system/cpu"
    online = text_of(base / "online")
    ids = parse_cpus(online) if online else tuple(range(os.cpu_count() or 1))
    kinds = _kinds(root, ids)
    return tuple(_cpu(base, cpu, kinds.get(cpu, 0)) for cpu in ids)


def _cpu(base: Path, cpu: int, kind: int) -> Cpu:
    folder = base / f"cpu{cpu}"
    core, package = text_of(folder / "topology/core_id"), text_of(folder / "topology/physical_package_id")
    names = ("core_cpus_list", "thread_siblings_list")  # of the kernel since 5.3, and before
    listed = next(filter(None, (text_of(folder / "topology" / name) for name in names)), "")
    nodes = [int(p.name[4:]) for p in folder.glob("node[0-9]*")]
    return Cpu(
        id=cpu,
        core=min(parse_cpus(listed)) if listed else int(core or cpu),  # dies and clusters number theirs from 0 each
        package=max(0, int(package or 0)),
        node=nodes[0] if nodes else 0,
        l3=_l3(folder),
        kind=kind,
    )


def _l3(folder: Path) -> int:
    for index in folder.glob("cache/index[0-9]*"):
        if text_of(index / "level") == "3" and (shared := text_of(index / "shared_cpu_list")):
            return min(parse_cpus(shared))
    return 0


def _kinds(root: Path, ids: tuple[int, ...]) -> dict[int, int]:
    """The kind of each CPU's core. Capacities that differ by less than a tenth are one kind."""
    small = text_of(root / "sys/devices/cpu_atom/cpus")
    if small and text_of(root / "sys/devices/cpu_core/cpus"):
        return dict.fromkeys(parse_cpus(small), 1)
    base = root / "sys/devices/system/cpu"
    texts = {cpu: text_of(base / f"cpu{cpu}/cpu_capacity") for cpu in ids}
    capacities = {cpu: int(text) for cpu, text in texts.items() if text.isdecimal()}
    kinds: dict[int, int] = {}
    kind, first = 0, max(capacities.values(), default=0)
    for cpu, capacity in sorted(capacities.items(), key=lambda one: (-one[1], one[0])):
        if capacity < SAME_KIND * first:
            kind, first = kind + 1, capacity
        kinds[cpu] = kind
    return kinds


def cpu_quota(root: Path = Path("/"), of: str = "self") -> float | None:
    """CPUs that a process may keep busy at once; None without a quota. of: its number."""
    return min((cores for cores, _ in _quotas(root, of)), default=None)


def quota_group(of: str, root: Path = Path("/")) -> str:
    """The folder of the control group with the smallest quota; "" without one."""
    return str(min(_quotas(root, of), default=(0.0, ""))[1])


def _quotas(root: Path, of: str) -> Iterator[tuple[float, Path]]:
    for group in _groups(root, "cpu", of):
        v1 = f"{text_of(group / 'cpu.cfs_quota_us')} {text_of(group / 'cpu.cfs_period_us')}"
        both = (text_of(group / "cpu.max") or v1).split()
        if len(both) == 2 and all(text.isdigit() for text in both):
            yield int(both[0]) / int(both[1]), group


def memory_bytes(root: Path = Path("/")) -> int:
    """The limit of this process; 0 if the kernel does not say."""
    return min([kernel_bytes("MemTotal", root / "proc") or 0, *(limit for limit, _ in _memory_groups(root))])


def memory_left_bytes(root: Path = Path("/")) -> int:
    """Without pushing anything out; 0 if the kernel does not say."""
    left = (max(0, limit - used) for limit, used in _memory_groups(root))
    return min([kernel_bytes("MemAvailable", root / "proc") or 0, *left])


def kernel_bytes(name: str, proc: Path = Path("/proc")) -> int | None:
    """A figure of /proc/meminfo, of the whole machine."""
    kilobytes = _first(rf"^{name}:\s+(\d+) kB", proc / "meminfo", "")
    return int(kilobytes) * 1024 if kilobytes else None


def text_of(path: Path) -> str:
    """ "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _memory_groups(root: Path) -> Iterator[tuple[int, int]]:
    for group in _groups(root, "memory"):
        limit = text_of(group / "memory.max") or text_of(group / "memory.limit_in_bytes")
        used = text_of(group / "memory.current") or text_of(group / "memory.usage_in_bytes")
        cached = re.findall(r"^(?:total_)?inactive_file (\d+)$", text_of(group / "memory.stat"), re.MULTILINE)
        if limit.isdigit() and used.isdigit():
            yield int(limit), max(0, int(used) - sum(map(int, cached[-1:])))  # v1: the last one is of all below it


def _groups(root: Path, controller: str, of: str = "self") -> Iterator[Path]:
    for line in text_of(root / f"proc/{of}/cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / (controller if controllers else "")
        own = base / name.lstrip("/")
        yield from (group for group in (own, *own.parents) if group.is_relative_to(base))
