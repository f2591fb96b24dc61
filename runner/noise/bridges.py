"""The gain across a boundary where knobs moved, split into hardware and knobs: logarithms of the ratios add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.model import BridgeSplit, TrialResult, VerdictKind
from runner.noise.spread import Rates, log_rate, ratio_of, variant_of


def bridge_splits(results: Sequence[TrialResult], rate: str, rates: Rates) -> tuple[BridgeSplit, ...]:
    """One for each boundary with VALID trials on all sides: before it, after it, and after it with the old knobs."""
    bridged: dict[tuple[float, float, str], list[TrialResult]] = {}
    for result in results:
        if result.trial.role == "bridge" and result.trial.bridged_from is not None:
            key = (result.trial.bridged_from, result.trial.level, variant_of(result))
            bridged.setdefault(key, []).append(result)
    found = [_split(key, trials, results, rate, rates) for key, trials in sorted(bridged.items())]
    return tuple(split for split in found if split is not None)


def _split(
    key: tuple[float, float, str],
    trials: Sequence[TrialResult],
    results: Sequence[TrialResult],
    rate: str,
    rates: Rates,
) -> BridgeSplit | None:
    before, after, variant = key
    old, new = rates.logs.get((before, variant)), rates.logs.get((after, variant))
    known = [log_rate(r, rate) for r in trials if r.verdict.kind is VerdictKind.VALID]
    middle = [value for value in known if value is not None]
    if not old or not new or not middle:
        return None
    point = next(r for r in results if r.trial.role == "point" and (r.trial.level, variant_of(r)) == (after, variant))
    return BridgeSplit(
        before=before,
        after=after,
        variant=variant,
        knobs=_moved(trials[0].trial.knobs, point.trial.knobs),
        total=ratio_of(new, old, rates),
        hardware=ratio_of(middle, old, rates),
        by_knobs=ratio_of(new, middle, rates),
    )


def _moved(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {old.get(name, '?')} → {value}" for name, value in new.items() if old.get(name) != value)
