"""Splits the gain across a boundary where knobs moved into hardware and knobs: logarithms of the ratios add up."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.noise.spread import Rates, ratio_of
from scale_sweep.analysis.noise.trend import log_value
from scale_sweep.model import AblationSplit, Observation


def ablation_splits(observed: Sequence[Observation], rates: Rates) -> tuple[AblationSplit, ...]:
    """One split for each boundary that has counting trials before it, after it, and after it with the old knobs."""
    ablated: dict[tuple[float, float, str], list[Observation]] = {}
    for one in observed:
        if one.role == "ablation" and one.knobs_of_level is not None:
            ablated.setdefault((one.knobs_of_level, *one.point), []).append(one)
    found = [_split(key, of_it, rates) for key, of_it in sorted(ablated.items())]
    return tuple(split for split in found if split is not None)


def _split(key: tuple[float, float, str], observed: Sequence[Observation], rates: Rates) -> AblationSplit | None:
    before, after, subject = key
    old, new = rates.logs.get((before, subject)), rates.logs.get((after, subject))
    middle = [value for o in observed if not o.mark and (value := log_value(o)) is not None]
    if not old or not new or not middle:
        return None
    return AblationSplit(
        before=before,
        after=after,
        variant=subject,
        total=ratio_of(new, old, rates),
        hardware=ratio_of(middle, old, rates),
        by_knobs=ratio_of(new, middle, rates),
    )
