"""What else changes with the CPUs of the levels: SMT siblings, NUMA nodes, shared cores. Pure.

Refuses nothing: if a machine offers no better CPUs, the plan names what changes with the level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scale_sweep.base.units import format_cpus, format_levels, format_number
from scale_sweep.model import Confound, Placement, Sweep, Trial

Count = Callable[[Placement], int]


def cpu_confounds(sweep: Sweep, trials: Sequence[Trial]) -> tuple[Confound, ...]:
    """One confound for each property of the CPUs that is not the same at every level."""
    at = {trial.level: trial.placement for trial in sorted(trials, key=lambda t: t.level)}
    found = (_smt(sweep, at), _siblings(sweep, at), _nodes(sweep, at))
    return tuple(confound for confound in found if confound is not None)


def cpu_notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """SMT siblings of the server's CPUs that the load generator has at every level. This is not a confound."""
    at = {trial.level: trial.placement for trial in trials}
    found = {placement.sibling_cpus for placement in at.values()}
    if len(found) != 1 or not (cpus := found.pop()):
        return ()
    return (f"the load generator's CPU {format_cpus(cpus)} is an SMT sibling of the server's: they share a core",)


def _smt(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    moved = _moved(at, lambda p: len(p.smt_cpus))
    if not moved:
        return None
    values, levels = moved
    last = at[levels[-1]]
    return Confound(
        knob="SMT within the server",
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the server has SMT siblings of its own cores "
        f"({format_cpus(last.smt_cpus)} at {format_number(levels[-1])}): from there on a step of the curve is less "
        "than a core",
        remedy=_up_to(sweep, at, levels, "whole cores"),
    )


def _siblings(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    moved = _moved(at, lambda p: len(p.sibling_cpus))
    if not moved:
        return None
    values, levels = moved
    cpus = at[levels[-1]].sibling_cpus
    return Confound(
        knob="SMT between server and load generator",
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the load generator's CPU {format_cpus(cpus)} is an SMT "
        "sibling of the server's: both are slower there than at the other levels",
        remedy=_up_to(sweep, at, levels, "separate cores for server and load generator"),
    )


def _nodes(sweep: Sweep, at: Mapping[float, Placement]) -> Confound | None:
    moved = _moved(at, lambda p: max(0, len(p.nodes) - 1))
    if not moved:
        return None
    values, levels = moved
    return Confound(
        knob="the server's NUMA spread",
        values=values,
        sentence=f"at {format_levels(levels)} {sweep.axis} the server's CPUs are on {len(at[levels[-1]].nodes)} NUMA "
        "nodes: part of its memory is remote there",
        remedy=_up_to(sweep, at, levels, "one node"),
    )


def _moved(at: Mapping[float, Placement], count: Count) -> tuple[tuple[str, ...], tuple[float, ...]] | None:
    """The count at each level, and the levels that have one; None if it is the same at all levels."""
    counts = {level: count(placement) for level, placement in at.items()}
    if len(set(counts.values())) < 2:
        return None
    return tuple(map(str, counts.values())), tuple(level for level, n in counts.items() if n)


def _up_to(sweep: Sweep, at: Mapping[float, Placement], levels: Sequence[float], what: str) -> str:
    before = [level for level in at if level < levels[0]]
    return f"{format_levels(tuple(before))} {sweep.axis} have {what}" if before else ""
