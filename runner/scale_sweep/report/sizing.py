"""The answer of `scale size` in words and tables."""

from __future__ import annotations

import math
import shlex

from scale_sweep.analysis.fit.beyond import goes_on
from scale_sweep.base.units import counted, format_bytes, format_levels, format_number, format_rate, format_seconds
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.resources import CORES, DISKS, MEMORY
from scale_sweep.model.sizing import LevelChance, LevelNeed, NextSweep, Offer, PriceList, Sizing
from scale_sweep.report.run_facts import command_of
from scale_sweep.report.table import ABSENT, Table, short

ENERGY = "J per M rows"
_MISS_SHOWN = 0.005  # smaller chances are "under 0.5 %"


def answer_words(sizing: Sizing) -> tuple[str, ...]:
    """ "8 cores (7 to 10, 95 %) for 2.6 M rows/s; m-8 at 0.40/h"; of several runs, a sentence for each, then the
    result."""
    machine = machine_words(sizing)
    if len(sizing.needs) == 1:
        return (_need_words(sizing, sizing.needs[0], machine),)
    sentences = [f"{one.run}: {_need_words(sizing, one)}" for one in sizing.needs]
    larger = [f"{one.run} has the larger need: {level_words(one)}" for one in sizing.needs if one.run == sizing.decides]
    return (*sentences, *larger[:1], *filter(None, (machine,)))


def wanted_words(sizing: Sizing) -> str:
    """The rate that must be held: "2.6 M rows/s (2 M and 30 % headroom)"."""
    unit = sizing.needs[0].rate_words
    if not sizing.headroom:
        return f"{format_rate(sizing.need)} {unit}"
    return f"{format_rate(sizing.wanted)} {unit} ({format_rate(sizing.need)} and {100 * sizing.headroom:g} % headroom)"


def _need_words(sizing: Sizing, one: LevelNeed, machine: str = "") -> str:
    if one.level is None:
        return f"no number of {one.axis} is shown to hold {wanted_words(sizing)}: {one.reason}"
    parts = [f"{level_words(one)} for {wanted_words(sizing)}", machine]
    if one.below is not None:
        below = counted(one.below.level, one.unit, one.axis)
        parts.append(f"with {below} the chance to miss is {miss_words(one.below.miss, most=True)}")
    parts.append(goes_on(one.level, max((c.level for c in one.chances if c.is_measured), default=math.inf)))
    return "; ".join(filter(None, parts))


def level_words(one: LevelNeed) -> str:
    """ "8 cores (7 to 10, 95 %)"."""
    if one.level is None:
        return ABSENT
    level = one.level
    ends = (one.low if one.low is not None else level), one.high
    count = counted(level, one.unit, one.axis)
    if not one.by_model:
        return f"{count} (of the measured levels)"
    if ends[1] is None:
        return f"{count} ({format_number(ends[0])} or more, 95 %)"
    if ends[0] == ends[1]:
        return f"{count} (95 %)"
    return f"{count} ({format_number(ends[0])} to {format_number(ends[1])}, 95 %)"


def miss_words(miss: float | None, *, most: bool = False) -> str:
    """A chance in percent: "22 %", "under 0.5 %", "over 99.5 %". most: "up to 22 %"."""
    if miss is None:
        return ABSENT
    if miss < _MISS_SHOWN:
        return f"under {100 * _MISS_SHOWN:g} %"
    if miss > 1 - _MISS_SHOWN:
        return f"over {100 * (1 - _MISS_SHOWN):g} %"
    return f"{'up to ' if most else ''}{100 * miss:.2g} %"


def machine_words(sizing: Sizing) -> str:
    if sizing.prices is None or any(one.level is None for one in sizing.needs):
        return ""
    offer = sizing.cheapest
    if offer is None:
        largest = max(sizing.offers, key=lambda o: o.machine.amounts.get(sizing.needs[0].axis, 0.0))
        return f"no machine of the price list has enough ({largest.machine.name}: {largest.lacks})"
    return f"{offer.machine.name} at {price_words(offer, sizing.prices)}"


def price_words(offer: Offer, prices: PriceList) -> str:
    currency, price = f" {prices.currency}" if prices.currency else "", offer.machine.price_per_hour
    money = f"{price:,.2f}" if price >= 0.1 or round(price, 2) == price else f"{price:.3g}"
    return f"{money}{currency}/h"


