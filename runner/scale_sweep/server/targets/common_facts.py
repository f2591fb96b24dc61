"""Shared facts: knobs with a role, the default heap, what images need."""

from __future__ import annotations

import math

from scale_sweep.base.units import common_multiple
from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.resources import ResourceRange
from scale_sweep.server.targets.target_facts import Default, Knob

_PARTS_MIN = 12  # on prepared disks


def twice_the_cores(resources: ResourceRange, least: int = 4) -> str:
    """The sweep's most: a connection waits for answers half of its time."""
    return str(max(least, 2 * math.ceil(max(resources.cores))))


def parts_on_disks(resources: ResourceRange) -> int:
    """Every number of prepared disks divides it, so that each disk gets as many."""
    return common_multiple(resources.disks, _PARTS_MIN)


def connections_knob(default: Default | str | None = twice_the_cores) -> Knob:
    return Knob(name="connections", role=KnobRole.CONNECTIONS, kind="count", column="connections", default=default)


def partitions_knob(default: Default | str, meaning: str, name: str = "partitions") -> Knob:
    """name: the database's own, and that of the column. meaning: for the help of `--partitions`."""
    return Knob(name=name, role=KnobRole.PARTITIONS, kind="count", column=name, default=default, help=meaning)


def commit_threads_knob(name: str, *, label: str, meaning: str) -> Knob:
    """Threads that write data files; by default the server chooses. meaning: for the help of `--commit-threads`."""
    return Knob(name=name, role=KnobRole.COMMIT_THREADS, kind="count", label=label, help=meaning)


_BASE = _PER_CORE = 2**29
_SHARE = 4  # a heap is at most one in so many bytes of the memory
_LEAST = 2**28  # with less, not all of them start
_STEP = 2**26  # the JVM rounds to its regions
_GB, _MB = 2**30, 2**20


def heap(resources: ResourceRange) -> str:
    """For the most cores and the least memory of a sweep, as the JVM reports it: "960m", "1g"."""
    wanted = _BASE + _PER_CORE * max(1, math.ceil(max(resources.cores)))
    most = resources.memory_bytes // _SHARE if resources.memory_bytes is not None else wanted
    size = max(_LEAST, min(wanted, most) // _STEP * _STEP)
    return f"{size // _GB}g" if size % _GB == 0 else f"{size // _MB}m"


NATIVE = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libm.so.6", "libgcc_s.so.1")
SHELL_TOOLS = ("setpriv", "sleep", "rm")  # of `java.in_turn`
