"""Runs what a planner asks for: each trial that is not done, in order. Its events go to every sink.

Refuses to print, write or judge.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from scale_sweep.model import Event, Plan, PlanGrew, Trial, TrialFinished, TrialResult, TrialStarted
from scale_sweep.plan import Planner, with_block

Sink = Callable[[Event], None]
TrialRunner = Callable[[Trial], Generator[Event, None, None]]


def run_campaign(
    plan: Plan,
    planner: Planner,
    run_trial: TrialRunner,
    sinks: Sequence[Sink],
    done: Sequence[TrialResult] = (),
    say: Callable[[str], None] = lambda sentence: None,
) -> None:
    """Runs block after block until the planner has none. plan: the plan at the start. done: the results so far.

    An exception (Ctrl-C, a full disk) closes the trial's generator, which cleans up.
    """
    results, told = list(done), ""
    while True:
        block = planner.next(results)
        if block.why and block.why != told:
            say(block.why)
            told = block.why
        if not block.trials:
            return
        grown = with_block(plan, block)
        if grown is not plan:
            plan = grown
            dispatch(PlanGrew(plan=plan), sinks)
        for trial in block.trials:
            results += _run(plan, trial, run_trial, sinks)


def _run(plan: Plan, trial: Trial, run_trial: TrialRunner, sinks: Sequence[Sink]) -> list[TrialResult]:
    """The trial's results, from its events."""
    place = next(at for at, t in enumerate(plan.trials, start=1) if t.trial_id == trial.trial_id)
    started = TrialStarted(
        trial=trial, position=place, total=len(plan.trials), unix_s=time.time(), monotonic_ns=time.monotonic_ns()
    )
    dispatch(started, sinks)
    found: list[TrialResult] = []
    with closing(run_trial(trial)) as events:
        for event in events:
            dispatch(event, sinks)
            if isinstance(event, TrialFinished):
                found.append(event.result)
    return found


def dispatch(event: Event, sinks: Sequence[Sink]) -> None:
    """Passes the event to every sink, in order."""
    for sink in sinks:
        sink(event)
