"""A trial's measurement and verdict: of its one load, of its search, or of the rate that it confirms. Pure."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.judge.figures.outcome import Outcome, outcome_of_load
from scale_sweep.judge.figures.searched import outcome_of_rate, outcome_of_search
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.model import Trial


def outcome(axis: AxisFacts, trial: Trial, facts: TrialFacts) -> Outcome:
    """Judges the search of a trial that searches, the rate of one that confirms, and the load of any other."""
    judged = outcome_of_load if trial.load.objective is None else outcome_of_rate
    come_to = (outcome_of_search if trial.load.searches else judged)(axis, trial, facts)
    beside = (f"another sweep of `scale` ran on this machine: {one}" for one in facts.beside)
    return replace(come_to, verdict=replace(come_to.verdict, reasons=(*come_to.verdict.reasons, *beside)))
