"""Walks the plan: each trial that is not done, in order, its events to every sink. Refuses to print, write or judge."""

from __future__ import annotations

import time
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
        started = TrialStarted(
            trial=trial,
            position=1 + plan.trials.index(trial),
            total=len(plan.trials),
            unix_s=time.time(),
            monotonic_ns=time.monotonic_ns(),
        )
        hand_on(started, sinks)
        with closing(run_trial(trial)) as events:  # type: ignore[type-var]
            for event in events:
                hand_on(event, sinks)
        finished.add(trial.trial_id)
    if grow is not None and (grown := grow()):
        run_campaign(grown, run_trial, sinks, finished, grow)


def _next(plan: Plan, finished: Set[str]) -> Trial | None:
    return next((t for t in plan.trials if t.trial_id not in finished), None)


def hand_on(event: Event, sinks: Sequence[Sink]) -> None:
    """The event to every sink, in order."""
    for sink in sinks:
        sink(event)
