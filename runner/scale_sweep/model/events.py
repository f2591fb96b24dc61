"""Events: a trial yields them, the campaign passes them to sinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.model.loads import Interval
from scale_sweep.model.measured import Step, TrialResult
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.samples import DiskCeiling, Sample


@dataclass(frozen=True, kw_only=True)
class CeilingsMeasured:
    """Before the first trial: the load generator's ceiling by trial, and each disk's."""

    rows_per_s: Mapping[str, float]
    disks: tuple[DiskCeiling, ...]


@dataclass(frozen=True, kw_only=True)
class PlanGrew:
    plan: Plan


@dataclass(frozen=True, kw_only=True)
class TrialStarted:
    """unix_s and monotonic_ns are the same moment on two clocks."""

    trial: Trial
    position: int
    total: int
    unix_s: float = 0.0
    monotonic_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class PhaseEntered:
    """quiet, provision, ready, schema, warmup, measure, drain, flush, verify, teardown."""

    trial_id: str
    phase: str
    monotonic_ns: int


@dataclass(frozen=True, kw_only=True)
class IntervalSeen:
    trial_id: str
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class IntervalsPlaced:
    """In place of those seen: another program's seconds by its own clock, which is known at its end."""

    trial_id: str
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, kw_only=True)
class SampleTaken:
    trial_id: str
    sample: Sample


@dataclass(frozen=True, kw_only=True)
class StepBegan:
    """The seconds of its intervals count from 0 again."""

    trial_id: str
    rate: float


@dataclass(frozen=True, kw_only=True)
class StepEnded:
    trial_id: str
    step: Step


@dataclass(frozen=True, kw_only=True)
class Noted:
    trial_id: str
    sentence: str


FOLDED = "profile.folded"  # stacks of a profiled trial, each with its count


@dataclass(frozen=True, kw_only=True)
class ArtifactMade:
    """A file for the trial's directory."""

    trial_id: str
    name: str
    text: str = ""
    content: bytes | None = None  # in place of `text`


@dataclass(frozen=True, kw_only=True)
class TrialFinished:
    result: TrialResult


Event = (
    CeilingsMeasured
    | PlanGrew
    | TrialStarted
    | PhaseEntered
    | IntervalSeen
    | IntervalsPlaced
    | SampleTaken
    | StepBegan
    | StepEnded
    | Noted
    | ArtifactMade
    | TrialFinished
)
