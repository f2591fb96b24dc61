"""Control groups of servers: CPU time, limits by quantity, and what the kernel killed for want of memory."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.units import format_bytes, format_cpus
from scale_sweep.machine.host.host_facts import cgroup_version
from scale_sweep.model.resources import CORES, MEMORY, Accounting, Resources
from scale_sweep.server.runtimes.controllers import enable_controllers

PERIOD_US = 100_000
_BASE = Path("/sys/fs/cgroup")


@dataclass(frozen=True, kw_only=True)
class Group:
    version: str
    paths: dict[str, str]

    @property
    def procs_files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f"{path}/cgroup.procs" for path in self.paths.values()))

    def accounting(self) -> Accounting:
        return Accounting(kind="cgroup1" if self.version == "v1" else "cgroup2", paths=self.paths)

    def pids(self) -> tuple[int, ...]:
        try:
            return tuple(int(line) for line in Path(self.procs_files[0]).read_text(encoding="utf-8").split())
        except OSError:
            return ()

    def remove(self) -> None:
        """Possible a moment after the last member ended."""
        for path in set(self.paths.values()):
            for _ in range(50):
                try:
                    os.rmdir(path)
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.05)


def make_group(name: str, resources: Resources) -> Group | None:
    """None if groups are not permitted and there are no limits. Raises ProvisionError."""
    version, limits = cgroup_version(), limits_of(resources)
    try:
        group = _make_v1(name) if version == "v1" else _make_v2(name) if version == "v2" else None
        if group is not None:
            try:
                for quantity, amount in limits.items():
                    LIMITS[quantity](group, amount)
                pin(group, resources.placement.server_cpus)
            except (OSError, ProvisionError):
                group.remove()
                raise
            return group
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
    else:
        reason = "no cgroup is mounted"
    if limits:
        raise ProvisionError(
            f"a part of a core or a memory limit needs a control group, which cannot be made ({reason})",
            remedy="run as root, use --runtime docker, or sweep whole cores without --memory",
        )
    return None


def _make_v1(name: str) -> Group:
    paths = {c: str(_BASE / c / name) for c in ("cpuacct", "cpu", "memory") if (_BASE / c).is_dir()}
    for path in set(paths.values()):
        os.makedirs(path, exist_ok=True)
    return Group(version="v1", paths=paths)


def _make_v2(name: str) -> Group:
    path = _BASE / name
    path.mkdir(exist_ok=True)
    group = Group(version="v2", paths={"unified": str(path)})
    try:
        enable_controllers(_BASE)
        keep_disk_limits(_BASE, path)
    except OSError:
        group.remove()
        raise
    return group


def keep_disk_limits(base: Path, path: Path, own: Path = Path("/proc/self/cgroup")) -> None:
    """On v2, those of the group that the server leaves: they are set below the root."""
    lines = own.read_text(encoding="utf-8").splitlines()
    mine = next((line[3:] for line in lines if line.startswith("0::")), "/").strip("/")
    limits = base / mine.partition("/")[0] / "io.max"
    if mine and limits.exists() and (path / "io.max").exists():
        for line in limits.read_text(encoding="utf-8").splitlines():
            (path / "io.max").write_text(line, encoding="utf-8")


def limits_of(resources: Resources) -> dict[str, float]:
    """Whole cores are CPUs of the placement."""
    limits = {quantity: granted.value for quantity, granted in resources.amounts.items() if quantity in LIMITS}
    quota = resources.placement.quota_cores
    return {**limits, CORES: quota} if quota is not None else {q: limits[q] for q in limits if q != CORES}


def limit_cores(group: Group, cores: float) -> None:
    quota_us = round(cores * PERIOD_US)
    if group.version == "v1":
        Path(group.paths["cpu"], "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="utf-8")
        Path(group.paths["cpu"], "cpu.cfs_quota_us").write_text(str(quota_us), encoding="utf-8")
        return
    Path(group.paths["unified"], "cpu.max").write_text(f"{quota_us} {PERIOD_US}", encoding="utf-8")


def pin(group: Group, cpus: Sequence[int]) -> None:
    """On v2 with the controller cpuset, older kernels give a process that joins a group all CPUs of the group."""
    path = Path(group.paths.get("unified", "/nowhere"), "cpuset.cpus")
    if cpus and path.exists():
        path.write_text(format_cpus(tuple(cpus)), encoding="utf-8")


def limit_memory(group: Group, size_bytes: float) -> None:
    """Memory without swap. Raises ProvisionError."""
    if group.version == "v1":
        _set_limit(Path(group.paths["memory"]), "memory.limit_in_bytes", int(size_bytes))
        _set_limit(Path(group.paths["memory"]), "memory.memsw.limit_in_bytes", int(size_bytes))
        return
    _set_limit(Path(group.paths["unified"]), "memory.max", int(size_bytes))
    _set_limit(Path(group.paths["unified"]), "memory.swap.max", 0)


# By quantity, of an amount in its unit. They may raise OSError.
LIMITS: Mapping[str, Callable[[Group, float], None]] = {CORES: limit_cores, MEMORY: limit_memory}


def _set_limit(group: Path, name: str, limit: int) -> None:
    """Raises OSError, and ProvisionError if the kernel keeps a larger one, or swap cannot be closed."""
    path, is_of_swap = group / name, "sw" in name
    if is_of_swap and not path.exists():
        if _has_swap():
            raise ProvisionError(
                f"a memory limit needs a limit of swap as well, and this kernel has no {name}",
                remedy="turn swap off (swapoff -a), or start the kernel with swapaccount=1",
            )
        return
    path.write_text(str(limit), encoding="utf-8")
    kept = path.read_text(encoding="utf-8").strip()
    if not kept.isdigit() or int(kept) > limit:
        raise ProvisionError(f"the kernel keeps {path} at {kept}, not at {limit}", remedy="use --runtime docker")


def _has_swap(swaps: Path = Path("/proc/swaps")) -> bool:
    return len(swaps.read_text(encoding="utf-8").splitlines()) > 1


@dataclass(frozen=True, kw_only=True)
class OutOfMemory:
    killed: int = 0
    at_limit: int = 0


def read_out_of_memory(paths: Mapping[str, str]) -> OutOfMemory:
    """paths: as in `Accounting.paths`. Zero where the group is gone."""
    if unified := paths.get("unified"):
        events = _text(unified, "memory.events")
        return OutOfMemory(killed=_count(events, "oom_kill"), at_limit=_count(events, "max"))
    group = paths.get("memory", "")
    # of two equal limits, the kernel counts at that of memory and swap together
    reached = [_text(group, name).strip() for name in ("memory.failcnt", "memory.memsw.failcnt")]
    return OutOfMemory(
        killed=_count(_text(group, "memory.oom_control"), "oom_kill"),
        at_limit=max(int(count) if count.isdigit() else 0 for count in reached),
    )


def out_of_memory_words(seen: OutOfMemory, memory_bytes: int | None, level: str = "") -> str:
    """ "" if the kernel killed nothing. level: like "2 cores"."""
    if not seen.killed:
        return ""
    some = "a process" if seen.killed == 1 else f"{seen.killed:,} processes"
    event = f"the kernel killed {some} of the server" + (f" at {level}" if level else "")
    if memory_bytes is None:
        return f"{event}: this machine had no memory left; stop other programs, or give the server less with --knob"
    often = f", which it reached {seen.at_limit:,} times" if seen.at_limit else ""
    return (
        f"{event}: it needed more than its memory limit of {format_bytes(memory_bytes)}{often}; "
        "raise --memory, or make the server's buffers smaller with --knob"
    )


def _text(group: str, name: str) -> str:
    try:
        return Path(group, name).read_text(encoding="ascii")
    except OSError:
        return ""


def _count(text: str, name: str) -> int:
    match = re.search(rf"^{name} (\d+)$", text, re.MULTILINE)
    return int(match.group(1)) if match else 0
