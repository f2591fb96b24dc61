"""Synthetic stored runs for tests of the report: seeded, invented, and named so wherever they are shown."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scale_sweep.analysis.fit.models import rate_at
from scale_sweep.model.declared import Sweep, Work
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Measurement, TrialResult, Verdict, VerdictKind
from scale_sweep.model.planned import Confound, Plan, Trial
from scale_sweep.model.resources import Placement
from scale_sweep.results.store.codec import SCHEMA
from tests.unit.factories import KNOB_COLUMNS, make_sweep, make_trial, with_trials
from tests.unit.observing import fit_curve

K = VerdictKind
REASONS = {
    K.GENERATOR_BOUND: "the server used 3.10 of 4 cores (78 %) while the load generator's CPUs were 99 % busy",
    K.UNSTEADY: "the rate drifted by -14 % over the window",
    K.ABORTED: 'the server ended with status 1: FATAL: could not write to file "base/16384/2619": <No space left>',
    K.RESOURCE_NOT_SATURATED: "the server used 2.31 of 3 cores (77 %): the disk was 98 % busy",
    K.VALID: "",
}
WINDOW_S, WARMUP_S = 10.0, 3.0


def synthetic_sweep(cores: str = "1..4", **changes) -> Sweep:
    """A sweep whose name says that it is invented."""
    question = "How far does one PostgreSQL server scale with cores on this machine?"
    named = {"name": "cpu (synthetic)", "target": "postgres", "runtime": "process", "version": "16.2", "method": "copy"}
    return replace(make_sweep(cores=cores, load__duration="10s"), question=question, **named, **changes)


def synthetic_trial(level: float, replicate: int, order: int, knobs: Mapping[str, str]) -> Trial:
    server = tuple(range(max(math.ceil(level), 1)))
    placement = Placement(server_cpus=server, generator_cpus=(16, 17, 18, 19))
    where = {"level": level, "cores": level, "placement": placement}
    which = {"trial_id": f"cores-{level:g}-r{replicate}", "order": order, "replicate": replicate, "seed": 42}
    return make_trial(synthetic_sweep(), knobs=dict(knobs), **where, **which)


def synthetic_plan(
    levels: Sequence[float],
    replicates: int,
    knobs: Mapping[str, str],
    *,
    knobs_at: Mapping[float, Mapping[str, str]] | None = None,
    sweep: Sweep | None = None,
    work: Work | None = None,
    **fields,
) -> Plan:
    """Each level in each replicate. knobs_at: by level, where they are others. work: of the trials. fields: of a sweep."""
    asked = sweep or synthetic_sweep(replicates=replicates, levels=tuple(float(n) for n in levels), **fields)
    order = [(float(n), r) for r in range(1, replicates + 1) for n in levels]
    trials = [synthetic_trial(n, r, at, (knobs_at or {}).get(n, knobs)) for at, (n, r) in enumerate(order)]
    if work:
        asked, trials = replace(asked, work=work), [replace(trial, work=work) for trial in trials]
    empty = {"confounds": (), "notes": (), "seconds_estimated": 100.0}
    return Plan(sweep=asked, trials=tuple(trials), knobs=KNOB_COLUMNS, **empty)


def synthetic_result(trial: Trial, rate: float, kind: VerdictKind, chance: random.Random) -> TrialResult:
    if kind is K.ABORTED:
        return TrialResult(trial=trial, measurement=Measurement(), verdict=Verdict(kind=kind, reasons=(REASONS[kind],)))
    used = {K.GENERATOR_BOUND: 0.78, K.RESOURCE_NOT_SATURATED: 0.77}.get(kind, 0.97) * trial.level
    rate *= {K.GENERATOR_BOUND: 0.8, K.UNSTEADY: 0.9, K.RESOURCE_NOT_SATURATED: 0.75}.get(kind, 1.0)
    p50_ms, p99_ms = 4.2 + chance.random(), 21.7 if chance.random() > 0.2 else None
    figures = dict.fromkeys(("rows_acked", "rows_counted", "rows_compared"), int(rate * 13))
    figures |= {"rows": int(rate * WINDOW_S), "rows_per_s": rate, "durable_rows_per_s": rate * 0.93}
    figures |= {"server_cpu_cores": used, "server_cpu_percent": 100 * used / trial.level, "throttled_s": 0.0}
    figures |= {"generator_cpu_cores": 0.21 * rate / 4e5, "generator_cpu_percent": 20.0, "ceiling_rows_per_s": 1.4e8}
    figures |= {"disk_write_mb_per_s": rate * 122 / 1e6, "disk_bytes_per_row": 122.4, "window_s": WINDOW_S}
    figures |= {"memory_used_gb": 1.2, "memory_available_gb": 58.3, "requests": 4123, "errors": 0}
    figures |= {"response_ms_p50": p50_ms, "response_ms_p95": 9.8, "response_ms_p99": p99_ms, "response_ms_max": 88.1}
    figures |= {"sampler_cpu_percent": 0.11, "missed_ticks": 0}
    caveats = (REASONS[kind],) if REASONS[kind] else ()
    if kind is K.VALID and chance.random() < 0.2:
        caveats = ("no checkpoint (commit cycle) in the window; the durable rate includes it",)
    effective = {"server_version": "16.2", "max_parallel_workers": f"{trial.level:g}"}
    effective |= {"shared_buffers": "1GB", "synchronous_commit": "on"}
    told = {"measurement": Measurement(**figures), "verdict": Verdict(kind=kind, reasons=caveats)}
    return TrialResult(trial=trial, wall_s=17.5, effective=effective, **told)


def synthetic_series(result: TrialResult, chance: random.Random):
    m = result.measurement
    if m.rows_per_s is None:
        return ()
    rows = []
    drift = -0.03 if result.verdict.kind is K.UNSTEADY else 0.0
    for second in range(-int(WARMUP_S) - 1, int(WINDOW_S) + 3):
        t = second + 0.5
        on = 0.0 if t > WINDOW_S + 1 else min(1.0, max(0.0, (t + WARMUP_S + 1.5) / 2)) * (1 + drift * (t - 5))
        wobble = 1 + chance.gauss(0, 0.03)
        rows.append((t, {"rows_per_s": m.rows_per_s * on * wobble, "response_ms_p99": 20.0}))
        burst = 2.4 if second % 5 == 3 else 0.65
        sampled = {"server_cpu_cores": (m.server_cpu_cores or 0) * min(on * 1.02, 1.02), "memory_available_gb": 58.0}
        sampled["generator_cpu_cores"] = (m.generator_cpu_cores or 0) * on * wobble
        sampled["disk_write_mb_per_s"] = (m.disk_write_mb_per_s or 0) * burst * wobble
        rows.append((t + 0.03, sampled))
    return tuple(rows)


def synthetic_run(
    levels: Sequence[float] = (1, 2, 3, 4),
    replicates: int = 3,
    *,
    verdicts: Mapping[tuple[float, int], VerdictKind] | None = None,
    knobs: Mapping[float, Mapping[str, str]] | None = None,
    seed: int = 42,
    noise: float = 0.02,
    sweep: Sweep | None = None,
    **parameters: float,
) -> StoredRun:
    """A finished run: rates from the parameters with noise, verdicts as given by (level, replicate)."""
    chance = random.Random(seed)
    parameters = parameters or {"gamma": 4.1e5, "alpha": 0.03}
    plain = {"partitions": "4", "connections": "8", "max_wal_size": "4GB"}
    plan = synthetic_plan(levels, replicates, plain, knobs_at=knobs, sweep=sweep)

    def result_of(trial):
        rate = rate_at(trial.level, parameters) * math.exp(chance.gauss(0, noise))
        kind = (verdicts or {}).get((trial.level, trial.replicate), K.VALID)
        return synthetic_result(trial, rate, kind, chance)

    results = tuple(result_of(trial) for trial in plan.trials)
    series = {r.trial.trial_id: synthetic_series(r, chance) for r in results}
    made = {"path": "/results/20260102T030405Z-cpu-synthetic-1a2b3c", "manifest": synthetic_manifest()}
    return StoredRun(plan=plan, results=results, timeseries=series, fit=fit_curve(results), **made)


def on_shared_cpus(run: StoredRun) -> StoredRun:
    """The run on a machine where the load generator has no CPUs of its own."""

    def shared(trial: Trial) -> Trial:
        placement = replace(trial.placement, generator_cpus=(0, 1))
        return replace(trial, resources=replace(trial.resources, placement=placement))

    notes = ("at 2 cores the load generator shares CPU 0-1 with the server: this machine has too few for both",)
    run = with_trials(run, shared)
    return replace(run, plan=replace(run.plan, notes=notes))


def synthetic_manifest() -> dict[str, object]:
    host = {"hostname": "synthetic-host", "cpu_model": "Synthetic CPU @ 3.0 GHz", "memory_bytes": 64_000_000_000}
    host |= {"kernel": "6.1.0", "os": "Debian 12", "cgroup": "v2", "governor": "performance"}
    disk = {"device": "259:0", "name": "nvme0n1", "mount_point": "/var", "file_system": "ext4"}
    return {
        "schema": SCHEMA,
        "tool_version": "0.1.0",
        "commit": "0123456789abcdef",
        "created_utc": "2026-01-02T03:04:05+00:00",
        "command": ["scale", "sweep", "cpu", "--cores", "1..4", "--tag", "note=two words"],
        "host": {**host, "cpus": [{"id": i, "core": i, "package": 0, "node": 0} for i in range(20)]},
        "server": {"version": "16.2"},
        "choice": "postgres 16.2 as a process (wheel), as no Docker Engine answers",
        "disks": [{**disk, "rotational": False, "free_bytes": 1}],
        "ceiling_rows_per_s": {"8 threads on CPU 16,17,18,19": 1.4e8},
        "seed": 42,
    }


def mixed_run(**changes) -> StoredRun:
    """Four levels with every kind of trouble, and a knob that moves."""
    knobs = {float(n): {"partitions": "4" if n < 3 else "12", "connections": "8"} for n in range(1, 5)}
    values = ("4", "4", "12", "12")
    sentence = (
        "partitions moves with the cores (4 at 1, 4 at 2, 12 at 3, 12 at 4): the curve shows both, not the cores alone"
    )
    confound = Confound(knob="partitions", values=values, sentence=sentence)
    verdicts = {(4.0, 1): K.GENERATOR_BOUND, (2.0, 2): K.UNSTEADY, (3.0, 3): K.ABORTED}
    verdicts[3.0, 1] = K.RESOURCE_NOT_SATURATED
    run = on_shared_cpus(synthetic_run(verdicts=verdicts, knobs=knobs, **changes))
    plan = replace(run.plan, confounds=(confound,))
    return replace(run, plan=plan, fit=fit_curve(run.results, confounds=[confound]))
