"""The default heap of servers that run in Java: one rule for all of them, so that compared databases have equal
heaps."""

from __future__ import annotations

import math

from scale_sweep.model import ResourceRange

_BASE = _PER_CORE = 2**29
_SHARE = 4  # the heap is at most one in so many bytes of the memory
_LEAST = 2**28  # with less, not all of them start
_STEP = 2**26  # the JVM rounds a heap to its regions, and reports the rounded size
_GB, _MB = 2**30, 2**20


def heap(resources: ResourceRange) -> str:
    """The heap for the most cores and the least memory of a sweep, as the JVM reports it: "960m", "1g"."""
    wanted = _BASE + _PER_CORE * max(1, math.ceil(max(resources.cores)))
    most = resources.memory_bytes // _SHARE if resources.memory_bytes is not None else wanted
    size = max(_LEAST, min(wanted, most) // _STEP * _STEP)
    return f"{size // _GB}g" if size % _GB == 0 else f"{size // _MB}m"
