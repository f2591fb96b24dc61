"""The machines of a price list against the needs, and the sweep that settles what is open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from scale_sweep.analysis.fit.beyond import Known, chances_below, need, predict
from scale_sweep.analysis.fit.choice import LEVELS_FOR_A_MODEL
from scale_sweep.analysis.fit.derived import levels_for
from scale_sweep.analysis.fit.next_level import with_next_level
from scale_sweep.base.units import format_bytes, format_number
from scale_sweep.model.fitted import REACH
from scale_sweep.model.planned import Plan
from scale_sweep.model.resources import MEMORY
from scale_sweep.model.sizing import PRICED, LevelChance, LevelNeed, NextSweep, Offer, PricedMachine, PriceList, Sizing

_S_PER_HOUR = 3600.0
_HAIR = 1e-9


def sized(need: float, headroom: float, needs: Sequence[LevelNeed], prices: PriceList | None) -> Sizing:
    answer = Sizing(need=need, headroom=headroom, needs=tuple(needs), prices=prices, decides=_decides(needs, prices))
    if prices is None:
        return answer
    machines = sorted(prices.machines, key=lambda m: (m.price_per_hour, m.name))
    offers = tuple(_offer(machine, needs) for machine in machines)
    has_levels = all(one.level is not None for one in needs)
    cheapest = next((o for o in offers if not o.lacks), None) if has_levels else None
    return Sizing(**{**vars(answer), "offers": offers, "cheapest": cheapest})


def _decides(needs: Sequence[LevelNeed], prices: PriceList | None) -> str:
    """The run whose own cheapest machine costs more; of one axis, that with the higher level."""
    known = [one for one in needs if one.level is not None]
    if len(needs) < 2 or len(known) < len(needs):
        return ""
    if len({one.axis for one in known}) == 1:
        return max(known, key=lambda one: one.level or 0.0).run
    costs = [_least_price(one, prices) for one in known] if prices is not None else []
    if None in costs or len(set(costs)) < 2:
        return ""
    return max(zip(costs, known, strict=True), key=lambda pair: pair[0] or 0.0)[1].run


def _least_price(one: LevelNeed, prices: PriceList | None) -> float | None:
    machines = prices.machines if prices is not None else ()
    return min((m.price_per_hour for m in machines if not _lacks(m, needed([one]))), default=None)


def needed(needs: Sequence[LevelNeed]) -> dict[str, float]:
    """The least amount of each quantity, for all runs."""
    amounts: dict[str, float] = {}
    for one in needs:
        for name, value in {**one.granted, one.axis: one.level or 0.0}.items():
            if name in PRICED:
                amounts[name] = max(value, amounts.get(name, 0.0))
    return amounts


def _lacks(machine: PricedMachine, amounts: Mapping[str, float]) -> str:
    short = [
        f"{_amount(name, value)} needed"
        for name, value in amounts.items()
        if machine.amounts.get(name, 0.0) < value * (1 - _HAIR)
    ]
    return ", ".join(short)


def _amount(name: str, value: float) -> str:
    return f"{format_bytes(int(value))} of memory" if name == MEMORY else f"{format_number(value)} {name}"


def _offer(machine: PricedMachine, needs: Sequence[LevelNeed]) -> Offer:
    seen = [one.at(machine.amounts.get(one.axis, 0.0)) for one in needs]
    chances = [c for c in seen if c is not None and c.rate is not None]
    worst = min(chances, key=_rate) if chances and len(chances) == len(needs) else None
    rate = _rate(worst) if worst is not None else None
    units = machine.amounts.get(needs[0].axis, 0.0) if needs else 0.0
    misses = [c.miss for c in chances if c.miss is not None]
    return Offer(
        machine=machine,
        lacks=_lacks(machine, needed(needs)),
        rate=rate,
        low=worst.low if worst is not None else None,
        high=worst.high if worst is not None else None,
        miss=max(misses) if worst is not None and len(misses) == len(needs) else None,
        per_unit=rate / units if rate is not None and units else None,
        per_money=rate * _S_PER_HOUR / machine.price_per_hour if rate is not None else None,
    )


def _rate(chance: LevelChance) -> float:
    return chance.rate or 0.0


_SURE = 0.975  # a chance to miss above this, by the most hopeful model, is no question any more
_WIDE = 1.5  # the ends of an interval of levels whose ratio is larger are worth a measurement
REPLICATES_MIN, REPLICATES_MAX = 2, 10
_ADDED_MAX = 4  # levels: sixteen times the highest one


def next_sweep(plan: Plan, known: Known, answer: LevelNeed) -> NextSweep | None:
    """None if nothing is open, or if no sweep of this axis can settle it."""
    if not len(known.rows.distinct) or not _is_open(answer):
        return None
    if answer.level is not None:
        return _narrower(plan, known, answer.level) if answer.by_model else None
    if known.lost and known.chosen is not None:
        return _sweep(plan, known, [r.level for r in known.lost])
    if known.chosen is None and np.any(known.rows.means >= answer.wanted):
        return _sweep(plan, known, [], times=2)
    if (chosen := known.chosen) is None:  # along a line
        return _upward(plan, known, answer.wanted * float(known.rows.distinct[-1] / known.rows.means[-1]))
    reached = need(known, [answer.wanted])[0].level
    if reached is not None:
        is_beyond = reached > known.rows.distinct[-1]  # the farther the level, the more the rate exceeds the need
        return _sweep(plan, known, [known.limit]) if is_beyond else _narrower(plan, known, reached)
    crossing = float(levels_for(chosen.model, chosen.values[None], answer.wanted, chosen.unit_level)[0])
    if math.isfinite(crossing):
        return _upward(plan, known, crossing) if crossing > known.limit else None
    least, _ = chances_below(known, np.array([known.limit]), answer.wanted)
    return _sweep(plan, known, [known.limit]) if least[0] <= _SURE and not known.falls else None


def _is_open(answer: LevelNeed) -> bool:
    if answer.level is None or answer.high is None or answer.low is None:
        return True
    return answer.high > _WIDE * answer.low and answer.high - answer.low > 1


def _upward(plan: Plan, known: Known, crossing: float) -> NextSweep:
    measured = [float(level) for level in known.rows.distinct]
    added = [REACH * measured[-1]]
    while len(added) < _ADDED_MAX and (len(measured) + len(added) < LEVELS_FOR_A_MODEL or REACH * added[-1] < crossing):
        added.append(REACH * added[-1])
    return replace(_sweep(plan, known, added), reaches=REACH * added[-1] >= crossing)


def _narrower(plan: Plan, known: Known, level: float) -> NextSweep:
    """With the level that halves the interval; else the level itself, else replicates."""
    halved = with_next_level(known, predict(known, [level])[0]).halved_by
    place = halved if halved is not None else float(math.ceil(level)) if level > known.rows.distinct[-1] else None
    if place is not None and not np.any(known.rows.distinct == place):
        return _sweep(plan, known, [place])
    return _sweep(plan, known, [], times=2)


def _sweep(plan: Plan, known: Known, added: list[float], times: int = 1) -> NextSweep:
    levels = sorted({*map(float, known.rows.distinct), *added})
    replicates = min(max(times * plan.sweep.replicates, REPLICATES_MIN), max(REPLICATES_MAX, plan.sweep.replicates))
    return NextSweep(
        levels=tuple(levels),
        added=tuple(sorted(set(added))),
        replicates=replicates,
        seconds=plan.seconds_estimated / max(len(plan.trials), 1) * len(levels) * replicates,
    )
