"""Sets up what the trials of a run share on the server's machine, and how data is spread over disks."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError, ScaleError, TargetError
from scale_sweep.base.interrupts import Stop
from scale_sweep.base.units import counted
from scale_sweep.machine.host.block_devices import RamDirectory, data_disk, disk_of, memory_disk
from scale_sweep.machine.host.child_programs import HeldMemory
from scale_sweep.machine.state.places import make_ready
from scale_sweep.measure.trial.disks import check_placement
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import provision, reached_by
from scale_sweep.measure.trial.waiting import ANSWER_S, SCHEMA_S, ask, closed_at_last, last_words, wait_for, with_cause
from scale_sweep.model.planned import Finding, Plan, Trial
from scale_sweep.model.samples import CEILING_S, DataDisk, DiskCeiling
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.runtimes.data_dir import made_directory, mounted
from scale_sweep.server.targets import load_facts, load_target

BLOCK_BYTES = 64 * 2**10
Say = Callable[[str], None]
_ENOUGH = 0.95  # of what was wanted


@dataclass(frozen=True, kw_only=True)
class MachineSetup:
    plan: Plan
    run_id: str
    data_dir: str
    ram: RamDirectory | None = None  # the data directory, if it is in memory
    held_bytes: int = 0  # for a trial; 0: none is held
    cpus: tuple[int, ...] = ()  # that do the work of holding; empty: all


@dataclass(frozen=True, kw_only=True)
class PreparedDisks:
    """In the order of the axis, and as fio measured them."""

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
    """before_trial: holds memory again."""

    disks: PreparedDisks
    before_trial: Callable[[], None]


@contextlib.contextmanager
def machine_ready(setup: MachineSetup, say: Say) -> Iterator[MachineReady]:
    """A directory that the user named is made if it is missing, and then removed. Raises PreflightError or
    ProvisionError."""
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
    """Always removed afterwards. Raises PreflightError or ProvisionError."""
    sweep = plan.sweep
    if sweep.disks is None:
        yield _only_disk(plan, data_dir, say)
        return
    # not needed for cores
    from scale_sweep.machine.disks.limits import measure_ceilings, shares_bottleneck
    from scale_sweep.machine.disks.prepare import prepared

    count = max(trial.resources.disks for trial in plan.trials)
    say(f"making {counted(count, 'disk')} ready")
    with prepared(sweep.disks, count, run_id, data_dir) as disks:
        say("measuring the disks' own ceilings (fio: each alone, then all together)")
        ceilings = measure_ceilings(disks, CEILING_S, BLOCK_BYTES)
        shared = shares_bottleneck(ceilings)
        for one in ceilings:
            say(f"{' + '.join(one.disks)}: {one.write_mb_per_s:.1f} MB/s sequential writes")
        if shared is not None:
            say(f"{shared.sentence}: {shared.remedy}")
        yield PreparedDisks(disks=disks, ceilings=ceilings, shared=shared)


def _only_disk(plan: Plan, data_dir: Path, say: Say) -> PreparedDisks:
    from scale_sweep.machine.disks.limits import limit_of

    disk = disk_of(data_dir)
    only_disk = data_disk(disk) if disk else memory_disk(data_dir)
    writes = any(load_facts(trial.subject.target).has_files for trial in plan.trials)
    limit = limit_of(only_disk, data_dir, BLOCK_BYTES, time.time(), say) if only_disk and writes else None
    return PreparedDisks(disks=(only_disk,) if only_disk else (), ceilings=(limit,) if limit else ())


@contextlib.contextmanager
def memory_of_run(wanted_bytes: int, cpus: Sequence[int], say: Say) -> Iterator[Callable[[], None]]:
    """Yields what to call before each trial. wanted_bytes 0: nothing is held."""
    if not wanted_bytes:
        yield lambda: None
        return
    with HeldMemory(wanted_bytes, cpus or sorted(os.sched_getaffinity(0))) as held:

        def before_trial() -> None:
            if (bytes_held := held.take()) < _ENOUGH * wanted_bytes:
                say(f"only {bytes_held / 1e9:.1f} GB of memory are held: pages beyond that cost more CPU time")

        yield before_trial


def placement_of(
    plan: Plan, order: Callable[[Trial, str], TrialOrder], tried: Callable[[TrialOrder], tuple[bool, str]], say: Say
) -> tuple[str, str]:
    """The reason too. Tiers are tried once on the server. Raises PreflightError if the user asked for tiers in vain;
    Stopped."""
    requested = plan.sweep.disk_placement
    most: Trial = max(plan.trials, key=lambda t: t.resources.disks)
    if not most.resources.disks:
        return requested, ""
    facts = load_facts(most.subject.target)
    can = facts.disk_placements
    chosen, why = requested, f"{requested}, as configured"
    if requested == "stripe":
        why = "stripe, as configured: one RAID-0 array (md) over the disks of each level"
    if requested == "auto":
        chosen, why = can[-1], f"{can[-1]}: the only way of {facts.name}"
    if requested in ("auto", "tiers") and "tiers" in can and most.disks > 1:
        say("checking whether the server supports several data directories")
        honoured, seen = tried(order(most, "tiers"))
        if requested == "tiers" and not honoured:
            raise PreflightError(f"--disk-placement tiers: {seen}", remedy="--disk-placement spread")
        chosen = "tiers" if honoured else "spread"
        why = f"{chosen}: {seen}"
    say(f"disk placement {why}")
    return chosen, why


def supports_tiers(order: TrialOrder, stop: Stop) -> tuple[bool, str]:
    """Whether every disk got parts of a database, in words too. Leaves nothing. Raises Stopped."""
    try:
        with stop.here(), ExitStack() as cleanup:
            counts = _try(replace(order, disk_placement="tiers"), stop, cleanup)
    except ScaleError as error:
        return False, f"the server could not be asked whether it supports several data directories: {error.message}"
    observed = f"several data directories: they got {', '.join(map(str, counts))} parts of the database"
    if len(counts) == len(order.disks) and all(counts):
        return True, f"the server supports {observed}"
    return False, f"the server does not support {observed}"


def _try(order: TrialOrder, stop: Stop, cleanup: ExitStack) -> list[int]:
    subject = order.trial.subject
    target = load_target(subject.target)
    reached = reached_by(target, order.trial, provision(order, target, load_runtime(subject.runtime), "probe", cleanup))
    server, address, session = reached.server, reached.address, reached.session
    with closed_at_last(reached):
        try:
            wait_for(reached, session.not_ready, "the server was not ready", stop)
            ask(reached, session.create_schema, SCHEMA_S)
            wait_for(reached, session.schema_pending, "the schema was not ready", stop)
            placed = check_placement(ask(reached, session.parts, ANSWER_S), order.disks, address.disks)
        except TargetError as error:
            cause = with_cause(error, server, order)
            if cause is error:
                raise TargetError(f"{error.message}; the end of its log: {last_words(server)}") from error
            raise cause from error
    return [int(n) for n in placed.get("parts_per_disk", "").split(",") if n]
