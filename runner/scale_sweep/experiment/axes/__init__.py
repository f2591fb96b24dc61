"""Axes: the quantities that a sweep varies from level to level."""

from __future__ import annotations

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import Registry
from scale_sweep.base.texts import not_one_of
from scale_sweep.experiment.axes.axis import Axis, AxisFacts

__all__ = ["AXES", "Axis", "AxisFacts", "all_axes", "axis_of", "load_axis"]

AXES = Registry(
    "scale_sweep.axes",
    {
        "cores": "scale_sweep.experiment.axes.cores:AXIS",
        "disks": "scale_sweep.experiment.axes.disks:AXIS",
        "clients": "scale_sweep.experiment.axes.clients:AXIS",
    },
)


def axis_of(name: str) -> Axis:
    if name not in AXES:
        raise UsageError(f"axis {not_one_of(name, AXES.names())}", remedy="install the package that has it")
    axis: Axis = AXES.load(name)
    return axis


def load_axis(name: str) -> AxisFacts:
    return axis_of(name).facts


def all_axes() -> tuple[Axis, ...]:
    return tuple(AXES.load(name) for name in AXES.names())
