"""Sets up what the trials of a run share on the server's machine, and removes it at the end: the directory for data, on
a disk or in memory, the disks, and the memory that is held for the server."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.units import counted
from scale_sweep.machine.host import data_disk, disk_of, memory_disk
from scale_sweep.machine.host.block_devices import RamDirectory
from scale_sweep.machine.host.child_programs import HeldMemory
from scale_sweep.machine.state import make_ready
from scale_sweep.model import CEILING_S, DataDisk, DiskCeiling, Finding, Plan
from scale_sweep.server.runtimes.data_dir import made_directory, mounted
from scale_sweep.server.targets import load_facts

BLOCK_BYTES = 64 * 2**10
Say = Callable[[str], None]
_ENOUGH = 0.95  # of what was wanted


@dataclass(frozen=True, kw_only=True)
class MachineSetup:
    """The request of a run."""

    plan: Plan
    run_id: str
    data_dir: str
    ram: RamDirectory | None = None  # the data directory, if it is in memory
    held_bytes: int = 0  # the most memory that a trial may use; 0: none is held
    cpus: tuple[int, ...] = ()  # those that do the work of holding; empty: all


@dataclass(frozen=True, kw_only=True)
class PreparedDisks:
    """The disks of a run, in the order of the axis, and fio's measurements of them."""

    disks: tuple[DataDisk, ...]
    ceilings: tuple[DiskCeiling, ...] = ()
    shared: Finding | None = None

    def manifest(self) -> dict[str, Any]:
        return {
            "data_disks": [asdict(disk) for disk in self.disks],
            "disk_ceilings": [asdict(ceiling) for ceiling in self.ceilings],
            "disks_share_a_bottleneck": self.shared is not None,
        }


@dataclass(frozen=True, kw_only=True)
class MachineReady:
    """before_trial: to call before each trial; it holds memory again."""

    disks: PreparedDisks
    before_trial: Callable[[], None]


@contextlib.contextmanager
def machine_ready(setup: MachineSetup, say: Say) -> Iterator[MachineReady]:
    """Sets all of it up for the block. A directory that the user named is made if it is missing, and then removed.

    Raises PreflightError or ProvisionError.
    """
    data_dir, was_named = Path(setup.data_dir), bool(setup.plan.sweep.data_dir)
    with (
        mounted(setup.ram) if setup.ram else contextlib.nullcontext(),
        made_directory(data_dir) if was_named else contextlib.nullcontext(),
    ):
        make_ready(data_dir)
        with (
            disks_of_run(setup.plan, data_dir, setup.run_id, say) as disks,
            memory_of_run(setup.held_bytes, setup.cpus, say) as before_trial,
        ):
            yield MachineReady(disks=disks, before_trial=before_trial)


@contextlib.contextmanager
def disks_of_run(plan: Plan, data_dir: Path, run_id: str, say: Say) -> Iterator[PreparedDisks]:
    """Prepares the disks for the trials and always removes them afterwards. Raises PreflightError or ProvisionError."""
    sweep = plan.sweep
    if sweep.disks is None:
        yield _only_disk(plan, data_dir, say)
        return
    # a sweep of cores does not need it
    from scale_sweep.machine.disks import measure_ceilings, prepared, shares_bottleneck

    count = max(trial.resources.disks for trial in plan.trials)
    say(f"making {counted(count, 'disk')} ready")
    with prepared(sweep.disks, count, run_id, data_dir) as disks:
        say("measuring the disks' own ceilings (fio: each alone, then all together)")
        ceilings = measure_ceilings(disks, CEILING_S, BLOCK_BYTES)
        stage = PreparedDisks(disks=disks, ceilings=ceilings, shared=shares_bottleneck(ceilings))
        for sentence in ceiling_sentences(stage):
            say(sentence)
        yield stage


def _only_disk(plan: Plan, data_dir: Path, say: Say) -> PreparedDisks:
    from scale_sweep.machine.disks import limit_of

    disk = disk_of(data_dir)
    only_disk = data_disk(disk) if disk else memory_disk(data_dir)
    writes = any(load_facts(trial.subject.target).has_files for trial in plan.trials)
    limit = limit_of(only_disk, data_dir, BLOCK_BYTES, time.time(), say) if only_disk and writes else None
    return PreparedDisks(disks=(only_disk,) if only_disk else (), ceilings=(limit,) if limit else ())


def ceiling_sentences(stage: PreparedDisks) -> list[str]:
    sentences = [f"{' + '.join(c.disks)}: {c.write_mb_per_s:.1f} MB/s sequential writes" for c in stage.ceilings]
    if stage.shared is not None:
        sentences.append(f"{stage.shared.sentence}: {stage.shared.remedy}")
    return sentences


@contextlib.contextmanager
def memory_of_run(wanted_bytes: int, cpus: Sequence[int], say: Say) -> Iterator[Callable[[], None]]:
    """Yields a function to call before each trial. wanted_bytes: the most that a trial may use; 0: nothing is held.
    cpus: those that do the work of holding; empty: all that this process may use."""
    if not wanted_bytes:
        yield lambda: None
        return
    with HeldMemory(wanted_bytes, cpus or sorted(os.sched_getaffinity(0))) as held:

        def before_trial() -> None:
            if (bytes_held := held.take()) < _ENOUGH * wanted_bytes:
                say(f"only {bytes_held / 1e9:.1f} GB of memory are held: pages beyond that cost more CPU time")

        yield before_trial
