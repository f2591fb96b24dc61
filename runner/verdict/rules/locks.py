"""The server's locks: did its connections wait for one another, as the database tells it?"""

from __future__ import annotations

from runner.model import LimitKind
from runner.verdict.evidence import ResourceUse, TrialResources
from runner.verdict.rules.rule import Found
from runner.verdict.thresholds import LOCK_WAITING

_LOCK = "lock: "


def locks(use: ResourceUse, given: TrialResources) -> Found | None:
    """The connections at work spent most of their time waiting for locks that others of them held."""
    waited = {name.removeprefix(_LOCK): share for name, share in use.waits.items() if name.startswith(_LOCK)}
    total = sum(waited.values())
    if total < LOCK_WAITING:
        return None
    most = max(waited, key=lambda name: waited[name])
    return Found(
        kind=LimitKind.LOCKS,
        sentence=f"the server's connections waited for locks {100 * total:.0f} % of the time, mostly {most}",
        remedy="see what holds that lock: rows, indexes or sequences that every connection writes; partitions, shorter "
        "transactions",
    )
