"""The network between the load generator and the server: was an interface full?"""

from __future__ import annotations

from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules.rule import Found
from scale_sweep.judge.verdict.thresholds import NETWORK_FULL
from scale_sweep.model import BottleneckKind


def network(use: ResourceUse, given: TrialResources) -> Found | None:
    """An interface moved nearly as much as it can, in one direction."""
    name = max(use.network, key=lambda one: use.network[one], default="")
    if not name or use.network[name] < NETWORK_FULL:
        return None
    return Found(
        kind=BottleneckKind.NETWORK,
        sentence=f"the network interface was full: {name} {100 * use.network[name]:.0f} % of its speed",
        remedy="a faster network, smaller rows, or the load generator on the server's machine",
    )
