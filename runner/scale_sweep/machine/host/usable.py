"""The part of the machine that this process may use: CPU time by the quotas of its control groups, memory by limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path


def cpu_quota(root: Path = Path("/")) -> float | None:
    """The CPUs that this process may keep busy at once; None without a quota."""
    quotas = []
    for group in _groups(root, "cpu"):
        v1 = f"{text_of(group / 'cpu.cfs_quota_us')} {text_of(group / 'cpu.cfs_period_us')}"
        both = (text_of(group / "cpu.max") or v1).split()
        if len(both) == 2 and all(text.isdigit() for text in both):
            quotas.append(int(both[0]) / int(both[1]))
    return min(quotas, default=None)


def memory_bytes(root: Path = Path("/")) -> int:
    """The memory that this process may use; 0 if the kernel does not say."""
    return min([kernel_bytes("MemTotal", root / "proc") or 0, *(limit for limit, _ in _memory_groups(root))])


def memory_left_bytes(root: Path = Path("/")) -> int:
    """The memory that it can take without pushing anything out; 0 if the kernel does not say."""
    left = (max(0, limit - used) for limit, used in _memory_groups(root))
    return min([kernel_bytes("MemAvailable", root / "proc") or 0, *left])


def kernel_bytes(name: str, proc: Path = Path("/proc")) -> int | None:
    """A figure of /proc/meminfo, of the whole machine."""
    match = re.search(rf"^{name}:\s+(\d+) kB", text_of(proc / "meminfo"), re.MULTILINE)
    return int(match.group(1)) * 1024 if match else None


def text_of(path: Path) -> str:
    """The text of a file; "" if it cannot be read."""
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


def _groups(root: Path, controller: str) -> Iterator[Path]:
    for line in text_of(root / "proc/self/cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / (controller if controllers else "")
        own = base / name.lstrip("/")
        yield from (group for group in (own, *own.parents) if group.is_relative_to(base))
