"""Processes of a server that the kernel killed because it found no memory for them, as their control group counts
them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.units import format_bytes


@dataclass(frozen=True, kw_only=True)
class OutOfMemory:
    """killed: the processes that were killed. at_limit: how often the group reached its limit; 0 if not known."""

    killed: int = 0
    at_limit: int = 0


def read_out_of_memory(paths: Mapping[str, str]) -> OutOfMemory:
    """The counts of a group, by its directories as in `Accounting.paths`; zero where the group is gone."""
    if unified := paths.get("unified"):
        events = _text(unified, "memory.events")
        return OutOfMemory(killed=_count(events, "oom_kill"), at_limit=_count(events, "max"))
    group = paths.get("memory", "")
    # Of two equal limits, the kernel counts at the one of memory and swap together.
    reached = [_text(group, name).strip() for name in ("memory.failcnt", "memory.memsw.failcnt")]
    return OutOfMemory(
        killed=_count(_text(group, "memory.oom_control"), "oom_kill"),
        at_limit=max(int(count) if count.isdigit() else 0 for count in reached),
    )


def out_of_memory_words(seen: OutOfMemory, memory_bytes: int | None, level: str = "") -> str:
    """A sentence on what the kernel killed, why, and what to do; "" if it killed nothing. level: like "2 cores"."""
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
