"""What a trial's facts come to: its figures, and from them its verdict. The trial and `scale verify` both ask here."""

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
    """The verdict is of exactly this measurement."""

    measurement: Measurement
    verdict: Verdict


def outcome(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    """Measured once, then judged."""
    measured = measurement(trial, facts)
    return Outcome(measurement=measured, verdict=diagnose(evidence(trial, facts, measured), axis))
