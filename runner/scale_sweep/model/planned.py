"""The plan: trials in order, and the findings before they start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.model.declared import Subject, Sweep, Work
from scale_sweep.model.declared_parts import DEFAULTS, KnobColumn, Load
from scale_sweep.model.observed import Role
from scale_sweep.model.resources import Placement, Resources

# Confounds that a CPU placement causes, by which the fit knows what a model describes.
SMT_WITHIN = "SMT within the server"
NUMA_SPREAD = "the server's NUMA spread"
SLOW_CORES = "slower cores of the server"


@dataclass(frozen=True, kw_only=True)
class Trial:
    trial_id: str
    point_id: str  # of all its replicates
    order: int
    level: float
    replicate: int
    resources: Resources
    work: Work
    load: Load
    subject: Subject
    knobs: Mapping[str, str]
    seed: int
    block: int = 0  # run one after the other, in random order
    # point: of the curve; drift_check: the first trial again; ablation: with the knobs of knobs_of_level; check: twice
    # the connections; confirm: one rate near the capacity that was found; proof: some resources are made busier
    role: Role = "point"
    knobs_of_level: float | None = None
    settings: str = DEFAULTS  # that the server starts from; knobs go before it
    disturbed: tuple[str, ...] = ()  # resources that the load of a proof finds busier for some seconds

    @property
    def cores(self) -> float:
        return self.resources.cores

    @property
    def disks(self) -> int:
        """1 if none were prepared."""
        return max(1, self.resources.disks)

    @property
    def placement(self) -> Placement:
        return self.resources.placement

    @property
    def variant(self) -> Mapping[str, str]:
        return self.subject.variant


@dataclass(frozen=True, kw_only=True)
class Confound:
    knob: str  # need not be a knob
    values: tuple[str, ...]
    sentence: str
    remedy: str = ""  # "": hold it constant


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Trials in their order (seeded, interleaved)."""

    sweep: Sweep
    trials: tuple[Trial, ...]
    confounds: tuple[Confound, ...]
    notes: tuple[str, ...]
    seconds_estimated: float
    knobs: tuple[KnobColumn, ...] = ()  # in the order of columns and headings
    is_simulated: bool = False  # its servers are no database's: every output says so

    @property
    def rate_words(self) -> str:
        return f"{'simulated ' if self.is_simulated else ''}{self.sweep.work.rate_words}"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Before anything starts; a blocking one stops the sweep. is_input: wrong on every machine."""

    blocking: bool
    subject: str
    sentence: str
    remedy: str = ""
    is_input: bool = False
