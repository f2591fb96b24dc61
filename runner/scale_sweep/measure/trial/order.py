"""One trial as a value: everything that it needs to run in another thread, process or host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import LOOPBACK, DataDisk, DiskCeiling, HostNetwork, Trial


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Rows that are loaded once for several trials."""

    name: str  # of its directory
    maker: Trial  # the trial on whose server they are loaded


@dataclass(frozen=True, kw_only=True)
class TrialOrder:
    """axis: by name. home: the server as its runtime sees it. client_home: where the load generator finds its client
    library.

    port: None means a free one. disks: those of this trial, in the order of the axis, striped if requested; if none
    were prepared, the one of data_dir. disk_placement: as decided. program: the load generator's. ceiling_rows_per_s:
    its own ceiling; None if it was not measured. sample_hz: samples for each second. network_bits_per_s: the speed of
    interfaces by name, if the kernel does not know it. data: the rows that are present before the load, if they are
    loaded once for several trials; the first trial that does not find them loads them. address: of the server's
    machine, on which the load reaches it. networks: of the hosts, if the load is made elsewhere.
    """

    run_id: str
    trial: Trial
    axis: str
    data_dir: str
    home: str
    client_home: str
    port: int | None
    disks: tuple[DataDisk, ...]
    disk_placement: str
    wal_disk: str
    disk_free_min_bytes: int
    sample_hz: float
    program: str
    ceiling_rows_per_s: float | None = None
    disk_ceilings: tuple[DiskCeiling, ...] = ()
    network_bits_per_s: Mapping[str, float] = field(default_factory=dict)
    data: DataSet | None = None
    address: str = LOOPBACK
    networks: tuple[HostNetwork, ...] = ()

    @property
    def is_on_disks(self) -> bool:
        """Whether disks were prepared for the data, so that syncing them counts and the data's place is checked."""
        return self.trial.resources.disks > 0

    @property
    def level_words(self) -> str:
        """The level for a message: "2 cores"."""
        return load_axis(self.axis).count(format_number(self.trial.level))
