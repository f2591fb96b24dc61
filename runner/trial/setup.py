"""What every trial of a run shares, put together once. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.loadgen.ceiling import CeilingKey
from runner.model import DataDisk, DiskCeiling, Sweep
from runner.runtimes import Runtime
from runner.targets import Target


@dataclass(frozen=True, kw_only=True)
class TrialSetup:
    """sweep: completed. home: the server as the runtime sees it; client_home: where this side finds its client
    library. ceilings: rows/s by threads and CPUs. disks: those of the sweep, in the order of the axis;
    in a sweep of cores the one that data_dir is on."""

    sweep: Sweep
    target: Target
    runtime: Runtime
    home: str
    client_home: str
    data_dir: str
    disks: tuple[DataDisk, ...]
    run_id: str
    program: str
    ceilings: Mapping[CeilingKey, float]
    disk_ceilings: tuple[DiskCeiling, ...] = ()
