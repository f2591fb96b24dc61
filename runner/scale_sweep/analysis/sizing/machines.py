"""The machines of a price list against what the runs need, and which run decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.base.units import format_bytes, format_number
from scale_sweep.model import MEMORY
from scale_sweep.model.sizing import PRICED, LevelChance, LevelNeed, Offer, PricedMachine, PriceList, Sizing

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
    """The run with the larger need: that whose own cheapest machine costs more. Of runs of one axis, that with the
    higher level. "" if there is one run, or none is larger."""
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
    """The least amount of each quantity that a machine must have, for all runs."""
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
