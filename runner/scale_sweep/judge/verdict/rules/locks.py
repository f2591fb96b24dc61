"""The server's locks: did its connections wait for each other, by the database's report? For a database without such a
report: did its threads, by the kernel's?"""

from __future__ import annotations

from scale_sweep.base.units import format_rate
from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import LOCK_WAITING
from scale_sweep.model import BottleneckKind

_LOCK, _MUTEX = "lock: ", "mutex: "  # the start of the names of waits: reported by the database, and by the kernel
_ROWS = (
    "see what holds the lock: rows, indexes or sequences that every connection writes; partitions, shorter transactions"
)
_PARTS = "see what these threads share: more vgroups or partitions (--vgroups, --partitions), as many --connections"


def locks(use: ResourceUse, given: TrialResources) -> Found | None:
    """Working connections (or threads) spent most of their time waiting for locks that others held."""
    total, most = _waited(use, _LOCK)
    if total >= LOCK_WAITING:
        told, remedy = f"connections waited for locks {100 * total:.0f} % of the time, mostly {most}", _ROWS
    else:
        total, most = _waited(use, _MUTEX)
        told, remedy = f"threads waited for locks {100 * total:.0f} % of the time, mostly those named {most}", _PARTS
    if total < LOCK_WAITING:
        return None
    slept = use.switches_per_s.get("voluntary")
    switches = f"; its threads went to sleep {format_rate(slept)} times a second" if slept else ""
    return Found(kind=BottleneckKind.LOCKS, sentence=f"the server's {told}{switches}", remedy=remedy)


def _waited(use: ResourceUse, opening: str) -> tuple[float, str]:
    """The share of the time, and the lock or pool with most of it."""
    shares = {name.removeprefix(opening): share for name, share in use.waits.items() if name.startswith(opening)}
    return sum(shares.values()), max(shares, key=lambda name: shares[name], default="")
