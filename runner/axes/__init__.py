"""Axes: what a sweep varies from level to level. Each is one module that says everything about it as data.

`load_axis` is the door. A module outside this package asks an axis for its facts and never compares its name.
Refuses to look at the machine, to know a database, and to run anything.
"""

from __future__ import annotations

from runner.axes.facts import AxisFacts
from runner.errors import UsageError
from runner.registry import Registry

__all__ = ["AXES", "AxisFacts", "load_axis"]

AXES = Registry("scale.axes", {"cores": "runner.axes.cores:AXIS", "disks": "runner.axes.disks:AXIS"})


def load_axis(name: str) -> AxisFacts:
    """The axis of this name, as a sweep's `axis` has it. Raises UsageError that lists the known ones."""
    if name not in AXES:
        known = ", ".join(AXES.names())
        raise UsageError(f"axis {name!r} is not one of {known}", remedy="install the package that has it")
    return AXES.load(name)
