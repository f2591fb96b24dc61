"""Knobs with a role, and the rule by which targets choose how many connections and parts they have."""

from __future__ import annotations

import math

from scale_sweep.base.units import common_multiple
from scale_sweep.model import KnobRole, ResourceRange
from scale_sweep.server.targets.target_facts import Default, Knob

_PARTS_MIN = 12  # on prepared disks


def twice_the_cores(resources: ResourceRange, least: int = 4) -> str:
    """Twice the most cores of a sweep, at least so many: a connection waits for its answers half of its time."""
    return str(max(least, 2 * math.ceil(max(resources.cores))))


def parts_on_disks(resources: ResourceRange) -> int:
    """As many parts as every number of prepared disks divides, at least 12, so that each disk gets as many."""
    return common_multiple(resources.disks, _PARTS_MIN)


def connections_knob(default: Default | str = twice_the_cores) -> Knob:
    """The number of the load's connections, which has the same name in all targets."""
    return Knob(name="connections", role=KnobRole.CONNECTIONS, kind="count", column="connections", default=default)


def partitions_knob(default: Default | str, meaning: str, name: str = "partitions") -> Knob:
    """The number of parts into which the data is split. name: the database's own; it is also the column's.

    meaning: for the help of `--partitions`.
    """
    return Knob(name=name, role=KnobRole.PARTITIONS, kind="count", column=name, default=default, help=meaning)


def commit_threads_knob(name: str, *, label: str, meaning: str) -> Knob:
    """The number of the server's threads that write data files, by the database's own name for it. It has no column
    and no default: the server then chooses by its processors. meaning: for the help of `--commit-threads`."""
    return Knob(name=name, role=KnobRole.COMMIT_THREADS, kind="count", label=label, help=meaning)
