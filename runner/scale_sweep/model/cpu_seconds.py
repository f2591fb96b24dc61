"""The rate for each CPU-second of the server, and the rate that follows from it if others had taken no CPU time."""

from __future__ import annotations

from scale_sweep.model.bottleneck import BottleneckKind
from scale_sweep.model.measured import TrialResult, VerdictKind

# The CPUs were busy all the time, with the server or with others.
CPU_BOUND = frozenset(
    {
        BottleneckKind.SERVER_CPU,
        BottleneckKind.QUOTA,
        BottleneckKind.SHARED_CPU,
        BottleneckKind.OTHER_PROCESSES,
        BottleneckKind.HYPERVISOR,
    }
)
NEW_PAGES = "NEW_PAGES"  # begins the reason of a verdict
TAKEN = frozenset({BottleneckKind.OTHER_PROCESSES, BottleneckKind.HYPERVISOR})
_RIGHT = frozenset({VerdictKind.VALID, VerdictKind.RESOURCE_NOT_SATURATED, VerdictKind.OFFERED_NOT_MET})


def rate_per_cpu_s(result: TrialResult) -> float | None:
    """Rows (or requests) for each second of CPU time that the server used in the window; None where the CPUs were not
    the bottleneck, where the number is not right or not steady, and where new memory pages got dearer."""
    cores, bottleneck = result.measurement.server_cpu_cores, result.verdict.bottleneck
    if not cores or result.achieved_per_s is None or bottleneck is None:
        return None
    if bottleneck.kind not in CPU_BOUND or result.verdict.kind not in _RIGHT:
        return None
    if any(reason.startswith(NEW_PAGES) for reason in result.verdict.reasons):
        return None
    return result.achieved_per_s / cores


def rate_alone_per_s(result: TrialResult) -> float | None:
    """The rate if the server had had the CPU time that others took from it: rate_per_cpu_s times the cores that it
    would then have used. None where rate_per_cpu_s is None.

    Where the load generator shares the server's CPUs, it would have had its part of that time, as it has of the CPU
    time that both used.
    """
    per_cpu_s, used, taken = rate_per_cpu_s(result), result.measurement.server_cpu_cores, taken_cores(result)
    if per_cpu_s is None or used is None or taken is None:
        return None
    return per_cpu_s * (used + taken * used / (used + _shared_cores(result)))


def taken_cores(result: TrialResult) -> float | None:
    """The cores that other programs and the hypervisor took from the server, at most what it lacked of its cores. None
    if the server's CPU time was not read."""
    m = result.measurement
    if m.server_cpu_cores is None:
        return None
    lacked = max(0.0, result.trial.cores - m.server_cpu_cores - _shared_cores(result))
    return min(lacked, (m.other_cpu_cores or 0.0) + (m.stolen_cpu_cores or 0.0))


def _shared_cores(result: TrialResult) -> float:
    return (result.measurement.generator_cpu_cores or 0.0) if result.trial.placement.shared else 0.0


def is_taken(result: TrialResult) -> bool:
    """Whether others took the CPUs: the number is not the server's, and its rate for each CPU-second may be."""
    return result.verdict.bottleneck is not None and result.verdict.bottleneck.kind in TAKEN
