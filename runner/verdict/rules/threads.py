"""The server's threads: was one of them full while cores were idle?"""

from __future__ import annotations

from runner.model import LimitKind
from runner.verdict.evidence import Given, Use
from runner.verdict.rules.rule import Found
from runner.verdict.thresholds import HOT_CORES


def hot_thread(use: Use, given: Given) -> Found | None:
    """One thread of the server was full while cores were idle: more cores cannot help it."""
    if use.hot_thread is None or use.hot_thread[1] < HOT_CORES:
        return None
    pool, cores = use.hot_thread
    return Found(
        kind=LimitKind.HOT_THREAD,
        sentence=f"one thread of the server ({pool}) was {100 * cores:.0f} % busy while cores were idle",
        remedy="spread the tables over more vgroups or partitions (--vgroups, --partitions), with as many "
        "--write-threads",
    )
