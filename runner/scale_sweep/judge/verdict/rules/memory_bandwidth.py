"""The memory behind the server's cores: did full cores wait for it? The rule uses hardware counters; without them it
does not answer, and such cores count as busy ones.

Refuses to mistake latency for a lack of bandwidth: cores that follow one pointer after another wait too, but with one
miss at a time, which is not enough for this rule.
"""

from __future__ import annotations

from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.cpu import cpu_words, used_share
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import CORES_FULL, MEMORY_CYCLES_PER_MISS, MEMORY_INSTRUCTIONS_PER_CYCLE
from scale_sweep.model import BottleneckKind


def memory_bandwidth(use: ResourceUse, given: TrialResources) -> Found | None:
    """The cores were full, did little in each cycle, and always had several misses of the last cache in progress."""
    share, each, between = used_share(use, given), use.instructions_per_cycle, use.cycles_per_miss
    if share is None or share < CORES_FULL or given.shared_cpus or each is None or between is None:
        return None
    if each > MEMORY_INSTRUCTIONS_PER_CYCLE or between > MEMORY_CYCLES_PER_MISS:
        return None
    return Found(
        kind=BottleneckKind.MEMORY_BANDWIDTH,
        sentence=f"{cpu_words(use, given)}, which waited for memory: {each:.2f} instructions a cycle, and every "
        f"{between:.0f} cycles a miss of the last-level cache",
        remedy="a machine with more memory channels or a larger last-level cache; more cores where they bring these",
        noted=True,
    )
