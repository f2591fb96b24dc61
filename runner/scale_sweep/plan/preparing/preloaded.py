"""Findings about the rows that are loaded before the load: space for them, and whether they can be cold. Reads only."""

from __future__ import annotations

from scale_sweep.model import Finding, Plan
from scale_sweep.plan.data_sets import bytes_needed
from scale_sweep.server.targets import load_facts


def space(plan: Plan, free_bytes: int) -> list[Finding]:
    """Whether the data sets, a copy for a trial and the reserve fit on the disk."""
    needed, reserve = bytes_needed(plan.trials), plan.sweep.disk_free_min_bytes
    if needed + reserve <= free_bytes:
        return []
    sentence = (
        f"the rows of --preload take about {needed / 1e6:,.0f} MB, with the copy for a trial, and "
        f"{reserve / 1e6:,.0f} MB must stay free; {free_bytes / 1e6:,.0f} MB are free"
    )
    remedy = "free some space, choose another disk with --data-dir, or lower --preload"
    return [Finding(blocking=True, subject="--data-dir", sentence=sentence, remedy=remedy)]


def cold(plan: Plan, *, in_memory: bool) -> list[Finding]:
    """What prevents that the data of a trial are cold."""
    found = []
    for subject in {t.subject.server: t.subject for t in plan.trials if t.work.cache == "cold"}.values():
        facts = load_facts(subject.target)
        if subject.endpoint:
            found.append("a server that already runs is not started again")
        elif not facts.keeps_data:
            found.append(f"{facts.title} cannot be started again on its own files yet")
        elif in_memory:
            found.append("data in memory are never cold")
    remedy = "--cache as-is, or a --data-dir on a disk" if in_memory else "--cache as-is"
    return [Finding(blocking=True, subject="--cache", sentence=sentence, remedy=remedy) for sentence in found]
