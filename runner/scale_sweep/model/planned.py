"""The plan: trials on CPUs, in order, and the findings before they start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.model.declared import Load, Subject, Sweep, Work
from scale_sweep.model.knobs import LOADING, KnobColumn
from scale_sweep.model.observed import Role


@dataclass(frozen=True, kw_only=True)
class Placement:
    """The CPUs that server and load generator may use. `shared`: the overlap, which a small machine cannot avoid; the
    verdict takes it into account.

    quota_cores: the CPU time of the server if it is not a whole number of CPUs (0.5 of one CPU), else None. smt_cpus:
    CPUs of the server that are SMT siblings of another one of its own, so that they are not whole cores. sibling_cpus:
    CPUs of the load generator that are SMT siblings of the server's. nodes: NUMA nodes of the server's CPUs.
    """

    server_cpus: tuple[int, ...]
    generator_cpus: tuple[int, ...]
    quota_cores: float | None = None
    smt_cpus: tuple[int, ...] = ()
    sibling_cpus: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()

    @property
    def shared(self) -> tuple[int, ...]:
        """CPUs that both server and load generator may use."""
        return tuple(c for c in self.server_cpus if c in self.generator_cpus)


@dataclass(frozen=True, kw_only=True)
class Resources:
    """The resources of a trial's server. disks: prepared disks, counted from d1; 0: its data is in --data-dir.

    memory_bytes: None means all memory of the machine.
    """

    cores: float
    placement: Placement
    disks: int = 0
    memory_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class ResourceRange:
    """The resources of all servers of a sweep, ascending. Defaults of knobs are derived from it.

    disks: empty if no disks are prepared. connections: empty if the axis does not set them. memory_bytes: the least
    memory of a server; None: not known.
    """

    cores: tuple[float, ...]
    disks: tuple[int, ...] = ()
    connections: tuple[int, ...] = ()
    memory_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One measured execution: a point (level and subject), a replicate, and the value of every knob at that point.

    point_id: the same for all replicates of a point. block: trials of one block run one after the other, in random
    order. role: only points make the curve. A drift check is the run's first trial, repeated at its end. An ablation
    trial has the knobs that the plan gives to the level knobs_of_level. A check has twice the connections of its level.
    settings: the name of the set of settings that the server starts from; knobs go before it.
    """

    trial_id: str
    point_id: str
    order: int
    level: float
    replicate: int
    resources: Resources
    work: Work
    load: Load
    subject: Subject
    knobs: Mapping[str, str]
    seed: int
    block: int = 0
    role: Role = "point"
    knobs_of_level: float | None = None
    settings: str = LOADING

    @property
    def cores(self) -> float:
        """The server's cores."""
        return self.resources.cores

    @property
    def disks(self) -> int:
        """The disks of the server's data; 1 if none were prepared."""
        return max(1, self.resources.disks)

    @property
    def placement(self) -> Placement:
        """The CPUs of server and load generator."""
        return self.resources.placement

    @property
    def variant(self) -> Mapping[str, str]:
        """The combination of --vary that the trial measures."""
        return self.subject.variant


@dataclass(frozen=True, kw_only=True)
class Confound:
    """A second factor that moves along the axis, so that the curve does not show the axis alone.

    knob: its name, which need not be a knob. remedy: how to avoid it; "": hold it constant.
    """

    knob: str
    values: tuple[str, ...]
    sentence: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The trials in their order (seeded, interleaved), and the cautions about them.

    knobs: those that its targets declare, in the order of columns and headings.
    """

    sweep: Sweep
    trials: tuple[Trial, ...]
    confounds: tuple[Confound, ...]
    notes: tuple[str, ...]
    seconds_estimated: float
    knobs: tuple[KnobColumn, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something found before anything starts. A blocking finding stops the sweep. Its remedy says what to do."""

    blocking: bool
    subject: str
    sentence: str
    remedy: str = ""
