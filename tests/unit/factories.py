"""Small valid objects for tests; every field that matters to a test is named there."""

from __future__ import annotations

from dataclasses import replace

from runner.model import Measurement, Placement, Sweep, Trial, TrialResult, Verdict, VerdictKind
from runner.sweep.resolve import resolve_sweep


def make_sweep(*, cores: str = "1..2", **flags: str | list[str]) -> Sweep:
    """The sweep of `scale sweep cpu --cores ...` with flags by key ("load.rows" written load__rows)."""
    return resolve_sweep("cpu", {"axis.cores": cores, **{k.replace("__", "."): v for k, v in flags.items()}})


def make_trial(**fields) -> Trial:
    """One core, generator on the other CPU."""
    base = Trial(
        trial_id="cores-1-r1", order=0, level=1.0, replicate=1, cores=1.0, disks=1, seed=1,
        placement=Placement(server_cpus=(0,), client_cpus=(1,)), knobs={"partitions": "4", "write_threads": "4"},
    )  # fmt: skip
    return replace(base, **fields)


def make_result(level: float = 1.0, rate: float | None = 1e6, replicate: int = 1,
                kind: VerdictKind = VerdictKind.VALID) -> TrialResult:  # fmt: skip
    """A finished trial with a rate."""
    trial = make_trial(trial_id=f"cores-{level:g}-r{replicate}", level=level, cores=level, replicate=replicate)
    return TrialResult(
        trial=trial, measurement=Measurement(rows_per_s=rate, durable_rows_per_s=rate, rows=1, window_s=1.0),
        verdict=Verdict(kind=kind),
    )  # fmt: skip
