"""What is planned: trials on CPUs, in order, and what was found before they start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from runner.model.asked import Sweep

Role = Literal["point", "anchor", "bridge"]


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Which CPUs each side may use. `shared` is the overlap: unavoidable on a small machine, counted in the verdict.

    quota_cores is the CPU time the server may use when that is not a whole number of CPUs (0.5 of one CPU), else None.
    """

    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    quota_cores: float | None = None

    @property
    def shared(self) -> tuple[int, ...]:
        """CPUs that both sides may use."""
        return tuple(c for c in self.server_cpus if c in self.client_cpus)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One measured execution: a point of the axis, a replicate, and every knob's value at that point.

    role: only points make the curve. An anchor is the run's first trial repeated at its end; a bridge has the knobs of
    the level bridged_from.
    """

    trial_id: str
    order: int
    level: float
    replicate: int
    cores: float
    disks: int
    placement: Placement
    knobs: Mapping[str, str]
    seed: int
    variant: Mapping[str, str] = field(default_factory=dict)
    role: Role = "point"
    bridged_from: float | None = None


@dataclass(frozen=True, kw_only=True)
class Confound:
    """A second factor that moves along the axis, so that the curve is not the axis's alone."""

    knob: str
    values: tuple[str, ...]
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The trials in the order they will run (seeded, interleaved), and what to know before believing them."""

    sweep: Sweep
    trials: tuple[Trial, ...]
    confounds: tuple[Confound, ...]
    notes: tuple[str, ...]
    seconds_estimated: float


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something found before anything starts. A blocking finding stops the sweep; its remedy says what to do."""

    blocking: bool
    subject: str
    sentence: str
    remedy: str = ""
