"""Sizes: the smallest level of a run that holds a rate, and the machines of a price list that have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.resources import CORES, DISKS, MEMORY

PRICED = (CORES, MEMORY, DISKS)  # the quantities of a machine in a price list


def is_priced(quantity: str) -> bool:
    return quantity in PRICED


@dataclass(frozen=True, kw_only=True)
class PricedMachine:
    """A machine that can be rented."""

    name: str
    amounts: Mapping[str, float]  # by quantity (PRICED): cores, memory in bytes, disks
    price_per_hour: float


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """Machines and the currency of their prices ("" if the list names none)."""

    machines: tuple[PricedMachine, ...]
    currency: str = ""

    @property
    def money(self) -> str:
        """One unit of money in words."""
        return self.currency or "unit of money"


@dataclass(frozen=True, kw_only=True)
class LevelChance:
    """The curve at a level: its rate with the 95 % interval, and the chance that it is below the wanted rate."""

    level: float
    rate: float | None
    low: float | None
    high: float | None
    miss: float | None  # at most, over all models that the interval covers
    is_measured: bool = False  # the level has trials that count
    joules_per_million_rows: float | None = None  # their mean; None if the kernel did not count energy


@dataclass(frozen=True, kw_only=True)
class NextSweep:
    """The sweep that would settle an open question: its levels, its replicates, and its time in seconds, an estimate
    from the plan of the run."""

    levels: tuple[float, ...]
    added: tuple[float, ...]  # the levels that the run lacks
    replicates: int
    seconds: float
    reaches: bool = True  # the fit of that sweep would reach the rate, if the curve continues as it is


@dataclass(frozen=True, kw_only=True)
class LevelNeed:
    """The smallest level of a run that holds a rate, or the reason why there is none."""

    run: str
    axis: str
    unit: str
    rate_words: str
    wanted: float  # the rate, in the unit `rate_words`
    level: float | None  # the smallest whose chance to miss is at most 5 %
    # low, high: the 95 % interval of the smallest level that holds it; high None: open. below: the level before, with
    # its chance to miss
    low: float | None = None
    high: float | None = None
    reason: str = ""
    chances: tuple[LevelChance, ...] = ()  # of all levels that were tried, ascending
    by_model: bool = True  # whether a model is behind them; without one, only measured levels count
    notes: tuple[str, ...] = ()
    settled_by: NextSweep | None = None
    granted: Mapping[str, float] = field(default_factory=dict)  # what the trials had besides, by quantity

    @property
    def below(self) -> LevelChance | None:
        lower = [c for c in self.chances if self.level is not None and c.level < self.level and c.miss is not None]
        return lower[-1] if lower else None

    def at(self, level: float) -> LevelChance | None:
        return next((c for c in self.chances if c.level == level), None)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A machine against the needs."""

    machine: PricedMachine
    lacks: str  # what it has too little of, in words; "" if it has enough
    # rate, low, high: of the curve with all that the machine has, the lowest over the runs; None beyond the fits
    rate: float | None
    low: float | None
    high: float | None
    miss: float | None
    per_unit: float | None  # rate for each unit of the first run's axis, such as a core
    per_money: float | None  # rows or requests for each unit of money


@dataclass(frozen=True, kw_only=True)
class Sizing:
    """The answer of `scale size`."""

    need: float
    headroom: float  # a share of the need, 0.3 for 30 %
    needs: tuple[LevelNeed, ...]
    prices: PriceList | None = None
    offers: tuple[Offer, ...] = ()  # by price; empty without a price list
    cheapest: Offer | None = None  # the cheapest machine that has enough; None if there is none
    decides: str = ""  # the run with the larger need, if there are several

    @property
    def wanted(self) -> float:
        """The rate that must be held: the need with its headroom."""
        return self.need * (1 + self.headroom)

    @property
    def is_answered(self) -> bool:
        """Whether every run has a level, and the price list, if there is one, a machine."""
        has_levels = all(need.level is not None for need in self.needs)
        return has_levels and (self.prices is None or self.cheapest is not None)
