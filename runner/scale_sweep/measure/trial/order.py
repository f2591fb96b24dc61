"""One trial as a value: everything that it needs to run in another thread, process or host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import LOOPBACK
from scale_sweep.model.samples import DataDisk, DiskCeiling, HostNetwork


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Loaded once for several trials."""

    name: str  # of its directory
    maker: Trial  # on whose server they are loaded


@dataclass(frozen=True, kw_only=True)
class TrialOrder:
    run_id: str
    trial: Trial
    axis: str  # by name
    data_dir: str
    home: str  # as the runtime sees the server
    client_home: str  # of the load generator's client library
    port: int | None  # None: a free one
    disks: tuple[DataDisk, ...]  # this trial's, striped if requested; else that of data_dir
    disk_placement: str
    wal_disk: str
    disk_free_min_bytes: int
    sample_hz: float
    program: str  # the load generator
    ceiling_rows_per_s: float | None = None
    disk_ceilings: tuple[DiskCeiling, ...] = ()
    network_bits_per_s: Mapping[str, float] = field(default_factory=dict)  # where the kernel does not know it
    data: DataSet | None = None  # loaded by the first trial that does not find them
    address: str = LOOPBACK  # of the server's machine, for the load
    networks: tuple[HostNetwork, ...] = ()  # of hosts that make the load
    wait_quiet_s: float = 0.0  # at most, before the trial, until other programs are quiet

    @property
    def is_on_disks(self) -> bool:
        """Disks were prepared, so syncing them counts, and the data's place is checked."""
        return self.trial.resources.disks > 0

    @property
    def level_words(self) -> str:
        """ "2 cores"."""
        return load_axis(self.axis).count(format_number(self.trial.level))
