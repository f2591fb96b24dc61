"""Levels beyond which the CPU placement adds CPUs of another kind: SMT siblings of used cores, slower cores, or another
NUMA node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scale_sweep.analysis.fit.candidates import Candidate
from scale_sweep.analysis.fit.models import WITH_BREAK, Floats, rates
from scale_sweep.analysis.fit.squares import solve
from scale_sweep.base.units import with_interval
from scale_sweep.model import NUMA_SPREAD, SLOW_CORES, SMT_WITHIN, KnownBreak, Placement


def known_breaks(placements: Mapping[float, Placement]) -> tuple[KnownBreak, ...]:
    """The breaks of an axis, ascending. placements: of each level.

    Where the level is a number of CPUs, SMT siblings and slower cores begin at the first CPU that is one. Of another
    NUMA node only the levels are known: the break is then at the last level with one node.
    """
    levels = sorted(placements)
    on_two_nodes = [level for level in levels if len(placements[level].nodes) > 1]
    breaks = []
    for knob, label, words, of in (
        (SMT_WITHIN, "SMT siblings", "the added CPUs are SMT siblings of used cores", _siblings),
        (SLOW_CORES, "slower cores", "the added CPUs are cores of a slower kind", _slow),
    ):
        if (exact := _first_of(placements, of)) is not None:
            breaks.append(KnownBreak(after=exact, knob=knob, label=label, words=words))
    if (after := _last_before(levels, on_two_nodes)) is not None:
        words = "the added CPUs are on another NUMA node"
        breaks.append(KnownBreak(after=after, knob=NUMA_SPREAD, label="another NUMA node", words=words))
    return tuple(sorted(breaks, key=lambda one: one.after))


def _siblings(placement: Placement) -> tuple[int, ...]:
    return placement.smt_cpus


def _slow(placement: Placement) -> tuple[int, ...]:
    return placement.slow_cpus


def _first_of(placements: Mapping[float, Placement], of: Callable[[Placement], tuple[int, ...]]) -> float | None:
    """The level after which CPUs of another kind begin; None if they are not those of the upper levels."""
    levels = sorted(placements)
    those = [level for level in levels if of(placements[level])]
    after = _last_before(levels, those)
    if after is None:
        return None
    most = placements[levels[-1]]
    whole = next(i for i, cpu in enumerate(most.server_cpus) if cpu in of(most))
    return float(whole) if after <= whole < those[0] else after


def _last_before(levels: Sequence[float], those: Sequence[float]) -> float | None:
    """The last level before `those`; None if they are not the upper part of the levels."""
    before = [level for level in levels if level not in those]
    return before[-1] if before and those and before[-1] < those[0] else None


def best_knot(levels: Floats, measured: Floats, breaks: Sequence[KnownBreak]) -> float | None:
    """The break at which two lines fit best. None if no break lies within the levels.

    levels, measured: of each trial, by level.
    """
    inside = [one.after for one in breaks if len(levels) and levels[0] <= one.after < levels[-1]]
    return min(inside, key=lambda at: _squares(levels, measured / measured.mean(), at), default=None)


def _squares(levels: Floats, measured: Floats, at: float) -> float:
    solution = solve("linear_break", levels, np.ones_like(levels), measured[None], knot=at)
    return float(np.sum((rates("linear_break", solution, levels)[0] - measured) ** 2))


def break_of(chosen: Candidate | None, breaks: Sequence[KnownBreak]) -> KnownBreak | None:
    """The break that a model has; None if it has none."""
    if chosen is None or chosen.model not in WITH_BREAK:
        return None
    return next((one for one in breaks if one.after == chosen.value("break")), None)


def break_words(chosen: Candidate, known: KnownBreak | None) -> str:
    """A clause on what the added units are and are worth: "the added CPUs are SMT siblings of used cores, each worth
    25.1 (21.3 to 29.0) % of one before"."""
    kind = known.words if known else "the added units differ in kind"
    low, high = (None if end is None else 100 * end for end in chosen.interval("share"))
    return f"{kind}, each worth {with_interval(100 * chosen.value('share'), low, high, ' %')} of one before"