def levels_table(one: LevelNeed) -> Table:
    """The levels that were tried, with the chance to miss."""
    has_energy = any(c.joules_per_million_rows is not None for c in one.chances)
    rows = tuple(_level_row(one, c, has_energy=has_energy) for c in one.chances)
    unit, energy = one.rate_words, (ENERGY,) if has_energy else ()
    return Table(
        title=f"Levels of {one.run}",
        headers=(one.axis, unit, f"{unit} per {one.unit}", *energy, "chance to miss", ""),
        rows=rows,
        words=(4 + has_energy,),
        notes=(
            "Chance to miss: the largest over all models that the interval of the rate covers. It belongs to the "
            "long-run rate, not to one more trial."
            if one.by_model
            else "Chance to miss: by the trials of the level alone.",
        ),
    )


def _level_row(one: LevelNeed, c: LevelChance, *, has_energy: bool) -> tuple[str, ...]:
    marks = ["measured"] if c.is_measured else ["by the fit"]
    marks += ["← smallest"] if c.level == one.level else []
    if c.rate is None:
        return format_number(c.level), *(ABSENT for _ in range(3 + has_energy)), ""
    ends = [end / c.level if end is not None else None for end in (c.low, c.high)]
    return (
        format_number(c.level),
        format_rate(c.rate, c.low, c.high),
        format_rate(c.rate / c.level, *ends),
        *((short(c.joules_per_million_rows),) if has_energy else ()),
        miss_words(c.miss),
        ", ".join(marks),
    )


def machines_table(sizing: Sizing) -> Table:
    """The price list by price, with the rate of each machine."""
    if sizing.prices is None:
        return Table(title="Machines", headers=(), rows=())
    one = sizing.needs[0]
    million, thing = sizing.prices.money, one.rate_words.partition("/")[0]
    of_machine = " and ".join(dict.fromkeys(need.axis for need in sizing.needs))
    lowest = ", the lowest of all runs" if len(sizing.needs) > 1 else ""
    return Table(
        title="Machines",
        headers=("machine", "cores", "memory", "disks", "price", one.rate_words, f"per {one.unit}",
                 f"M {thing} per {million}", "chance to miss", ""),
        rows=tuple(_offer_row(sizing, offer) for offer in sizing.offers),
        words=(0, 9),
        notes=(
            f"The rate is that of the curve with all {of_machine} of the machine{lowest}. {ABSENT} : beyond the fit.",
            f"A {one.unit} of the list is taken for one as the run had it, and the load comes from elsewhere.",
        ),
        essential=(0, 4, 5, 7, 9),
    )  # fmt: skip


def _offer_row(sizing: Sizing, offer: Offer) -> tuple[str, ...]:
    machine, prices = offer.machine, sizing.prices
    assert prices is not None
    mark = "← cheapest" if offer is sizing.cheapest or offer == sizing.cheapest else offer.lacks
    return (
        machine.name,
        format_number(machine.amounts[CORES]),
        format_bytes(int(machine.amounts[MEMORY])),
        format_number(machine.amounts[DISKS]),
        price_words(offer, prices),
        format_rate(offer.rate, offer.low, offer.high),
        format_rate(offer.per_unit),
        short(offer.per_money / 1e6) if offer.per_money is not None else ABSENT,
        miss_words(offer.miss),
        mark,
    )


def settled_words(run: StoredRun, one: LevelNeed) -> tuple[str, ...]:
    """Which measurement settles an open answer, and its command; () if nothing is open."""
    sweep = one.settled_by
    if sweep is None:
        return ()
    names = ", ".join(map(format_number, sweep.added))
    added = f"{names} {one.unit if names == '1' else one.axis} beside the others" if names else "the same levels"
    times = counted(sweep.replicates, "replicate")
    purpose = "would narrow the interval" if one.level is not None else "is the sweep that settles it"
    if one.level is None and not sweep.reaches:
        purpose = "is the next step: even its fit would not reach the need"
    words = f"{added}, with {times}, {purpose}; it takes about {format_seconds(sweep.seconds)}"
    command = next_command(run, sweep)
    return (words, *((command,) if command else ()))


def next_command(run: StoredRun, sweep: NextSweep) -> str:
    """ "" if the command was not recorded, or was no `scale sweep`."""
    flags = {load_axis(run.plan.sweep.axis).flag: format_levels(sweep.levels), "--replicates": str(sweep.replicates)}
    words, kept, skip = shlex.split(command_of(run)), [], False
    if words[:2] != ["scale", "sweep"]:
        return ""
    for word in words:
        name = word.partition("=")[0]
        if not skip and name not in flags:
            kept.append(word)
        skip = not skip and name in flags and "=" not in word
    return shlex.join([*kept, *(part for flag, value in flags.items() for part in (flag, value))])
