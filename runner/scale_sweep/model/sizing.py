"""The smallest level that holds a rate, and the machines of a price list that have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.resources import CORES, DISKS, MEMORY

PRICED = (CORES, MEMORY, DISKS)


def is_priced(quantity: str) -> bool:
    return quantity in PRICED


@dataclass(frozen=True, kw_only=True)
class PricedMachine:
    """That can be rented."""

    name: str
    amounts: Mapping[str, float]  # by quantity (PRICED); memory in bytes
    price_per_hour: float


@dataclass(frozen=True, kw_only=True)
class PriceList:
    machines: tuple[PricedMachine, ...]
    currency: str = ""

    @property
    def money(self) -> str:
        return self.currency or "unit of money"


@dataclass(frozen=True, kw_only=True)
class LevelChance:
    """The curve at a level (95 %), and the chance that it is below the wanted rate."""

    level: float
    rate: float | None
    low: float | None
    high: float | None
    miss: float | None  # at most, over all models
    is_measured: bool = False  # has trials that count
    joules_per_million_rows: float | None = None  # their mean


@dataclass(frozen=True, kw_only=True)
class NextSweep:
    """Would settle an open question; its seconds are an estimate."""

    levels: tuple[float, ...]
    added: tuple[float, ...]  # that the run lacks
    replicates: int
    seconds: float
    reaches: bool = True  # its fit would reach the rate, if the curve continues


@dataclass(frozen=True, kw_only=True)
class LevelNeed:
    """The smallest level that holds a rate, or why there is none."""

    run: str
    axis: str
    unit: str
    rate_words: str
    wanted: float  # in rate_words
    level: float | None  # the smallest that misses with at most 5 %
    low: float | None = None  # low, high: 95 %; high None: open
    high: float | None = None
    reason: str = ""
    chances: tuple[LevelChance, ...] = ()  # of all tried levels, ascending
    by_model: bool = True  # without a model only measured levels count
    notes: tuple[str, ...] = ()
    settled_by: NextSweep | None = None
    granted: Mapping[str, float] = field(default_factory=dict)  # besides, by quantity

    @property
    def below(self) -> LevelChance | None:
        lower = [c for c in self.chances if self.level is not None and c.level < self.level and c.miss is not None]
        return lower[-1] if lower else None

    def at(self, level: float) -> LevelChance | None:
        return next((c for c in self.chances if c.level == level), None)


@dataclass(frozen=True, kw_only=True)
class Offer:
    machine: PricedMachine
    lacks: str  # in words; "": nothing
    rate: float | None  # rate, low, high: of the curve, the lowest over the runs; None: beyond the fits
    low: float | None
    high: float | None
    miss: float | None
    per_unit: float | None  # of the first run's axis
    per_money: float | None  # rows or requests


@dataclass(frozen=True, kw_only=True)
class Sizing:
    need: float
    headroom: float  # 0.3 for 30 %
    needs: tuple[LevelNeed, ...]
    prices: PriceList | None = None
    offers: tuple[Offer, ...] = ()  # by price
    cheapest: Offer | None = None  # that has enough
    decides: str = ""  # the run with the larger need

    @property
    def wanted(self) -> float:
        return self.need * (1 + self.headroom)

    @property
    def is_answered(self) -> bool:
        has_levels = all(need.level is not None for need in self.needs)
        return has_levels and (self.prices is None or self.cheapest is not None)
