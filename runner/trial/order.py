"""One trial as a value: everything that it needs where it runs, be that another thread, process or host.

Targets and runtimes stand in it by name. Refuses to hold an open file, a connection or a module: it can be pickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.model import DataDisk, DiskCeiling, Trial


@dataclass(frozen=True, kw_only=True)
class TrialOrder:
    """axis: by name. home: the server as its runtime sees it; client_home: where the load finds its client library.

    port None: a free one. disks: those that this trial is given, in the order of the axis, striped where they are to
    be; where none were prepared the one that data_dir is on. disk_placement: as decided. program: of the load
    generator; ceiling_rows_per_s: its own, None where it was not measured. sample_hz: samples a second.
    network_bits_per_s: what interfaces can take, by name, where the kernel does not say it.
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

    @property
    def is_on_disks(self) -> bool:
        """Whether disks were prepared for the data, so that syncing them counts and their place is proved."""
        return self.trial.resources.disks > 0
