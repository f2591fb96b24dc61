"""A comparison: the ratio of rates at each point, what else differs, and how certain it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Spread = Literal["replicates", "common", "seconds", "sessions", "blocks"]


@dataclass(frozen=True, kw_only=True)
class PointRatio:
    """One point of both runs. ratio is B's rate over A's (geometric means of the VALID trials)."""

    level: float | None  # None for all points together
    variant: str
    trials_a: int
    trials_b: int
    # rate_a, rate_b: in the comparison's unit (requests/s where the load reads)
    rate_a: float | None = None
    rate_b: float | None = None
    ratio: float | None = None
    # low, high: the 95 % interval of this point alone
    low: float | None = None
    high: float | None = None
    p_value: float | None = None  # of no difference
    p_holm: float | None = None  # the same, for all points together
    # the difference that this many trials would show four times in five, among so many points
    smallest_percent: float | None = None
    spread: Spread | None = None  # the source of the noise
    own_spread: bool = False  # this point was so much noisier than the others that its own spread is used
    differs: bool = False
    missing: str = ""  # why there is no ratio; then the figures are None
    # error, degrees: the standard error of ln(ratio), and its degrees of freedom
    error: float | None = None
    degrees: float | None = None
    # low_one_sided, high_one_sided: the ends of the two one-sided 95 % intervals, which gates use
    low_one_sided: float | None = None
    high_one_sided: float | None = None


@dataclass(frozen=True, kw_only=True)
class Differing:
    """Something that is not the same in both runs."""

    kind: str  # tool, server, host, settings, sweep, knobs, load
    name: str
    a: str
    b: str


@dataclass(frozen=True, kw_only=True)
class FalseAlarms:
    """Pairs of runs without a difference, drawn from these runs' own noise: how many of `draws` were called
    different."""

    draws: int
    any_percent: float  # at least one point, or all together
    slower_percent: float | None  # called slower by more than allowed; None if nothing was allowed
    spread: Spread


GateKind = Literal["fail_if_slower", "same_within", "prove_not_slower"]
GateAnswer = Literal["shown", "not shown", "slower", "not found", "not measured", "not judged"]


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The question that a script asks of a comparison, with a percentage of A's rate.

    fail_if_slower: is B found to be slower by more? same_within: is B shown to differ by less? prove_not_slower: is B
    shown to be slower by less, or faster?
    """

    kind: GateKind
    percent: float

    @property
    def flag(self) -> str:
        """The option as a person writes it: "--same-within 3%"."""
        return f"--{self.kind.replace('_', '-')} {self.percent:g}%"

    @property
    def must_be_shown(self) -> bool:
        """Whether a comparison that shows nothing fails the gate."""
        return self.kind != "fail_if_slower"

    @property
    def low(self) -> float:
        """The lowest ratio that is accepted."""
        return 1 - self.percent / 100

    @property
    def high(self) -> float:
        """The highest ratio that --same-within accepts."""
        return 1 + self.percent / 100


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """The answer of a comparison to a gate. shown, not found: it passes. slower: B is slower by more than the
    percentage, and noise does not explain it. not measured: B has no VALID trial at a point where A has."""

    kind: GateKind
    percent: float
    answer: GateAnswer
    sentence: str
    # level, low, high: the point that decides (None: all points together), and the ends of its one-sided 95 % intervals
    # as ratios
    level: float | None = None
    low: float | None = None
    high: float | None = None
    # how many repeats (needed_unit: of what) would show it four times in five if A and B are equally fast; None if that
    # was not the question, or for more than 100
    needed: int | None = None
    needed_unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """rate: the unit of all rates, rows/s or requests/s. points: in the order of the axis. overall: all points
    together, with equal weights. slower: the points (or "all points") that are slower than allowed_percent (that of the
    gate) and whose difference noise does not explain.

    unjudged: points where A has VALID trials, and B planned some and has none. sessions_a, sessions_b: the number of
    runs of each. session_percent: the standard deviation between sessions; None for one run each. not_judged_because:
    why the comparison cannot answer for a script; "" if it can. session_order: the sessions by their start, like
    "ABBA"; "" if it is not known.
    """

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
    sessions_a: int = 1
    sessions_b: int = 1
    session_percent: float | None = None
    not_judged_because: str = ""
    session_order: str = ""
    gate: GateResult | None = None
