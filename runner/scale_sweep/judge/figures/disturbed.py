"""CPUs that others took from server and load generator, and the lateness of the load generator itself."""

from __future__ import annotations

from scale_sweep.judge.figures.window import WindowUse
from scale_sweep.judge.verdict import Lateness, TakenCpus
from scale_sweep.model import LoadSummary, Trial

PERCENTILES = ("p99", "p95", "p50")  # the first that has enough requests is judged


def taken_cpus(trial: Trial, use: WindowUse, client: float | None) -> tuple[TakenCpus, ...]:
    """The cores that others took. client: cores that the load generator used.

    CPUs that server and load generator share are taken together with all CPUs of both.
    """
    placement, server = trial.placement, use.server_cores
    if placement.shared:
        both = tuple(sorted({*placement.server_cpus, *placement.generator_cpus}))
        own = server + client if server is not None and client is not None else None
        groups = [("the server's and the load generator's", both, own)]
    else:
        groups = [
            ("the server's", placement.server_cpus, server),
            ("the load generator's", placement.generator_cpus, client),
        ]
    return tuple(
        _taken(whose, cpus, own, use)
        for whose, cpus, own in groups
        if own is not None and cpus and set(cpus) <= set(use.cpus)
    )


def _taken(whose: str, cpus: tuple[int, ...], own: float, use: WindowUse) -> TakenCpus:
    busy = sum(use.cpus[cpu] for cpu in cpus)
    stolen = sum(use.cpus_stolen.get(cpu, 0.0) for cpu in cpus)
    return TakenCpus(whose=whose, cpus=len(cpus), others=max(0.0, busy - own), stolen=stolen)


def lateness(trial: Trial, summary: LoadSummary) -> tuple[Lateness, ...]:
    """The load generator's lateness: at the percentiles of the trial's objective, beside their limits; else at the
    highest percentile that has enough requests, beside the response time there.

    Empty in a closed loop, and where it is not reported.
    """
    late = summary.late
    if late is None:
        return ()
    if trial.load.objective is not None:
        return tuple(
            Lateness(percentile=clause.quantity, late_ms=own / 1e3, of_ms=clause.limit, has_objective=True)
            for clause in trial.load.objective.clauses
            if (own := getattr(late, f"{clause.quantity}_us", None)) is not None
        )
    for name in PERCENTILES:
        own, response = getattr(late, f"{name}_us"), getattr(summary.response, f"{name}_us")
        if own is not None and response is not None:
            return (Lateness(percentile=name, late_ms=own / 1e3, of_ms=response / 1e3, has_objective=False),)
    return ()
