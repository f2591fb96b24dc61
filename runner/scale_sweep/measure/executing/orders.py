"""Makes the order of each trial: a value that can be executed anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.measure.executing.ceilings import Ceilings
from scale_sweep.measure.executing.run_setup import PreparedDisks
from scale_sweep.measure.trial.order import DataSet, TrialOrder
from scale_sweep.model import DataDisk, Plan, Trial


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The plan to run, and the places of its files. Each trial's subject has its target, runtime and installation.

    client_homes: where the load generator finds the client library, by `Subject.server`. held_bytes: of memory that is
    held for the server.
    """

    plan: Plan
    data_dir: Path
    client_homes: Mapping[tuple[str, ...], str]
    held_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Orders:
    """The values that all orders of one run share. ceilings: of the load generator. data: the rows that a trial shares
    with others."""

    execution: Execution
    run_id: str
    program: str
    stage: PreparedDisks
    ceilings: Ceilings
    data: Callable[[Trial], DataSet | None] = lambda trial: None

    def order(self, trial: Trial, disk_placement: str) -> TrialOrder:
        """The order of a trial. Its disks are striped if the placement asks for that.

        Raises ProvisionError if the array cannot be made: every later trial would need it too.
        """
        sweep = self.execution.plan.sweep
        return TrialOrder(
            run_id=self.run_id,
            trial=trial,
            axis=sweep.axis,
            data_dir=str(self.execution.data_dir),
            home=trial.subject.home,
            client_home=self.execution.client_homes[trial.subject.server],
            port=sweep.port,
            disks=self._disks(trial, disk_placement),
            disk_placement=disk_placement,
            wal_disk=sweep.wal_disk,
            disk_free_min_bytes=sweep.disk_free_min_bytes,
            sample_hz=sweep.sample_hz,
            network_bits_per_s=sweep.network_bits_per_s,
            data=self.data(trial),
            program=self.program,
            ceiling_rows_per_s=self.ceilings.of(trial),
            disk_ceilings=self.stage.ceilings,
        )

    def _disks(self, trial: Trial, disk_placement: str) -> tuple[DataDisk, ...]:
        """The first disks, as many as the trial has; without prepared disks the one that holds the data directory.

        An array stays from one trial to the next if the number of disks is the same.
        """
        if not trial.resources.disks:
            return self.stage.disks
        disks = self.stage.disks[: trial.resources.disks]
        if disk_placement != "stripe":
            return disks
        from scale_sweep.machine.disks import restripe  # a sweep without disks does not need it

        return restripe(self.run_id, disks)
