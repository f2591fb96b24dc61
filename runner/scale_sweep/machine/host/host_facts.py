"""Facts of this machine: CPUs and their topology, memory, kernel, cgroups, pressure. Reads /proc and /sys only."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scale_sweep.base.units import parse_cpus
from scale_sweep.machine.host.usable import cpu_quota, memory_bytes, text_of

SAME_KIND = 0.9  # of the capacity of the fastest core of a kind


@dataclass(frozen=True, kw_only=True)
class Cpu:
    """One logical CPU."""

    id: int
    # core, package: as the kernel numbers them
    core: int
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
        """The CPUs that this process may keep busy at once."""
        return float(len(self.allowed)) if self.cpu_quota is None else min(len(self.allowed), self.cpu_quota)


def read_host(root: Path = Path("/")) -> Host:
    """The facts, read from the files below `root` (tests use another one)."""
    cgroup = cgroup_version(root)
    return Host(
        hostname=platform.node(),
        os=_os_name(root),
        kernel=platform.release(),
        arch=platform.machine(),
        cpu_model=_cpu_model(root),
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


def _os_name(root: Path) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)', text_of(root / "etc/os-release"), re.MULTILINE)
    return match.group(1) if match else platform.system()


def _cpu_model(root: Path) -> str:
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text_of(root / "proc/cpuinfo"), re.MULTILINE)
    return match.group(1) if match else platform.machine()


def _cpus(root: Path) -> tuple[Cpu, ...]:
    base = root / "sys/devices/system/cpu"
    online = text_of(base / "online")
    ids = parse_cpus(online) if online else tuple(range(os.cpu_count() or 1))
    kinds = _kinds(root, ids)
    return tuple(_cpu(base, cpu, kinds.get(cpu, 0)) for cpu in ids)


def _cpu(base: Path, cpu: int, kind: int) -> Cpu:
    folder = base / f"cpu{cpu}"
    core, package = text_of(folder / "topology/core_id"), text_of(folder / "topology/physical_package_id")
    nodes = [int(p.name[4:]) for p in folder.glob("node[0-9]*")]
    return Cpu(
        id=cpu,
        core=int(core or cpu),
        package=max(0, int(package or 0)),
        node=nodes[0] if nodes else 0,
        l3=_l3(folder),
        kind=kind,
    )


def _l3(folder: Path) -> int:
    """The lowest CPU of those that share the L3 cache of a CPU; 0 if the kernel does not say."""
    for index in folder.glob("cache/index[0-9]*"):
        if text_of(index / "level") == "3" and (shared := text_of(index / "shared_cpu_list")):
            return min(parse_cpus(shared))
    return 0


def _kinds(root: Path, ids: tuple[int, ...]) -> dict[int, int]:
    """The kind of each CPU's core: of Intel's hybrids as the kernel lists them, else by the capacities that it assigns.
    Capacities that differ by less than a tenth are one kind: the best cores of a kind are a little faster."""
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
