"""The disks' part of putting a run together: made ready, measured, given to the trials, and undone at the end.

In a sweep of cores there is one disk, the one that the data happen to be on, and nothing is made or measured.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from runner.errors import PreflightError
from runner.host import data_disk, disk_of
from runner.model import DataDisk, DiskCeiling, Event, Finding, Plan, Trial
from runner.axes.disks import CEILING_S
from runner.trial.probe import honours_tiers
from runner.trial.run import run_trial
from runner.trial.setup import TrialSetup

BLOCK_BYTES = 64 * 2**10
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The disks of a run, in the order of the axis, and what fio measured on them."""

    disks: tuple[DataDisk, ...]
    ceilings: tuple[DiskCeiling, ...] = ()
    shared: Finding | None = None

    def manifest(self) -> dict[str, Any]:
        """What the manifest keeps."""
        return {
            "data_disks": [asdict(disk) for disk in self.disks],
            "disk_ceilings": [asdict(ceiling) for ceiling in self.ceilings],
            "disks_share_a_bottleneck": self.shared is not None,
        }


@contextlib.contextmanager
def stage_of(plan: Plan, data_dir: Path, run_id: str, say: Say) -> Iterator[Stage]:
    """Disks ready for the trials, gone afterwards whatever happens. Raises PreflightError or ProvisionError."""
    sweep = plan.sweep
    if sweep.disks is None:
        disk = disk_of(data_dir)
        yield Stage(disks=(data_disk(disk),) if disk else ())
        return
    from runner.disks import measure_ceilings, prepared, shares_bottleneck  # a sweep of cores does without

    count = max(trial.disks for trial in plan.trials)
    say(f"making {count} disks ready")
    with prepared(sweep.disks, count, run_id, data_dir) as disks:
        say("measuring the disks' own ceilings (fio: each alone, then all together)")
        ceilings = measure_ceilings(disks, CEILING_S, BLOCK_BYTES)
        stage = Stage(disks=disks, ceilings=ceilings, shared=shares_bottleneck(ceilings))
        for sentence in ceiling_sentences(stage):
            say(sentence)
        yield stage


def ceiling_sentences(stage: Stage) -> list[str]:
    """What fio measured, and a warning when the disks share a bottleneck."""
    said = [f"{' + '.join(c.disks)}: {c.write_mb_per_s:.1f} MB/s sequential writes" for c in stage.ceilings]
    if stage.shared is not None:
        said.append(f"{stage.shared.sentence}: {stage.shared.remedy}")
    return said


def with_placement(setup: TrialSetup, plan: Plan, say: Say) -> tuple[TrialSetup, str]:
    """The setup with its placement decided, and why. Tiers are tried on the server itself, once.

    Raises PreflightError when tiers were asked for by name and the server does not honour them.
    """
    sweep = setup.sweep
    if sweep.disks is None:
        return setup, ""
    asked, can = sweep.disk_placement, setup.target.facts.disk_placements
    chosen, why = asked, f"{asked}, as asked"
    if asked == "stripe":
        why = "stripe, as asked: one RAID-0 array (md) over the disks of each level"
    if asked == "auto":
        chosen, why = can[-1], f"{can[-1]}: the only way of {setup.target.facts.name}"
    most: Trial = max(plan.trials, key=lambda t: t.disks)
    if asked in ("auto", "tiers") and "tiers" in can and most.disks > 1:
        say("trying whether the server honours several data directories")
        honoured, seen = honours_tiers(setup, most)
        if asked == "tiers" and not honoured:
            raise PreflightError(f"--disk-placement tiers: {seen}", remedy="--disk-placement spread")
        chosen = "tiers" if honoured else "spread"
        why = f"{chosen}: {seen}"
    say(f"disk placement {why}")
    return replace(setup, sweep=replace(sweep, disk_placement=chosen)), why


def trials_on(setup: TrialSetup) -> Callable[[Trial], Iterator[Event]]:
    """How a trial is run: as it is, or on an array that is first made over the disks of its level.

    The array is kept from one trial to the next while the number of disks is the same. What is called raises
    ProvisionError when the array cannot be made: no later trial could do without it.
    """
    if setup.sweep.disks is None or setup.sweep.disk_placement != "stripe":
        return partial(run_trial, setup)
    from runner.disks import restripe

    return lambda trial: run_trial(replace(setup, disks=restripe(setup.run_id, setup.disks[: trial.disks])), trial)
