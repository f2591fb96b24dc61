"""Cautions on the response times of a server with a CPU quota, and on a capacity that they limit. Refuses to subtract
the pauses from them."""

from __future__ import annotations

from collections.abc import Sequence, Set

from scale_sweep.base.units import format_number
from scale_sweep.judge.verdict.thresholds import THROTTLED
from scale_sweep.model import ERRORS, StoredRun
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
    return (sentence + _of_capacity(run, set(pauses)),)


def _of_capacity(run: StoredRun, levels: Set[float]) -> str:
    """The effect of the pauses on a capacity at these levels, with the time in which the kernel stopped the server; ""
    without an objective of response times, and if it did not stop the server."""
    objective = run.plan.sweep.load.objective
    if objective is None or all(clause.quantity == ERRORS for clause in objective.clauses):
        return ""
    words = (
        f". With the limit {objective.words} the capacity there may be less than its share of the cores, and "
        "the efficiency of a level without a quota above 1"
    )
    searches = [r.measurement for r in run.results if r.trial.load.searches and r.trial.level in levels]
    shares = [m.throttled_s / m.window_s for m in searches if m.throttled_s is not None and m.window_s]
    if not shares:
        return words
    if max(shares) <= THROTTLED:
        return ""
    return f"{words}. In the closed loops the kernel stopped the server for {_percents(shares)} of the time"


def _percents(shares: Sequence[float]) -> str:
    ends = dict.fromkeys(f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    return f"{' to '.join(ends)} %"
