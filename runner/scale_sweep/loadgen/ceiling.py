"""The load generator's own ceiling: the trial's rows and threads on the trial's CPUs, without a server."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.binary import SEPARABLE, GeneratorDied, can, features_of
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.remote import Elsewhere
from scale_sweep.loadgen.spec import ceiling_spec, stubbed_spec
from scale_sweep.loadgen.split import split_spec

SECONDS = 1.5
LIMIT_S = 60.0


class Means(StrEnum):
    """STUBBED: the driver omits the sending. DISCARDED: rows are made and discarded, the only way of older load
    generators. The others: there is no such ceiling."""

    STUBBED = "its sending left out"
    DISCARDED = "rows discarded"
    NONE = "none: its client library encodes inside of its send; the threads' own CPU is reported instead"
    READS = "none for reads: only a database gives answers, whose reading costs most; the threads' own CPU decides"
    OTHERS = "none: another program makes the load"

    @property
    def is_measured(self) -> bool:
        return self in (Means.STUBBED, Means.DISCARDED)


@dataclass(frozen=True, kw_only=True)
class CeilingKey:
    """All that decides a ceiling."""

    spec: tuple[tuple[str, str], ...]
    cpus: tuple[int, ...]
    threads_per_process: int
    means: Means


NONE_FOR_READS, NONE_FOR_OTHERS = (
    CeilingKey(spec=(), cpus=(), threads_per_process=0, means=means) for means in (Means.READS, Means.OTHERS)
)


def means_of(program: str, spec: Mapping[str, str]) -> Means:
    """Raises LoadError."""
    features = features_of(program)
    if not any(SEPARABLE in words for methods in features.values() for words in methods.values()):
        return Means.DISCARDED
    return Means.STUBBED if can(features, spec, SEPARABLE) else Means.NONE


def ceiling_key(spec: Mapping[str, str], cpus: tuple[int, ...], threads_per_process: int, means: Means) -> CeilingKey:
    made = (stubbed_spec if means is Means.STUBBED else ceiling_spec)(spec, SECONDS)
    kept = tuple(sorted((name, value) for name, value in made.items() if name != "seed"))
    return CeilingKey(spec=kept, cpus=cpus, threads_per_process=threads_per_process, means=means)


def measure_ceiling(program: str, key: CeilingKey, elsewhere: Elsewhere | None = None, hosts: int = 1) -> float | None:
    """Repeated once if a signal ended the load. elsewhere: so many hosts that make it together. Raises LoadError."""
    if not key.means.is_measured:
        return None
    try:
        return _measured(program, key, elsewhere, hosts)
    except GeneratorDied:
        pass
    try:
        return _measured(program, key, elsewhere, hosts)
    except GeneratorDied as error:
        raise GeneratorDied(f"the load generator's own ceiling could not be measured: twice, {error.message}") from None


def _measured(program: str, key: CeilingKey, elsewhere: Elsewhere | None, hosts: int) -> float:
    specs = split_spec(dict(key.spec), key.threads_per_process, time.monotonic_ns(), least=hosts)
    cpus = key.cpus or tuple(sorted(os.sched_getaffinity(0)))  # empty: the server is not on this machine
    with LoadProcesses(program, specs, cpus, secret="", elsewhere=elsewhere) as load:
        for _ in load.lines(LIMIT_S):
            pass
        summary = load.summary()
    rate = summary.rows_per_s if summary is not None and summary.outcome == "ok" else None
    if not rate:
        raise LoadError(
            "the load generator's own ceiling could not be measured: the load did not end normally",
            remedy="scale doctor",
        )
    return rate
