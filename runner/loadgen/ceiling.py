"""The load generator's own ceiling: the trial's rows, requests and threads on the trial's CPUs, without a server.

It is measured once for each different spec before the sweep. The trial's own driver makes every request completely and
drops it. A trial's rate near the ceiling is limited by the load generator. Refuses to give a ceiling if a driver cannot
separate making a request from sending it: making rows alone costs a twentieth of that, and no rate would ever be near
it. For a load that reads, the ceiling is the rate of requests that are drawn, answered from memory and counted. It does
not include what a client library costs for each request.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.errors import LoadError
from runner.loadgen.features import SEPARABLE, can, features_of
from runner.loadgen.groups import begun_together
from runner.loadgen.process import LoadProcesses
from runner.loadgen.spec import answered_spec, ceiling_spec, stubbed_spec
from runner.loadgen.split import split_spec
from runner.model import LoadSummary

SECONDS = 1.5
LIMIT_S = 60.0


class Means(StrEnum):
    """How a ceiling can be measured. STUBBED: the driver omits the sending. DISCARDED: rows are made and discarded, the
    only way of older load generators. ANSWERED: reads are answered from memory. NONE: there is no such
    ceiling."""

    STUBBED = "its sending left out"
    DISCARDED = "rows discarded"
    ANSWERED = "reads answered from memory"
    NONE = "none: its client library encodes inside of its send; the threads' own CPU is reported instead"


@dataclass(frozen=True, kw_only=True)
class CeilingKey:
    """What decides a ceiling: the whole spec of its load except the seed, the CPUs, and the threads of one process.

    beside: the specs of other groups of operations, which load at the same time on connections of their own.
    """

    spec: tuple[tuple[str, str], ...]
    cpus: tuple[int, ...]
    threads_per_process: int
    means: Means
    beside: tuple[tuple[tuple[str, str], ...], ...] = ()


_SPECS = {Means.STUBBED: stubbed_spec, Means.ANSWERED: answered_spec}


def means_of(program: str, spec: Mapping[str, str]) -> Means:
    """What the load generator offers for the driver and the method of a spec. Raises LoadError if it does not report
    it."""
    features = features_of(program)
    if not any(SEPARABLE in words for methods in features.values() for words in methods.values()):
        return Means.DISCARDED
    return Means.STUBBED if can(features, spec, SEPARABLE) else Means.NONE


def ceiling_key(
    spec: Mapping[str, str],
    cpus: tuple[int, ...],
    threads_per_process: int,
    means: Means,
    beside: Sequence[Mapping[str, str]] = (),
) -> CeilingKey:
    """The key of a trial's spec. Trials with the same key have the same ceiling. beside: of other groups of
    operations."""
    first, *others = (_kept(one, means) for one in (spec, *beside))
    return CeilingKey(spec=first, cpus=cpus, threads_per_process=threads_per_process, means=means, beside=tuple(others))


def _kept(spec: Mapping[str, str], means: Means) -> tuple[tuple[str, str], ...]:
    made = _SPECS.get(means, ceiling_spec)(spec, SECONDS)
    return tuple(sorted((name, value) for name, value in made.items() if name != "seed"))


def measure_ceiling(program: str, key: CeilingKey) -> float | None:
    """Rows per second of the load generator without a server, or requests per second if the load reads; None if there
    is no such ceiling.

    Raises LoadError.
    """
    if key.means is Means.NONE:
        return None
    now_ns = time.monotonic_ns()
    specs = [part for one in (key.spec, *key.beside) for part in split_spec(dict(one), key.threads_per_process, now_ns)]
    with LoadProcesses(program, begun_together(specs, now_ns), key.cpus, secret="") as load:
        for _ in load.lines(LIMIT_S):
            pass
        summary = load.summary()
    rate = _rate(summary, key.means) if summary is not None and summary.outcome == "ok" else None
    if not rate:
        raise LoadError(
            "the load generator's own ceiling could not be measured: the load did not come to its end",
            remedy="scale doctor",
        )
    return rate


def _rate(summary: LoadSummary, means: Means) -> float | None:
    if means is not Means.ANSWERED:
        return summary.rows_per_s
    return summary.service.count / summary.window_s if summary.window_s else None
