"""A comparison: the ratio at each point, what else differs, and how certain it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Spread = Literal["replicates", "common", "seconds", "sessions", "blocks"]


@dataclass(frozen=True, kw_only=True)
class PointRatio:
    """One point of both runs: B's rate over A's (geometric means of the VALID trials)."""

    level: float | None  # None: all points together
    variant: str
    trials_a: int
    trials_b: int
    rate_a: float | None = None  # rate_a, rate_b: in the comparison's unit
    rate_b: float | None = None
    ratio: float | None = None
    low: float | None = None  # low, high: the 95 % interval of this point alone
    high: float | None = None
    p_value: float | None = None  # of no difference
    p_holm: float | None = None  # for all points together
    smallest_percent: float | None = None  # which these trials would show four times in five
    spread: Spread | None = None  # the source of the noise
    own_spread: bool = False  # it is much noisier than the others
    differs: bool = False
    missing: str = ""  # then the figures are None
    error: float | None = None  # error, degrees: the standard error of ln(ratio)
    degrees: float | None = None
    low_one_sided: float | None = None  # *_one_sided: of the two one-sided 95 % intervals, for gates
    high_one_sided: float | None = None


@dataclass(frozen=True, kw_only=True)
class Differing:
    kind: str  # tool, server, host, settings, sweep, knobs, load
    name: str
    a: str
    b: str


@dataclass(frozen=True, kw_only=True)
class FalseAlarms:
    """How many of `draws` pairs of equal runs, with these runs' own noise, were called different."""

    draws: int
    any_percent: float
    slower_percent: float | None  # by more than allowed; None: nothing was allowed
    spread: Spread


GateKind = Literal["fail_if_slower", "same_within", "prove_not_slower"]
GateAnswer = Literal["shown", "not shown", "slower", "not found", "not measured", "not judged"]


@dataclass(frozen=True, kw_only=True)
class Gate:
    """B is found slower by more (fail_if_slower), shown to differ by less (same_within), or shown not to be slower by
    more."""

    kind: GateKind
    percent: float

    @property
    def flag(self) -> str:
        """As a person writes it: "--same-within 3%"."""
        return f"--{self.kind.replace('_', '-')} {self.percent:g}%"

    @property
    def must_be_shown(self) -> bool:
        return self.kind != "fail_if_slower"

    @property
    def low(self) -> float:
        return 1 - self.percent / 100

    @property
    def high(self) -> float:
        return 1 + self.percent / 100


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """slower: beyond noise. not measured: B has no VALID trial at a point where A has."""

    kind: GateKind
    percent: float
    answer: GateAnswer
    sentence: str
    # level, low, high: the deciding point (None: all together), with its one-sided 95 % interval
    level: float | None = None
    low: float | None = None
    high: float | None = None
    needed: int | None = None  # repeats that would show it four times in five if nothing differs, 100 at most
    needed_unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """unjudged: points of A for which B planned trials and has no VALID one. lacks_valid: too few VALID trials are why
    there is no answer. not_judged_because: "" if it can answer
    for a script. session_percent: a standard deviation. session_order: by start, like "ABBA"."""

    run_a: str
    run_b: str
    axis: str
    rate: str
    confidence_percent: float
    points: tuple[PointRatio, ...]
    overall: PointRatio | None
    differing: tuple[Differing, ...]
    false_alarms: FalseAlarms | None
    sentence: str
    cautions: tuple[str, ...]
    allowed_percent: float | None = None
    slower: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    lacks_valid: bool = False
    sessions_a: int = 1
    sessions_b: int = 1
    session_percent: float | None = None
    not_judged_because: str = ""
    session_order: str = ""
    gate: GateResult | None = None
