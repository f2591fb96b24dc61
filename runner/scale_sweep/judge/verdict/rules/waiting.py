"""Did requests wait: too few in flight, a stall, or memory? And the answer if nothing explains the figures."""

from __future__ import annotations

from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.disks import held_up
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import IN_FLIGHT, MEMORY_WAITING_PERCENT, OTHERS_CORES, STALL_S, STALL_SHARE
from scale_sweep.model import BottleneckKind


def few_connections(use: ResourceUse, given: TrialResources) -> Found | None:
    """Fewer requests were in flight than the server has cores, and all of them waited for answers."""
    return connections(use, given) if given.threads < given.cores else None


def connections(use: ResourceUse, given: TrialResources) -> Found | None:
    """All requests in flight waited for answers, and neither server nor load generator was busy: latency, not
    resources."""
    if use.in_flight is None or use.in_flight < IN_FLIGHT:
        return None
    many = f"all {given.threads} connections" if given.threads > 1 else "the one connection"
    return Found(
        kind=BottleneckKind.CONNECTIONS,
        sentence=f"{many} waited for an answer {100 * use.in_flight:.0f} % of the time",
        remedy="more --connections" + (", or larger requests (--rows-per-request)" if given.counts_rows else ""),
    )


def is_stalled(use: ResourceUse) -> bool:
    """Whether nothing was acknowledged for a large part of the window."""
    return use.stalled_s is not None and use.stalled_s >= max(STALL_S, STALL_SHARE * use.seconds)


def stall(use: ResourceUse, given: TrialResources) -> Found | None:
    """For a large part of the window nothing was acknowledged, and neither a disk nor memory explains that."""
    if not is_stalled(use):
        return None
    if held_up(use, given) or memory(use, given):
        return None
    idle = use.stalled_cores is not None and use.stalled_cores < OTHERS_CORES
    did = "the server's threads did not run" if idle else "the server's threads ran without answering"
    told = f"no {given.done} for {use.stalled_s:.1f} s"
    return Found(
        kind=BottleneckKind.STALL,
        sentence=told if use.stalled_cores is None else f"{told}: {did}",
        remedy="see the server's log and the machine at that time; a longer window, if the server pauses by itself",
    )


def memory(use: ResourceUse, given: TrialResources) -> Found | None:
    """Tasks waited for memory: reclaim or swap."""
    if use.memory_waiting_percent is None or use.memory_waiting_percent < MEMORY_WAITING_PERCENT:
        return None
    return Found(
        kind=BottleneckKind.MEMORY,
        sentence=f"something waited for memory {use.memory_waiting_percent:.0f} % of the time",
        remedy="raise --memory, or smaller buffers (--knob)",
    )


def unknown(use: ResourceUse, given: TrialResources) -> Found | None:
    """Nothing explains the figures. This rule always answers, so that there always is an answer."""
    return Found(kind=BottleneckKind.UNKNOWN, sentence="nothing that was measured explains it")
