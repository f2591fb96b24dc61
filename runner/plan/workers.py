"""Loads that the load generator cannot do, found in the planned trials. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from runner.axes import load_axis
from runner.errors import UsageError
from runner.model import KnobColumn, KnobRole, Sweep, Trial
from runner.plan.knobs import granted_knobs

WORKERS_MAX = 4096  # of the load generator
PARTITIONS_MAX = 65536  # likewise


def refuse_impossible(sweep: Sweep, trials: Sequence[Trial], declared: Sequence[KnobColumn]) -> None:
    """Raises UsageError for more workers than the load generator has, or than there are tables, and for too many
    partitions. The message names the flag that sets them."""
    writers, partitions = (_flag(sweep, declared, role) for role in (KnobRole.WRITERS, KnobRole.PARTITIONS))
    for trial in _largest_first(trials):
        workers, tables = trial.work.connections(trial.load.connections), trial.work.data.tables
        if workers > WORKERS_MAX:
            raise UsageError(f"{writers}: {workers:,} workers; the load generator has {WORKERS_MAX:,} at most")
        if trial.load.partitions > PARTITIONS_MAX:
            raise UsageError(f"{partitions}: {trial.load.partitions:,} partitions; {PARTITIONS_MAX:,} at most")
        most = max(_workers_of_groups(trial))
        if trial.load.is_ours and most > tables:
            raise UsageError(
                f"{writers}: {most:,} workers cannot share {tables:,} tables: each table belongs to one worker",
                remedy=f"give --tables {most} or more, or fewer workers",
            )


def _largest_first(trials: Sequence[Trial]) -> list[Trial]:
    """One trial of each point, those with the most workers first."""
    points = {trial.point_id: trial for trial in trials}
    return sorted(points.values(), key=lambda trial: -trial.load.connections)


def _workers_of_groups(trial: Trial) -> list[int]:
    """The connections of each group of operations; a group without its own has those of the trial."""
    return [group[0].connections or trial.load.connections for group in trial.work.groups]


def _flag(sweep: Sweep, declared: Sequence[KnobColumn], role: KnobRole) -> str:
    """The flag of the axis if its levels set the knob, else the knob's own."""
    name = next((knob.name for knob in declared if knob.role is role), role.value)
    if name in granted_knobs(sweep, declared):
        return load_axis(sweep.axis).flag
    return f"--{name.replace('_', '-')}"
