"""The rate for each CPU-second of the server: what is left of a rate when other programs had part of its CPUs.

Refuses a trial whose CPUs were not the bottleneck: its server waited for something else, and a CPU-second says nothing
about that. Refuses a number that is not right or not steady, and a trial in whose window new memory pages got dearer:
not all of its CPU-seconds could do the same.
"""

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
    cores, found = result.measurement.server_cpu_cores, result.verdict.bottleneck
    if not cores or result.achieved_per_s is None or found is None:
        return None
    if found.kind not in CPU_BOUND or result.verdict.kind not in _RIGHT:
        return None
    if any(reason.startswith(NEW_PAGES) for reason in result.verdict.reasons):
        return None
    return result.achieved_per_s / cores


def is_taken(result: TrialResult) -> bool:
    """Whether others took the CPUs: the number is not the server's, and its rate for each CPU-second may be."""
    return result.verdict.bottleneck is not None and result.verdict.bottleneck.kind in TAKEN
