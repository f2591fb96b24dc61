"""The disks of a run: prepared, measured, assigned to data, and removed at the end.

A sweep of cores has one disk, the one that holds the data directory. Nothing is made or measured then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import PreflightError
from scale_sweep.base.interrupts import Stop
from scale_sweep.machine.host import data_disk, disk_of, memory_disk
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.probe import supports_tiers
from scale_sweep.model import CEILING_S, DataDisk, DiskCeiling, Finding, Plan, Trial
from scale_sweep.server.targets import load_facts

BLOCK_BYTES = 64 * 2**10
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class PreparedDisks:
    """The disks of a run, in the order of the axis, and fio's measurements of them."""

    disks: tuple[DataDisk, ...]
    ceilings: tuple[DiskCeiling, ...] = ()
    shared: Finding | None = None

    def manifest(self) -> dict[str, Any]:
        """The disks' part of the manifest."""
        return {
            "data_disks": [asdict(disk) for disk in self.disks],
            "disk_ceilings": [asdict(ceiling) for ceiling in self.ceilings],
            "disks_share_a_bottleneck": self.shared is not None,
        }


@contextlib.contextmanager
def disks_of_run(plan: Plan, data_dir: Path, run_id: str, say: Say) -> Iterator[PreparedDisks]:
    """Prepares the disks for the trials and always removes them afterwards. Raises PreflightError or ProvisionError."""
    sweep = plan.sweep
    if sweep.disks is None:
        disk = disk_of(data_dir)
        found = data_disk(disk) if disk else memory_disk(data_dir)
        yield PreparedDisks(disks=(found,) if found else ())
        return
    # a sweep of cores does not need it
    from scale_sweep.machine.disks import measure_ceilings, prepared, shares_bottleneck

    count = max(trial.resources.disks for trial in plan.trials)
    say(f"making {count} disks ready")
    with prepared(sweep.disks, count, run_id, data_dir) as disks:
        say("measuring the disks' own ceilings (fio: each alone, then all together)")
        ceilings = measure_ceilings(disks, CEILING_S, BLOCK_BYTES)
        stage = PreparedDisks(disks=disks, ceilings=ceilings, shared=shares_bottleneck(ceilings))
        for sentence in ceiling_sentences(stage):
            say(sentence)
        yield stage


def ceiling_sentences(stage: PreparedDisks) -> list[str]:
    """fio's results in sentences, with a warning if the disks share a bottleneck."""
    said = [f"{' + '.join(c.disks)}: {c.write_mb_per_s:.1f} MB/s sequential writes" for c in stage.ceilings]
    if stage.shared is not None:
        said.append(f"{stage.shared.sentence}: {stage.shared.remedy}")
    return said


def placement_of(plan: Plan, order: Callable[[Trial, str], TrialOrder], stop: Stop, say: Say) -> tuple[str, str]:
    """How the data is spread over the disks, and why. Tiers are tried once on the server itself.

    order: makes the order of a trial with a placement. Raises PreflightError if the user asked for tiers and the server
    does not support them; Stopped.
    """
    asked = plan.sweep.disk_placement
    most: Trial = max(plan.trials, key=lambda t: t.resources.disks)
    if not most.resources.disks:
        return asked, ""
    facts = load_facts(most.subject.target)
    can = facts.disk_placements
    chosen, why = asked, f"{asked}, as asked"
    if asked == "stripe":
        why = "stripe, as asked: one RAID-0 array (md) over the disks of each level"
    if asked == "auto":
        chosen, why = can[-1], f"{can[-1]}: the only way of {facts.name}"
    if asked in ("auto", "tiers") and "tiers" in can and most.disks > 1:
        say("checking whether the server supports several data directories")
        honoured, seen = supports_tiers(order(most, "tiers"), stop)
        if asked == "tiers" and not honoured:
            raise PreflightError(f"--disk-placement tiers: {seen}", remedy="--disk-placement spread")
        chosen = "tiers" if honoured else "spread"
        why = f"{chosen}: {seen}"
    say(f"disk placement {why}")
    return chosen, why
