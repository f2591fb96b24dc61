"""Disturbances of resources, and the bottleneck that they prove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DISTURBED_S = 60.0  # of a trial, at most
RESOURCES = {
    "cpu": "the server's CPUs",
    "load": "the load generator's CPUs",
    "disk": "the data disks",
    "clients": "the number of clients",
    "memory": "the memory bandwidth",
}
OF_LOAD = {"load", "clients"}  # a limit there is not the server's


@dataclass(frozen=True, kw_only=True)
class ProofInterval:
    """One interval of the load, wholly on or wholly off. left: for each resource the natural logarithm of the share of
    it that the disturbances left, as measured: 0 undisturbed, below 0 busier, above 0 more of it."""

    at_s: float
    seconds: float
    block: int
    rate: float
    left: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Elasticity:
    """Relative change of the rate for one of the resource, with 95 % (None: too few blocks)."""

    resource: str
    value: float
    low: float | None = None
    high: float | None = None
    size: float = 0.0  # of its disturbances: how much lower the logarithm of what they left was
    more_percent: float = 0.0  # of the rate that 10 % more of the resource would bring, with 95 %
    more_low: float | None = None
    more_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Proof:
    """causes: one resource: proved; several: they share it; none: none of the disturbed ones, or (with `reason`) not
    decided."""

    elasticities: tuple[Elasticity, ...] = ()
    causes: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ProofPhase:
    """A time in which exactly these resources are disturbed. start_s: since the first phase begins."""

    start_s: float
    seconds: float
    block: int
    on: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """Time that a phase took of one CPU, disk or set of connections. Times are since the window began. place "":
    nothing was disturbed. taken_s None: not known."""

    block: int
    start_s: float
    end_s: float
    resource: str = ""
    place: str = ""
    of: float = 1.0  # how many the place has, such as connections
    asked_s: float = 0.0
    taken_s: float | None = 0.0


@dataclass(frozen=True, kw_only=True)
class NextLevel:
    """The rate at the next level over that of this one: by the proof, if the resource went on to limit, and measured.
    With 95 % (None: not known)."""

    level: float
    predicted: float
    predicted_low: float | None
    predicted_high: float | None
    measured: float
    measured_low: float | None = None
    measured_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class LevelProof:
    """rules: the bottleneck of the level's trials by the rules. differs: the proof says something else."""

    level: float
    trial_id: str
    proof: Proof
    sentence: str
    rules: str = ""
    differs: bool = False
    next_level: NextLevel | None = None
