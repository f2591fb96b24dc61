"""Which settings a sweep of an axis usually needs: those that its help shows without being asked for more. Pure."""

from __future__ import annotations

from scale_sweep.experiment.axes import Axis, all_axes
from scale_sweep.sweep.settings import SETTINGS


def usual_keys(swept: Axis | None) -> frozenset[str]:
    """Keys of the settings that are usual on an axis: all that say so, the levels, and those that the axis names. None:
    of a sweep whose axis is not known yet."""
    axes = all_axes()
    of_axes = {setting.key for axis in axes for setting in axis.settings}
    usual = {setting.key for setting in SETTINGS if setting.usual and setting.key not in of_axes}
    if swept is None:
        return frozenset(usual | {axis.key for axis in axes})
    own = {setting.key for setting in swept.settings if setting.usual}
    constant = {axis.key for axis in axes if axis.facts.is_constant_elsewhere}
    return frozenset(usual | own | constant | {swept.key, *swept.facts.usual_keys})
