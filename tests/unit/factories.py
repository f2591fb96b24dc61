"""Small valid objects for tests; every field that matters to a test is named there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scale_sweep import model
from scale_sweep.judge.figures.counts_per_second import RatedInterval, rated_intervals
from scale_sweep.measure.executing.execute import run_campaign
from scale_sweep.model.compared import Gate
from scale_sweep.plan import planner_of
from scale_sweep.plan.granted import with_knobs
from scale_sweep.sweep.resolve import resolve_sweep

ON_TWO_CPUS = model.Placement(server_cpus=(0,), generator_cpus=(1,))
KNOBS = {"partitions": "4", "connections": "4"}
SLOWER = Gate(kind="fail_if_slower", percent=5.0)
KNOB_COLUMNS = (
    model.KnobColumn(name="vgroups", role=model.KnobRole.PARTITIONS, label="Vgroups", column="vgroups"),
    model.KnobColumn(name="partitions", role=model.KnobRole.PARTITIONS, label="Partitions", column="partitions"),
    model.KnobColumn(name="connections", role=model.KnobRole.CONNECTIONS, label="Connections", column="connections"),
    model.KnobColumn(
        name="commit_threads", role=model.KnobRole.COMMIT_THREADS, label="Commit threads", column="commit_threads"
    ),
)


def make_sweep(*, cores: str = "1..2", **flags: str | list[str]) -> model.Sweep:
    """The sweep of `scale sweep cpu --cores ...` with flags by key ("load.rows" written load__rows)."""
    return resolve_sweep("cpu", {"axis.cores": cores, **{k.replace("__", "."): v for k, v in flags.items()}})


def amounts(cores: float = 1.0, disks: int = 0, memory_bytes: int | None = None) -> dict[str, model.Amount]:
    """The amounts of a trial's resources. disks: 0 for none that are prepared. memory_bytes: None for no limit."""
    prepared = {model.DISKS: model.Amount(value=disks, unit="disk")} if disks else {}
    limit = {model.MEMORY: model.Amount(value=memory_bytes, unit="byte")} if memory_bytes is not None else {}
    return {model.CORES: model.Amount(value=cores, unit="core"), **prepared, **limit}


def make_trial(
    sweep: model.Sweep | None = None,
    *,
    cores: float = 1.0,
    disks: int = 0,
    placement: model.Placement = ON_TWO_CPUS,
    knobs: Mapping[str, str] = KNOBS,
    variant: Mapping[str, str] | None = None,
    **fields,
) -> model.Trial:
    """One core, generator on the other CPU. sweep: where work, load and subject are taken from."""
    asked = sweep or make_sweep()
    named = fields.setdefault("trial_id", "cores-1-r1").rpartition("-r")[0]
    subject = model.Subject(
        target=asked.target, runtime=asked.runtime, method=asked.method, endpoint=asked.endpoint, variant=variant or {}
    )
    resources = model.Resources(amounts=amounts(cores, disks, asked.memory_bytes), placement=placement)
    first = {"trial_id": "", "point_id": named, "order": 0, "level": 1.0, "replicate": 1, "seed": 1, "knobs": {}}
    base = model.Trial(**first, work=asked.work, load=asked.load, resources=resources, subject=subject)
    return with_knobs(replace(base, **fields), knobs, KNOB_COLUMNS)


def as_rated(intervals: Iterable[model.Interval]) -> list[RatedInterval]:
    """The intervals of a load that only writes, as its rate counts them."""
    return rated_intervals(intervals, make_sweep().work)


def make_result(
    level: float = 1.0, rate: float | None = 1e6, replicate: int = 1, kind: model.VerdictKind = model.VerdictKind.VALID
) -> model.TrialResult:
    """A finished trial with a rate."""
    trial = make_trial(trial_id=f"cores-{level:g}-r{replicate}", level=level, cores=level, replicate=replicate)
    measurement = model.Measurement(rows_per_s=rate, durable_rows_per_s=rate, rows=1, window_s=1.0)
    return model.TrialResult(trial=trial, measurement=measurement, verdict=model.Verdict(kind=kind))


def with_trials(run: model.StoredRun, change: Callable[[model.Trial], model.Trial]) -> model.StoredRun:
    """The run with each trial changed, in its plan and in its results."""
    plan = replace(run.plan, trials=tuple(map(change, run.plan.trials)))
    return replace(run, plan=plan, results=tuple(replace(r, trial=change(r.trial)) for r in run.results))


def with_rates(run: model.StoredRun, factor: Callable[[int], float]) -> model.StoredRun:
    """The run with the rate of each result times the factor of its number."""

    def changed(at, result):
        rate = result.measurement.rows_per_s * factor(at)
        return replace(result, measurement=replace(result.measurement, rows_per_s=rate))

    return replace(run, results=tuple(changed(*numbered) for numbered in enumerate(run.results)))


def campaign(
    plan: model.Plan, run: Callable[[model.Trial], Iterator[model.Event]], done: Sequence[model.TrialResult] = ()
) -> tuple[model.Plan, list[model.TrialResult]]:
    """The plan as it grew, and the results of its trials. run: the events of one. done: what was run before."""
    plans, results = [plan], list(done)

    def sink(event: model.Event) -> None:
        if isinstance(event, model.PlanGrew):
            plans.append(event.plan)
        elif isinstance(event, model.TrialFinished):
            results.append(event.result)

    run_campaign(plan, planner_of(plan), run, [sink], done)
    return plans[-1], results


def offered(run: model.StoredRun) -> model.StoredRun:
    """The run as if its rate had been offered."""
    return with_trials(run, lambda trial: replace(trial, load=replace(trial.load, rate=5e4)))


def reading(run: model.StoredRun, *others: model.Operation, **figures: float | None) -> model.StoredRun:
    """The run as if its load were queries, with as many requests as it had rows. others: operations beside them.
    figures: of each measurement; without any, no rows."""
    operations = (model.Operation(name="range", unit="requests"), *others)
    own = {"rows_per_s": None, "durable_rows_per_s": None, "disk_bytes_per_row": None} | figures

    def works(item):
        return replace(item, work=replace(item.work, operations=operations))

    def measured(m):
        return replace(m, **{"requests_per_s": m.rows_per_s} | own)

    run = with_trials(run, works)
    results = tuple(replace(r, measurement=measured(r.measurement)) for r in run.results)
    return replace(run, plan=replace(run.plan, sweep=works(run.plan.sweep)), results=results, fit=None)


def make_interval(*, t_s: float = 1.0, **fields) -> model.Interval:
    """A second of the window without rows, errors and histograms."""
    empty = {"rows": 0, "rows_total": 0, "requests": 0, "errors": 0, "retries": 0, "backlog_rows": None}
    empty |= dict.fromkeys(("response_us_p50", "response_us_p99", "response_us_max"))
    return model.Interval(**{"monotonic_ns": round(t_s * 1e9), "t_s": t_s, "phase": "measure", **empty, **fields})


def make_disk(name: str, path: Path | str = "/", **fields) -> model.DataDisk:
    """A directory of 1 GB."""
    plain = {"kind": "dir", "device": "7:0", "block_name": "loop0", "file_system": "ext4"}
    plain |= {"size_bytes": 10**9, "free_bytes": 10**9}
    return model.DataDisk(**{"name": name, "path": str(path), **plain, **fields})


def executable(path: Path, script: str) -> str:
    """Writes a program for the shell; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)
