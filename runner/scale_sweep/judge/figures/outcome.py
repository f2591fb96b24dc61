"""A trial's figures and the verdict on them, for the trial itself and for `scale verify`."""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.judge.figures.evidence import evidence
from scale_sweep.judge.figures.facts import TrialFacts
from scale_sweep.judge.figures.measure import measurement
from scale_sweep.judge.verdict import diagnose
from scale_sweep.model import Measurement, Trial, Verdict


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A verdict, and the measurement that it judges."""

    measurement: Measurement
    verdict: Verdict


def outcome(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    """Makes the measurement, then the verdict."""
    measured = measurement(trial, facts)
    return Outcome(measurement=measured, verdict=diagnose(evidence(trial, facts, measured), axis))
