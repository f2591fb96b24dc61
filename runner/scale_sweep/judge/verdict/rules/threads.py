"""The server's threads: was one of them full while cores were idle?"""

from __future__ import annotations

from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import HOT_ABOVE_MEDIAN, HOT_CORES
from scale_sweep.model import BottleneckKind


def hot_thread(use: ResourceUse, given: TrialResources) -> Found | None:
    """One thread of the server was full while cores were idle: more cores cannot help it."""
    if use.hot_thread is None or use.hot_thread[1] < HOT_CORES:
        return None
    pool, cores = use.hot_thread
    if cores < HOT_ABOVE_MEDIAN * (use.hot_thread_median or 0.0):
        return None  # the others of its name are about as busy: the work is already distributed
    return Found(
        kind=BottleneckKind.HOT_THREAD,
        sentence=f"one thread of the server ({pool}) was {100 * cores:.0f} % busy while cores were idle",
        remedy="spread the tables over more vgroups or partitions (--vgroups, --partitions), with as many "
        "--connections",
    )
