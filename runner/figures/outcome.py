"""A trial's figures and the verdict on them, for the trial itself and for `scale verify`."""

from __future__ import annotations

from dataclasses import dataclass

from runner.axes import AxisFacts
from runner.figures.evidence import evidence
from runner.figures.facts import TrialFacts
from runner.figures.measure import measurement
from runner.model import Measurement, Trial, Verdict
from runner.verdict import diagnose


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A verdict, and the measurement that it judges."""

    measurement: Measurement
    verdict: Verdict


def outcome(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    """Makes the measurement, then the verdict."""
    measured = measurement(trial, facts)
    return Outcome(measurement=measured, verdict=diagnose(evidence(trial, facts, measured), axis))
