"""Hardware counters of the server's CPUs by perf_event_open(2): cycles, instructions, last-level cache misses."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.machine.host.host_facts import text_of

_CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241}  # the number of the system call, from each asm/unistd.h
_HARDWARE, _RAW = 0, 4  # PERF_TYPE_HARDWARE, PERF_TYPE_RAW
_CYCLES, _INSTRUCTIONS, _MISSES = (_HARDWARE, 0), (_HARDWARE, 1), (_HARDWARE, 3)  # PERF_COUNT_HW_* in perf_event.h
# On AMD's processors the kernel's "cache misses" are those of the second level. Zen 3 and later count what the cores
# got from memory into their first level, requested or prefetched: event 0x44, units 0x08 (own node) and 0x40 (another).
_AMD_MISSES = (_RAW, 0x4844)
_AMD_FAMILY = 0x19
_ATTRIBUTES = struct.Struct("=IIQQQQQ16x")  # type, size, config, period, sample type, read format, flags; version 0
_TIMES = 1 | 2  # the time that the event was requested, and the time that it had a counter
_CLOSE_ON_EXEC = 8


class CpuCounters:
    """Counts until `close`, over all CPUs. wanted: type and number of each event; None: this machine's."""

    def __init__(self, cpus: Sequence[int], wanted: Mapping[str, tuple[int, int]] | None = None) -> None:
        self._files: dict[str, list[int]] = {}
        try:
            for name, event in (events() if wanted is None else wanted).items():
                for cpu in cpus:
                    self._files.setdefault(name, []).append(_opened(event, cpu))
        except OSError:
            self.close()

    def read(self) -> Mapping[str, float]:
        """The counts so far; empty if not available."""
        try:
            return {name: sum(map(_count, files)) for name, files in self._files.items()}
        except OSError:
            return {}

    def close(self) -> None:
        files = [file for opened in self._files.values() for file in opened]
        self._files = {}
        for file in files:
            with contextlib.suppress(OSError):
                os.close(file)

    def __enter__(self) -> CpuCounters:
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        self.close()


def events(proc: Path = Path("/proc")) -> Mapping[str, tuple[int, int]]:
    """Type and number of each event on this machine's processors, by name."""
    about = text_of(proc / "cpuinfo")
    family = re.search(r"^vendor_id\s*: AuthenticAMD\ncpu family\s*: (\d+)$", about, re.MULTILINE)
    misses = _AMD_MISSES if family and int(family.group(1)) >= _AMD_FAMILY else _MISSES
    return {"cycles": _CYCLES, "instructions": _INSTRUCTIONS, "llc_misses": misses}


def _opened(event: tuple[int, int], cpu: int) -> int:
    """The file of one event on one CPU, for all programs on it. Raises OSError."""
    kind, config = event
    attributes = _ATTRIBUTES.pack(kind, _ATTRIBUTES.size, config, 0, 0, _TIMES, 0)
    number = _CALL.get(os.uname().machine)
    if number is None:
        raise OSError("the number of perf_event_open is not known on this machine")
    library = ctypes.CDLL(None, use_errno=True)
    any_process, no_group = -1, -1
    file = library.syscall(number, attributes, any_process, cpu, no_group, ctypes.c_ulong(_CLOSE_ON_EXEC))
    if file < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")
    return int(file)


def _count(file: int) -> float:
    count, wanted, counted = struct.unpack("=QQQ", os.read(file, 24))
    return count * wanted / counted if counted else 0.0
