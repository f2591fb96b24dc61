"""Small valid objects for tests; every field that matters to a test is named there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scale_sweep.judge.figures.counts_per_second import RatedInterval, rated_intervals
from scale_sweep.measure.executing.execute import run_campaign
from scale_sweep.model.compared import Gate
from scale_sweep.model.declared import Operation, Subject, Sweep
from scale_sweep.model.declared_parts import KnobColumn, KnobRole
from scale_sweep.model.events import Event, PlanGrew, TrialFinished
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.loads import Interval
from scale_sweep.model.measured import Measurement, TrialResult, Verdict, VerdictKind
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import CORES, DISKS, MEMORY, Amount, Placement, Resources
from scale_sweep.model.samples import DataDisk
from scale_sweep.plan import planner_of
from scale_sweep.plan.granted import with_knobs
from scale_sweep.sweep.resolve import resolve_sweep

ON_TWO_CPUS = Placement(server_cpus=(0,), generator_cpus=(1,))
KNOBS = {"partitions": "4", "connections": "4"}
SLOWER = Gate(kind="fail_if_slower", percent=5.0)
KNOB_COLUMNS = (
    KnobColumn(name="vgroups", role=KnobRole.PARTITIONS, label="Vgroups", column="vgroups"),
    KnobColumn(name="partitions", role=KnobRole.PARTITIONS, label="Partitions", column="partitions"),
    KnobColumn(name="connections", role=KnobRole.CONNECTIONS, label="Connections", column="connections"),
    KnobColumn(name="commit_threads", role=KnobRole.COMMIT_THREADS, label="Commit threads", column="commit_threads"),
)


def make_sweep(*, cores: str = "1..2", **flags: str | list[str]) -> Sweep:
    """The sweep of `scale sweep cpu --cores ...` with flags by key ("load.rows" written load__rows)."""
    return resolve_sweep("cpu", {"axis.cores": cores, **{k.replace("__", "."): v for k, v in flags.items()}})


def amounts(cores: float = 1.0, disks: int = 0, memory_bytes: int | None = None) -> dict[str, Amount]:
    """The amounts of a trial's resources. disks: 0 for none that are prepared. memory_bytes: None for no limit."""
    prepared = {DISKS: Amount(value=disks, unit="disk")} if disks else {}
    limit = {MEMORY: Amount(value=memory_bytes, unit="byte")} if memory_bytes is not None else {}
    return {CORES: Amount(value=cores, unit="core"), **prepared, **limit}


def make_trial(
    sweep: Sweep | None = None,
    *,
    cores: float = 1.0,
    disks: int = 0,
    placement: Placement = ON_TWO_CPUS,
    knobs: Mapping[str, str] = KNOBS,
    variant: Mapping[str, str] | None = None,
    **fields,
) -> Trial:
    """One core, generator on the other CPU. sweep: where work, load and subject are taken from."""
    asked = sweep or make_sweep()
    named = fields.setdefault("trial_id", "cores-1-r1").rpartition("-r")[0]
    subject = Subject(
        target=asked.target, runtime=asked.runtime, method=asked.method, endpoint=asked.endpoint, variant=variant or {}
    )
    resources = Resources(amounts=amounts(cores, disks, asked.memory_bytes), placement=placement)
    first = {"trial_id": "", "point_id": named, "order": 0, "level": 1.0, "replicate": 1, "seed": 1, "knobs": {}}
    base = Trial(**first, work=asked.work, load=asked.load, resources=resources, subject=subject)
    return with_knobs(replace(base, **fields), knobs, KNOB_COLUMNS)


def as_rated(intervals: Iterable[Interval]) -> list[RatedInterval]:
    """The intervals of a load that only writes, as its rate counts them."""
    return rated_intervals(intervals, make_sweep().work)


def make_result(
    level: float = 1.0, rate: float | None = 1e6, replicate: int = 1, kind: VerdictKind = VerdictKind.VALID
) -> TrialResult:
    """A finished trial with a rate."""
    trial = make_trial(trial_id=f"cores-{level:g}-r{replicate}", level=level, cores=level, replicate=replicate)
    measurement = Measurement(rows_per_s=rate, durable_rows_per_s=rate, rows=1, window_s=1.0)
    return TrialResult(trial=trial, measurement=measurement, verdict=Verdict(kind=kind))


def with_trials(run: StoredRun, change: Callable[[Trial], Trial]) -> StoredRun:
    """The run with each trial changed, in its plan and in its results."""
    plan = replace(run.plan, trials=tuple(map(change, run.plan.trials)))
    return replace(run, plan=plan, results=tuple(replace(r, trial=change(r.trial)) for r in run.results))


def with_rates(run: StoredRun, factor: Callable[[int], float]) -> StoredRun:
    """The run with the rate of each result times the factor of its number."""

    def changed(at, result):
        rate = result.measurement.rows_per_s * factor(at)
        return replace(result, measurement=replace(result.measurement, rows_per_s=rate))

    return replace(run, results=tuple(changed(*numbered) for numbered in enumerate(run.results)))


def campaign(
    plan: Plan, run: Callable[[Trial], Iterator[Event]], done: Sequence[TrialResult] = ()
) -> tuple[Plan, list[TrialResult]]:
    """The plan as it grew, and the results of its trials. run: the events of one. done: what was run before."""
    plans, results = [plan], list(done)

    def sink(event: Event) -> None:
        if isinstance(event, PlanGrew):
            plans.append(event.plan)
        elif isinstance(event, TrialFinished):
            results.append(event.result)

    run_campaign(plan, planner_of(plan), run, [sink], done)
    return plans[-1], results


def offered(run: StoredRun) -> StoredRun:
    """The run as if its rate had been offered."""
    return with_trials(run, lambda trial: replace(trial, load=replace(trial.load, rate=5e4)))


def reading(run: StoredRun, *others: Operation, **figures: float | None) -> StoredRun:
    """The run as if its load were queries, with as many requests as it had rows. others: operations beside them.
    figures: of each measurement; without any, no rows."""
    operations = (Operation(name="range", unit="requests"), *others)
    own = {"rows_per_s": None, "durable_rows_per_s": None, "disk_bytes_per_row": None} | figures

    def works(item):
        return replace(item, work=replace(item.work, operations=operations))

    def measured(m):
        return replace(m, **{"requests_per_s": m.rows_per_s} | own)

    run = with_trials(run, works)
    results = tuple(replace(r, measurement=measured(r.measurement)) for r in run.results)
    return replace(run, plan=replace(run.plan, sweep=works(run.plan.sweep)), results=results, fit=None)


def make_interval(*, t_s: float = 1.0, **fields) -> Interval:
    """A second of the window without rows, errors and histograms."""
    empty = {"rows": 0, "rows_total": 0, "requests": 0, "errors": 0, "retries": 0, "backlog_rows": None}
    empty |= dict.fromkeys(("response_us_p50", "response_us_p99", "response_us_max"))
    return Interval(**{"monotonic_ns": round(t_s * 1e9), "t_s": t_s, "phase": "measure", **empty, **fields})


def make_disk(name: str, path: Path | str = "/", **fields) -> DataDisk:
    """A directory of 1 GB."""
    plain = {"kind": "dir", "device": "7:0", "block_name": "loop0", "file_system": "ext4"}
    plain |= {"size_bytes": 10**9, "free_bytes": 10**9}
    return DataDisk(**{"name": name, "path": str(path), **plain, **fields})


def executable(path: Path, script: str) -> str:
    """Writes a program for the shell; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)
