"""The memory behind the server's cores: did full cores spend their time waiting for it? From hardware counters, where
the kernel gives them; else this rule is silent, and such cores count as busy ones.

Refuses to tell a lack of bandwidth from a lack of patience: cores that chase one pointer after another wait too, but
with one miss under way at a time, which is not enough for this rule.
"""

from __future__ import annotations

from runner.model import BottleneckKind
from runner.verdict.evidence import ResourceUse, TrialResources
from runner.verdict.rules.cpu import cpu_words, used_share
from runner.verdict.rules.rule import Found
from runner.verdict.thresholds import CORES_FULL, MEMORY_CYCLES_PER_MISS, MEMORY_INSTRUCTIONS_PER_CYCLE


def memory_bandwidth(use: ResourceUse, given: TrialResources) -> Found | None:
    """The cores were full, did little each cycle, and always had several misses of the last cache under way."""
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
