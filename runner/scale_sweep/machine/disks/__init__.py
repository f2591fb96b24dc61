"""Disks for a sweep: directories, block devices, or capped loop devices."""

from scale_sweep.machine.disks.ceilings import measure_ceilings, shares_bottleneck
from scale_sweep.machine.disks.kept_limit import limit_of
from scale_sweep.machine.disks.prepare import create, prepared
from scale_sweep.machine.disks.removal import leftover_sets, remove_disks, remove_sets
from scale_sweep.machine.disks.sets import DiskSet, list_disks, state_of
from scale_sweep.machine.disks.source import check_source, too_small
from scale_sweep.machine.disks.stripe import check_stripe, restripe

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
