"""Which levels of a sweep a host has. The axes themselves say which it lacks."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import all_axes
from scale_sweep.machine.host import Host
from scale_sweep.model import Sweep
from scale_sweep.plan.resources import amounts_by_level, with_constants


def without_missing(sweep: Sweep, host: Host) -> Sweep:
    """The sweep with the levels that the host has. Raises UsageError of the axis if it has none."""
    levels = tuple(level for level in sweep.levels if _has(sweep, level, host))
    if not levels:
        _check(sweep, sweep.levels[0], host)
    return replace(sweep, levels=levels)


def _has(sweep: Sweep, level: float, host: Host) -> bool:
    try:
        _check(sweep, level, host)
    except UsageError:
        return False
    return True


def _check(sweep: Sweep, level: float, host: Host) -> None:
    alone = with_constants(replace(sweep, levels=(level,)), host)
    for axis in all_axes():
        axis.check(alone, host, list(amounts_by_level(alone).values()))
