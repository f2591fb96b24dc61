"""Walks the plan: each trial that is not done, in order, its events to every sink. Refuses to print, write or judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing

from runner.model import Event, Plan, Trial, TrialStarted

Sink = Callable[[Event], None]
TrialRunner = Callable[[Trial], Iterator[Event]]
Grow = Callable[[], Plan | None]


def run_campaign(
    plan: Plan, run_trial: TrialRunner, sinks: Sequence[Sink], done: Set[str] = frozenset(), grow: Grow | None = None
) -> None:
    """Runs what is not done. An exception (Ctrl-C, a full disk) ends the trial's generator, which cleans up.

    grow is asked whenever all points are done, before the anchors: the plan with more trials, or None for enough.
    """
    finished = set(done)
    while (trial := _next(plan, finished)) is not None:
        if trial.role == "anchor" and grow is not None:
            grown = grow()
            grow = grow if grown else None
            plan = grown or plan
            continue
        position = 1 + plan.trials.index(trial)
        _hand_on(TrialStarted(trial=trial, position=position, total=len(plan.trials)), sinks)
        with closing(run_trial(trial)) as events:  # type: ignore[type-var]
            for event in events:
                _hand_on(event, sinks)
        finished.add(trial.trial_id)
    if grow is not None and (grown := grow()):
        run_campaign(grown, run_trial, sinks, finished, grow)


def _next(plan: Plan, finished: Set[str]) -> Trial | None:
    return next((t for t in plan.trials if t.trial_id not in finished), None)


def _hand_on(event: Event, sinks: Sequence[Sink]) -> None:
    for sink in sinks:
        sink(event)
