"""The plan: trials in order, each with its resources, and the findings before they start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.model.declared import Subject, Sweep, Work
from scale_sweep.model.knobs import DEFAULTS, KnobColumn
from scale_sweep.model.load import Load
from scale_sweep.model.observed import Role
from scale_sweep.model.resources import Placement, Resources

# Confounds that a CPU placement causes: the fit knows by these names which of them a model describes.
SMT_WITHIN = "SMT within the server"
NUMA_SPREAD = "the server's NUMA spread"
SLOW_CORES = "slower cores of the server"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One measured execution: a point (level and subject), a replicate, and the value of every knob at that point."""

    trial_id: str
    point_id: str  # the same for all replicates of a point
    order: int
    level: float
    replicate: int
    resources: Resources
    work: Work
    load: Load
    subject: Subject
    knobs: Mapping[str, str]
    seed: int
    block: int = 0  # trials of one block run one after the other, in random order
    # only points make the curve. A drift check is the run's first trial, repeated at its end. An ablation trial has the
    # knobs that the plan gives to the level knobs_of_level. A check has twice the connections of its level. A
    # confirming trial (confirm) offers one rate, near the capacity that the searches of its level found
    role: Role = "point"
    knobs_of_level: float | None = None
    settings: str = DEFAULTS  # the name of the set of settings that the server starts from; knobs go before it

    @property
    def cores(self) -> float:
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
    """A second factor that moves along the axis, so that the curve does not show the axis alone."""

    knob: str  # its name, which need not be a knob
    values: tuple[str, ...]
    sentence: str
    remedy: str = ""  # how to avoid it; "": hold it constant


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The trials in their order (seeded, interleaved), and the cautions about them."""

    sweep: Sweep
    trials: tuple[Trial, ...]
    confounds: tuple[Confound, ...]
    notes: tuple[str, ...]
    seconds_estimated: float
    knobs: tuple[KnobColumn, ...] = ()  # those that its targets declare, in the order of columns and headings


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something found before anything starts. A blocking finding stops the sweep. Its remedy says what to do."""

    blocking: bool
    subject: str
    sentence: str
    remedy: str = ""
