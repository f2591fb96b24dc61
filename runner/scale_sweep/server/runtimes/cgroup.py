"""Control groups for a server that runs as a process: CPU time (also of exited children), quota, memory limit.

Groups are made only if this user may make them. A requested limit that cannot be set is an error; the server never runs
without it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.machine.host.facts import cgroup_version
from scale_sweep.model import Accounting

PERIOD_US = 100_000
_BASE = Path("/sys/fs/cgroup")


@dataclass(frozen=True, kw_only=True)
class Group:
    """One control group: its directory in each hierarchy, by controller ("unified" on v2)."""

    version: str
    paths: dict[str, str]

    @property
    def procs_files(self) -> tuple[str, ...]:
        """The files to which a process writes its PID to become a member."""
        return tuple(dict.fromkeys(f"{path}/cgroup.procs" for path in self.paths.values()))

    def accounting(self) -> Accounting:
        """Where the sampler reads its CPU time and memory."""
        return Accounting(kind="cgroup1" if self.version == "v1" else "cgroup2", paths=self.paths)

    def pids(self) -> tuple[int, ...]:
        """Its members."""
        try:
            return tuple(int(line) for line in Path(self.procs_files[0]).read_text().split())
        except OSError:
            return ()

    def remove(self) -> None:
        """Removes the directories. The kernel needs a moment after the last member ended."""
        for path in set(self.paths.values()):
            for _ in range(50):
                try:
                    os.rmdir(path)
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.05)
                else:
                    break


def make_group(name: str, quota_cores: float | None, memory_bytes: int | None) -> Group | None:
    """A group with its limits; None if groups are not permitted and no limit was requested.

    Raises ProvisionError if a requested limit cannot be set.
    """
    version = cgroup_version()
    try:
        group = _make_v1(name) if version == "v1" else _make_v2(name) if version == "v2" else None
        if group is not None:
            try:
                _limit(group, quota_cores, memory_bytes)
            except (OSError, ProvisionError):
                group.remove()
                raise
            return group
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
    else:
        reason = "no cgroup is mounted"
    if quota_cores is not None or memory_bytes is not None:
        raise ProvisionError(
            f"a part of a core or a memory limit needs a control group, and none can be made ({reason})",
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
    there, enabled = ((_BASE / f"cgroup.{file}").read_text().split() for file in ("controllers", "subtree_control"))
    missing = [f"+{c}" for c in ("cpu", "memory") if c in there and c not in enabled]
    if missing:
        (_BASE / "cgroup.subtree_control").write_text(" ".join(missing))
    path.mkdir(exist_ok=True)
    keep_disk_limits(_BASE, path)
    return Group(version="v2", paths={"unified": str(path)})


def keep_disk_limits(base: Path, path: Path, own: Path = Path("/proc/self/cgroup")) -> None:
    """On v2, copies the disk limits of the group that the server leaves to its new group: limits are set in groups
    below the root."""
    mine = next((line[3:] for line in own.read_text().splitlines() if line.startswith("0::")), "/").strip("/")
    limits = base / mine.partition("/")[0] / "io.max"
    if mine and limits.exists() and (path / "io.max").exists():
        for line in limits.read_text().splitlines():
            (path / "io.max").write_text(line)


def _limit(group: Group, quota_cores: float | None, memory_bytes: int | None) -> None:
    quota_us = round(quota_cores * PERIOD_US) if quota_cores is not None else None
    if group.version == "v1":
        if quota_us is not None:
            Path(group.paths["cpu"], "cpu.cfs_period_us").write_text(str(PERIOD_US))
            Path(group.paths["cpu"], "cpu.cfs_quota_us").write_text(str(quota_us))
        if memory_bytes is not None:
            _limit_memory(Path(group.paths["memory"]), "memory.limit_in_bytes", memory_bytes)
            _limit_memory(Path(group.paths["memory"]), "memory.memsw.limit_in_bytes", memory_bytes)
        return
    if quota_us is not None:
        Path(group.paths["unified"], "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
    if memory_bytes is not None:
        _limit_memory(Path(group.paths["unified"]), "memory.max", memory_bytes)
        _limit_memory(Path(group.paths["unified"]), "memory.swap.max", 0)


def _limit_memory(group: Path, name: str, limit: int) -> None:
    """Sets a limit and reads it back. Without a file for swap, swap is closed where the machine has none.

    Raises OSError, and ProvisionError if the kernel keeps a larger limit, or swap cannot be closed.
    """
    path, is_of_swap = group / name, "sw" in name
    if is_of_swap and not path.exists():
        if _has_swap():
            raise ProvisionError(
                f"a memory limit needs a limit of swap as well, and this kernel has no {name}",
                remedy="turn swap off (swapoff -a), or start the kernel with swapaccount=1",
            )
        return
    path.write_text(str(limit))
    kept = path.read_text().strip()
    if not kept.isdigit() or int(kept) > limit:
        raise ProvisionError(f"the kernel keeps {path} at {kept}, not at {limit}", remedy="use --runtime docker")


def _has_swap(swaps: Path = Path("/proc/swaps")) -> bool:
    return len(swaps.read_text().splitlines()) > 1
