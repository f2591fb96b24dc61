"""The nouns of the project, frozen: what is asked, what is planned, what was measured.

Data only: no I/O, no clock, standard library alone. Units end the names (`_s`, `_ns`, `_bytes`, `_mb` = 10^6 bytes,
`_gb` = 10^9 bytes, `_percent`); a value that could not be measured is None, never 0.
"""

from runner.model.asked import Load, Operation, Origin, Piece, Rule, Subject, Sweep, Work, Workload
from runner.model.disk_facts import DataDisk, DiskCeiling, DiskFigures, DiskKind, DiskSample, DiskSource
from runner.model.events import (
    ArtifactMade,
    CeilingsMeasured,
    Event,
    IntervalSeen,
    Noted,
    PhaseEntered,
    PlanGrew,
    SampleTaken,
    TrialFinished,
    TrialStarted,
)
from runner.model.fitted import Estimate, FitReport, ModelFit, Need, PointSummary, Prediction, Shape, StoredRun
from runner.model.knobs import FORMER_KNOBS, KnobColumn, KnobRole
from runner.model.limits import Limit, LimitKind
from runner.model.measured import (
    FINISHED,
    Counted,
    Interval,
    Latency,
    LoadSummary,
    Measurement,
    OperationSummary,
    TrialResult,
    Verdict,
    VerdictKind,
)
from runner.model.noise import BridgeSplit, Drift, LevelInterval, NoiseReport, Ratio, Trend
from runner.model.observed import Observation
from runner.model.planned import Confound, Finding, Placement, Plan, ResourceRange, Resources, Trial
from runner.model.samples import Sample, SamplerCost, SubjectSample
from runner.model.servers import Accounting, ServerOrder, ServerSource, ServerSpec, Site, SiteRequest
from runner.model.standing import Stand, Standing

__all__ = [
    "FINISHED",
    "FORMER_KNOBS",
    "Accounting",
    "ArtifactMade",
    "BridgeSplit",
    "CeilingsMeasured",
    "Confound",
    "Counted",
    "DataDisk",
    "DiskCeiling",
    "DiskFigures",
    "DiskKind",
    "DiskSample",
    "DiskSource",
    "Drift",
    "Estimate",
    "Event",
    "Finding",
    "FitReport",
    "Interval",
    "IntervalSeen",
    "Latency",
    "KnobColumn",
    "KnobRole",
    "LevelInterval",
    "Limit",
    "LimitKind",
    "Load",
    "LoadSummary",
    "Measurement",
    "ModelFit",
    "Need",
    "NoiseReport",
    "Noted",
    "Observation",
    "Operation",
    "OperationSummary",
    "Origin",
    "PhaseEntered",
    "Piece",
    "Placement",
    "Plan",
    "PlanGrew",
    "PointSummary",
    "Prediction",
    "Ratio",
    "ResourceRange",
    "Resources",
    "Rule",
    "Sample",
    "SampleTaken",
    "SamplerCost",
    "ServerOrder",
    "ServerSource",
    "ServerSpec",
    "Shape",
    "Site",
    "SiteRequest",
    "Stand",
    "Standing",
    "StoredRun",
    "Subject",
    "SubjectSample",
    "Sweep",
    "Trend",
    "Trial",
    "TrialFinished",
    "TrialResult",
    "TrialStarted",
    "Verdict",
    "VerdictKind",
    "Work",
    "Workload",
]
