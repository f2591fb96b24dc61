"""A trial with the knobs of its point: what they are, and what they make of its load. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from runner.model import Sweep, Trial
from runner.plan.grants import grants


def with_knobs(trial: Trial, knobs: Mapping[str, str]) -> Trial:
    """The trial with these knobs; its load gets as many connections and partitions as they say."""
    partitions = knobs.get("partitions") or knobs.get("vgroups") or "1"
    load = replace(trial.load, connections=_count(knobs.get("write_threads", "1")), partitions=_count(partitions))
    return replace(trial, knobs=knobs, load=load)


def with_connections(knobs: Mapping[str, str], connections: int | None) -> dict[str, str]:
    """The knobs of a level that sets the connections itself (None: it does not); no rule then says how many."""
    return dict(knobs) if connections is None else {**knobs, "write_threads": str(connections)}


def granted_knobs(sweep: Sweep) -> frozenset[str]:
    """Names of the knobs that the levels of the axis set themselves."""
    granted = [with_connections(grant.knobs, grant.connections) for grant in grants(sweep).values()]
    return frozenset(name for knobs in granted for name in knobs)


def _count(text: str) -> int:
    """0 for what is no number: the plan refuses it by its flag."""
    return int(text) if text.isdigit() else 0
