"""Disks for a sweep: directories, block devices, or capped loop devices."""

from scale_sweep.machine.disks.limits import limit_of, measure_ceilings, shares_bottleneck
from scale_sweep.machine.disks.prepare import (
    check_stripe,
    create,
    leftover_sets,
    prepared,
    remove_disks,
    remove_sets,
    restripe,
)
from scale_sweep.machine.disks.sets import DiskSet, list_disks, state_of
from scale_sweep.machine.disks.source import check_source, too_small

__all__ = [
    "DiskSet",
    "check_source",
    "check_stripe",
    "create",
    "leftover_sets",
    "limit_of",
    "list_disks",
    "measure_ceilings",
    "prepared",
    "remove_disks",
    "remove_sets",
    "restripe",
    "shares_bottleneck",
    "state_of",
    "too_small",
]
