"""The nouns of the project, frozen: what is asked, what is planned, what was measured.

Data only: no I/O, no clock, standard library alone. Units end the names (`_s`, `_ns`, `_bytes`, `_mb` = 10^6 bytes,
`_gb` = 10^9 bytes, `_percent`); a value that could not be measured is None, never 0.
"""

from runner.model.asked import Axis, Load, Origin, Piece, Rule, Sweep, Workload
from runner.model.disks import DataDisk, DiskCeiling, DiskFigures, DiskKind, DiskSample, DiskSource
from runner.model.events import (
    ArtifactMade,
    CeilingsMeasured,
    Event,
    IntervalSeen,
    Noted,
    PhaseEntered,
    SampleTaken,
    TrialFinished,
    TrialStarted,
)
from runner.model.fitted import Estimate, FitReport, ModelFit, Need, PointSummary, Prediction, Shape, StoredRun
from runner.model.limits import Limit, LimitKind
from runner.model.measured import (
    Interval,
    Latency,
    LoadSummary,
    Measurement,
    Sample,
    SamplerCost,
    SubjectSample,
    TrialResult,
    Verdict,
    VerdictKind,
)
from runner.model.noise import BridgeSplit, Drift, LevelInterval, NoiseReport, Ratio
from runner.model.planned import Confound, Finding, Placement, Plan, Trial
from runner.model.servers import Accounting, ServerOrder, ServerSpec, Site, SiteRequest

__all__ = [
    "Accounting",
    "ArtifactMade",
    "Axis",
    "BridgeSplit",
    "CeilingsMeasured",
    "Confound",
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
    "Origin",
    "PhaseEntered",
    "Piece",
    "Placement",
    "Plan",
    "PointSummary",
    "Prediction",
    "Rule",
    "Ratio",
    "Sample",
    "SampleTaken",
    "SamplerCost",
    "ServerOrder",
    "ServerSpec",
    "Shape",
    "Site",
    "SiteRequest",
    "StoredRun",
    "SubjectSample",
    "Sweep",
    "Trial",
    "TrialFinished",
    "TrialResult",
    "TrialStarted",
    "Verdict",
    "VerdictKind",
    "Workload",
]
