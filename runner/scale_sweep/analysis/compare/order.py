"""The order in which the sessions of A and of B ran, and whether a drift of the machine would look like a
difference."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from scale_sweep.model import StoredRun

SHARE_MAX = 0.5  # by bench/method_gates.py: false alarms stay below 5 % on a machine that drifts by 1 % a session
UNKNOWN = "the order of the sessions is not known: a change of the machine over time may be part of the difference"


def order_of(a: Sequence[StoredRun], b: Sequence[StoredRun]) -> str:
    """The sessions by their start, like "ABBA"; "" if it is not known."""
    starts = [(start_of(run), name) for name, runs in (("A", a), ("B", b)) for run in runs]
    known = sorted((start, name) for start, name in starts if start is not None)
    if len({start for start, _ in known}) < len(starts):
        return ""
    return "".join(name for _, name in known)


def start_of(run: StoredRun) -> datetime | None:
    """The time at which a run was made, from its manifest; without a time zone it is UTC. None if it has none."""
    try:
        start = datetime.fromisoformat(str(run.manifest.get("created_utc") or ""))
    except ValueError:
        return None
    return start if start.tzinfo is not None else start.replace(tzinfo=UTC)


def share_of_drift(order: str) -> float:
    """The distance of the mean places of A and of B in the order, as a share of the largest possible one.

    A drift that is linear in the order moves the difference of the means in proportion to it. "ABBA": 0. "ABAB": 0.5.
    "AABB": 1. Without an order: 0.
    """
    places = {name: [at for at, one in enumerate(order) if one == name] for name in "AB"}
    if not places["A"] or not places["B"]:
        return 0.0
    mean_a, mean_b = (sum(places[name]) / len(places[name]) for name in "AB")
    return abs(mean_b - mean_a) / (len(order) / 2)


def doubt_about(order: str) -> str:
    """Why sessions in this order cannot be judged; "" if they can."""
    if share_of_drift(order) <= SHARE_MAX:
        return ""
    return (
        f"the sessions ran in the order {' '.join(order)}: a change of the machine over time looks like a difference "
        "of A and B"
    )
