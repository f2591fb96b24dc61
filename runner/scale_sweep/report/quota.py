"""Cautions on the response times of a server with a CPU quota. Refuses to subtract the pauses from them."""

from __future__ import annotations

from scale_sweep.base.units import format_number
from scale_sweep.model import StoredRun
from scale_sweep.report.figures import axis_facts

_PERIOD_MS = 100.0  # of Linux and of Docker, in which a quota holds


def quota_words(run: StoredRun) -> tuple[str, ...]:
    """A caution if levels have less than all time of their CPUs: how long the kernel stops the server."""
    pauses: dict[float, float] = {}
    for trial in run.plan.trials:
        p = trial.placement
        if p.quota_cores is not None and p.server_cpus and p.quota_cores < len(p.server_cpus):
            pauses[trial.level] = _PERIOD_MS * (1 - p.quota_cores / len(p.server_cpus))
    if not pauses:
        return ()
    where = axis_facts(run).count(", ".join(map(format_number, sorted(pauses))))
    sentence = (
        f"{where}: a CPU quota. The kernel stops the server for up to about {max(pauses.values()):.0f} ms in each "
        f"{_PERIOD_MS:.0f} ms, so p99 and max of the response times contain these pauses"
    )
    return (sentence,)
