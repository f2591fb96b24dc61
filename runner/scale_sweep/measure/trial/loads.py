"""The loads of a trial: its one load and its kept requests, or those of a search."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from scale_sweep.base.errors import LoadError, ScaleError
from scale_sweep.base.units import format_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.searched import judged_step, next_step_rate, opening_of, step_of
from scale_sweep.judge.figures.trial_facts import STEP_LINES, StepSeen, TrialFacts
from scale_sweep.loadgen.command_load import CommandLoad
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.kept_files import TRACE, left_out, parquet_of, with_files
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.spec import search_spec
from scale_sweep.loadgen.split import begun_together, group_specs, split_spec
from scale_sweep.machine.state.records import scratch
from scale_sweep.measure.trial.loading import Loading
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached
from scale_sweep.model.declared_parts import value_words
from scale_sweep.model.events import ArtifactMade, Event, Noted, PhaseEntered, StepBegan, StepEnded
from scale_sweep.model.measured import Step
from scale_sweep.model.planned import Trial

LoadMaker = Callable[[TrialOrder, Mapping[str, str], int, Reached, str], LoadHandle]


def load_of(
    order: TrialOrder, spec: Mapping[str, str], threads_per_process: int, reached: Reached, trace_folder: str = ""
) -> LoadHandle:
    """Not started. trace_folder: for requests that it keeps. Raises TargetError for no such load generator."""
    cpus, network = _cpus(order), reached.server.network_namespace
    if not order.trial.load.is_ours:
        return CommandLoad(reached.session.genuine_load(), cpus, network)
    now_ns = time.monotonic_ns()
    groups = group_specs(spec, order.trial.work)
    specs = [part for group in groups for part in split_spec(group, threads_per_process, now_ns)]
    specs = with_files(begun_together(specs, now_ns), trace_folder)
    return LoadProcesses(order.program, specs, cpus, reached.address.secret, network)


def _cpus(order: TrialOrder) -> tuple[int, ...]:
    """All of this machine if the trial's own load is made elsewhere."""
    return order.trial.placement.generator_cpus or tuple(sorted(os.sched_getaffinity(0)))


@contextmanager
def trace_folder(trial: Trial) -> Iterator[str]:
    """ "" if no requests are kept."""
    if not trial.load.trace_every:
        yield ""
        return
    with scratch("trace") as folder:
        yield str(folder)


def traced(events: Iterator[Event], trial: Trial, load: LoadHandle, folder: str) -> Iterator[Event]:
    try:
        yield from events
    except ScaleError:
        yield from _kept(trial, load, folder)
        raise
    yield from _kept(trial, load, folder)


def _kept(trial: Trial, load: LoadHandle, folder: str) -> Iterator[Event]:
    summary = load.summary() if folder else None
    if summary is None:
        return
    start_ns, end_ns, every = summary.window_start_ns, summary.window_end_ns, str(trial.load.trace_every)
    about = {"scale.trial": trial.trial_id, "scale.window_start_ns": str(start_ns), "scale.one_in": every}
    try:
        content = parquet_of(folder, start_ns, end_ns, about)
    except (LoadError, OSError) as error:
        yield Noted(trial_id=trial.trial_id, sentence=f"the requests were not kept: {error}")
        return
    yield ArtifactMade(trial_id=trial.trial_id, name=TRACE, content=content)
    if missing := left_out(load.raw):
        most = f"--trace-max {trial.load.trace_max:,}"
        sentence = f"{missing:,} requests are not in {TRACE}: it has the first ones of each connection, by {most}"
        yield Noted(trial_id=trial.trial_id, sentence=sentence)


PHASE = "step"  # after those of the first load


class Searching:
    """Iterate `events` to its end or failure; `seen` then has everything. load: makes one, not started."""

    def __init__(
        self,
        order: TrialOrder,
        spec: Mapping[str, str],
        facts: TrialFacts,
        load: Callable[[TrialOrder, Mapping[str, str]], LoadHandle],
        loading: Callable[[TrialOrder, LoadHandle], Loading],
    ) -> None:
        self._order, self._spec, self._load, self._loading = order, spec, load, loading
        self._facts = replace(facts, steps=())
        self._first: Loading | None = None
        self._samples = list(facts.samples)
        self._judged: list[Step] = []
        self.first_load: LoadHandle | None = None

    def events(self) -> Iterator[Event]:
        """Raises LoadError, TargetError or Stopped; every load has then ended."""
        opening = replace(self._order, trial=opening_of(self._order.trial))
        self.first_load = self._load(opening, search_spec(self._spec, opening.trial.load))
        self._first = last = self._loading(opening, self.first_load)
        yield from last.events(flushes=False)
        self._take(last)
        seen = last.loaded()
        self._facts = replace(self._facts, summary=seen.summary, intervals=seen.intervals)
        while (rate := next_step_rate(self._order.trial, seen.summary, self._judged)) is not None:
            last = yield from self._step(rate)
        yield from last.flush()

    def _step(self, rate: float) -> Generator[Event, None, Loading]:
        """Keeps its lines as a file. The Loading can flush."""
        order = replace(self._order, trial=step_of(self._order.trial, rate))
        loads = (self._facts.summary, *(step.summary for step in self._facts.steps))
        load = self._load(order, search_spec(self._spec, order.trial.load, loads[-1], len(loads)))
        loading = self._loading(order, load)
        yield StepBegan(trial_id=order.trial.trial_id, rate=rate)
        for event in loading.events(flushes=False):  # a trial's phases are those of its first load
            yield replace(event, phase=PHASE) if isinstance(event, PhaseEntered) else event
        self._take(loading)
        seen = loading.loaded()
        if seen.summary is not None:
            step = StepSeen(rate=rate, summary=seen.summary, intervals=seen.intervals)
            self._facts = replace(self._facts, steps=(*self._facts.steps, step))
            trial_id, number = self._order.trial.trial_id, len(self._facts.steps)
            yield ArtifactMade(trial_id=trial_id, name=STEP_LINES.format(number), text=seen.generator_log)
            judged = judged_step(load_axis(self._order.axis), self._order.trial, self._facts, step)
            self._judged.append(judged)
            yield StepEnded(trial_id=trial_id, step=judged)
            yield Noted(trial_id=trial_id, sentence=f"step {number}: {step_words(judged)}")
        return loading

    def _take(self, loading: Loading) -> None:
        self._samples += loading.loaded().samples
        self._facts = replace(self._facts, samples=tuple(self._samples))

    def seen(self) -> dict[str, Any]:
        """Facts of the closed loop with the samples of all loads, and of the steps."""
        if self._first is None:
            return {}
        steps, samples = self._facts.steps, self._facts.samples
        first = replace(self._first.loaded(), samples=samples, flush_end_ns=None)
        return {**vars(first), "step_rates": tuple(step.rate for step in steps), "steps": steps}


def step_words(step: Step) -> str:
    values = ", ".join(value_words(name, value) for name, value in step.values.items() if value is not None)
    came = "left out: " + step.why if not step.usable else "holds" if step.holds else "does not hold"
    over = ", over capacity" if step.usable and step.excess is None else ""
    return f"{format_rate(step.rate)}/s offered, {values or 'no percentile'}{over}: {came}"
