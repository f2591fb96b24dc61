"""What a plan says of the terms of its targets: methods without answers, and what --equal-durability comes to. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.model import Sweep, Trial
from scale_sweep.server.targets import Facts


def unanswered(trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> list[str]:
    """A sentence for each target and method without answers. facts_of: each target's, by its name."""
    used = sorted({(t.subject.target, t.subject.method) for t in trials}, key=lambda u: list(facts_of).index(u[0]))
    return [
        f"{name}: the method {method} has no answers: there are no response times, rows are those that the database "
        "counts at the end, and a request that was lost is not noticed before"
        for name, method in used
        if method in facts_of[name].unanswered
    ]


def durability(sweep: Sweep, trials: Sequence[Trial], facts_of: Mapping[str, Facts]) -> list[str]:
    """What --equal-durability comes to, for each target."""
    if not sweep.equal_durability:
        return []
    found = []
    for name, facts in facts_of.items():
        mine = [t for t in trials if t.subject.target == name]
        found.append(f"equal durability: {name} {_durability_of(facts, mine)}")
    return found


def _durability_of(facts: Facts, trials: Sequence[Trial]) -> str:
    if any(t.subject.method in facts.unanswered for t in trials):
        return "acknowledges nothing by this method, so nothing is set"
    if facts.fsynced is None:
        return f"has no setting for it: when it answers, rows are {facts.acknowledged}"
    if any(t.subject.endpoint for t in trials):
        return "is a server that runs already, whose settings stay as they are"
    other = {k: v for t in trials for k, v in t.knobs.items() if k in facts.fsynced and v != facts.fsynced[k]}
    if other:
        return f"keeps {', '.join(f'{k}={v}' for k, v in other.items())}, as asked"
    how = ", ".join(f"{k}={v}" for k, v in facts.fsynced.items()) or "its default"
    return f"answers when rows are fsynced ({how})"
