"""Walks the plan: each trial that is not done, in order, its events to every sink. Refuses to print, write or judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing

from runner.model import Event, Plan, Trial, TrialStarted

Sink = Callable[[Event], None]
TrialRunner = Callable[[Trial], Iterator[Event]]


def run_campaign(plan: Plan, run_trial: TrialRunner, sinks: Sequence[Sink], done: Set[str] = frozenset()) -> None:
    """Runs what is not done. An exception (Ctrl-C, a full disk) ends the trial's generator, which cleans up."""
    for position, trial in enumerate(plan.trials, start=1):
        if trial.trial_id in done:
            continue
        _hand_on(TrialStarted(trial=trial, position=position, total=len(plan.trials)), sinks)
        with closing(run_trial(trial)) as events:  # type: ignore[type-var]
            for event in events:
                _hand_on(event, sinks)


def _hand_on(event: Event, sinks: Sequence[Sink]) -> None:
    for sink in sinks:
        sink(event)
