"""Figures of the operations of a load at each level: means over the fitted trials of the curve, else over all. Pure.

Quantiles are means of the trials' own. Refuses figures of loads that only write: their one operation is the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scale_sweep.model import OperationFigures, StoredRun, TrialResult
from scale_sweep.report.figures import at_level, levels_of
from scale_sweep.report.table import known, mean

QUANTILES = ("min", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")
MIDDLE = "p50"
_UPPER = ("p99", "p95", "p90", "p75")
Read = Callable[[OperationFigures], float | None]
Level = tuple[float, list[TrialResult], bool]  # with whether its trials count


def has_operations(run: StoredRun) -> bool:
    """Whether the load has an operation other than writing rows."""
    return run.plan.sweep.work.counts_requests and any(r.measurement.operations for r in run.results)


def names_of(run: StoredRun) -> list[str]:
    """The names of the operations, in the order of the mix."""
    return list(dict.fromkeys(name for r in run.results for name in r.measurement.operations))


def trials_by_level(run: StoredRun) -> list[Level]:
    """The trials of each level: those that are fitted, else all."""
    return [(level, *at_level(run, level)) for level in levels_of(run)]


def mean_of(trials: Sequence[TrialResult], name: str, read: Read) -> float | None:
    """The mean of a figure of an operation over trials; None if none has it."""
    return mean(read(r.measurement.operations[name]) for r in trials if name in r.measurement.operations)


def response(quantile: str) -> Read:
    """Reads a quantile of the response time, in milliseconds."""
    return lambda operation: operation.response_ms.get(quantile)


def upper_quantile(run: StoredRun) -> str:
    """p99, unless too few requests leave operations without it and a lower quantile has more of them."""

    def known_cells(quantile: str) -> int:
        levels = trials_by_level(run)
        return sum(
            known(mean_of(trials, name, response(quantile))) for name in names_of(run) for _, trials, _ in levels
        )

    return max(_UPPER, key=known_cells)  # of equals the first
