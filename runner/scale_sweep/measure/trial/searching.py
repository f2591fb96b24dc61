"""The load of a trial with an objective: a closed loop, then steps at offered rates on the same server, one flush
last."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace

from scale_sweep.base.units import format_rate
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.judge.figures.search_loads import opening_of, step_of
from scale_sweep.judge.figures.searched import judged_step, next_step_rate
from scale_sweep.judge.figures.trial_facts import STEP_LINES, StepSeen, TrialFacts
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.spec import search_spec
from scale_sweep.measure.trial.loading import Loading
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.stages import LoadSeen, Searched
from scale_sweep.model import ArtifactMade, Event, Noted, PhaseEntered, Step, StepBegan, StepEnded

PHASE = "step"  # of a trial, after those of its first load


@dataclass(frozen=True, kw_only=True)
class Doors:
    """The functions of its trial that a search needs."""

    load: Callable[[TrialOrder, Mapping[str, str]], LoadHandle]  # makes the load of an order and a spec, not started
    loading: Callable[[TrialOrder, LoadHandle], Loading]  # follows it


class Searching:
    """One search on one server. Iterate `events` to its end or failure; `seen` then has everything."""

    def __init__(
        self, order: TrialOrder, axis: AxisFacts, spec: Mapping[str, str], facts: TrialFacts, doors: Doors
    ) -> None:
        self._order, self._axis, self._spec, self._doors = order, axis, spec, doors
        self._facts = replace(facts, steps=())
        self._first: Loading | None = None
        self._samples = list(facts.samples)
        self._judged: list[Step] = []
        self.first_load: LoadHandle | None = None

    def events(self) -> Iterator[Event]:
        """Everything as it is seen. Raises LoadError, TargetError or Stopped; every load has then ended."""
        opening = replace(self._order, trial=opening_of(self._order.trial))
        self.first_load = self._doors.load(opening, search_spec(self._spec, opening.trial.load))
        self._first = last = self._doors.loading(opening, self.first_load)
        yield from last.events(flushes=False)
        self._take(last)
        seen = last.loaded()
        self._facts = replace(self._facts, summary=seen.summary, intervals=seen.intervals)
        while (rate := next_step_rate(self._order.trial, seen.summary, self._judged)) is not None:
            last = yield from self._step(rate)
        yield from last.flush()

    def _step(self, rate: float) -> Generator[Event, None, Loading]:
        """Runs the load at this rate, and keeps its lines as a file. Returns its Loading, which can flush."""
        order = replace(self._order, trial=step_of(self._order.trial, rate))
        loads = (self._facts.summary, *(step.summary for step in self._facts.steps))
        load = self._doors.load(order, search_spec(self._spec, order.trial.load, loads[-1], len(loads)))
        loading = self._doors.loading(order, load)
        yield StepBegan(trial_id=order.trial.trial_id, rate=rate)
        for event in loading.events(flushes=False):  # the phases of the trial are those of its first load
            yield replace(event, phase=PHASE) if isinstance(event, PhaseEntered) else event
        self._take(loading)
        seen = loading.loaded()
        if seen.summary is not None:
            step = StepSeen(rate=rate, summary=seen.summary, intervals=seen.intervals)
            self._facts = replace(self._facts, steps=(*self._facts.steps, step))
            trial_id, number = self._order.trial.trial_id, len(self._facts.steps)
            yield ArtifactMade(trial_id=trial_id, name=STEP_LINES.format(number), text=seen.generator_log)
            judged = judged_step(self._axis, self._order.trial, self._facts, step)
            self._judged.append(judged)
            yield StepEnded(trial_id=trial_id, step=judged)
            yield Noted(trial_id=trial_id, sentence=f"step {number}: {step_words(judged)}")
        return loading

    def _take(self, loading: Loading) -> None:
        self._samples += loading.loaded().samples
        self._facts = replace(self._facts, samples=tuple(self._samples))

    def seen(self) -> tuple[LoadSeen | Searched, ...]:
        """Everything so far: the closed loop with the samples of all loads, and the steps."""
        if self._first is None:
            return ()
        steps = self._facts.steps
        first = replace(self._first.loaded(), samples=self._facts.samples, flush_end_ns=None)
        return first, Searched(step_rates=tuple(step.rate for step in steps), steps=steps)


def step_words(step: Step) -> str:
    """A step in one line: what was offered, what was seen, whether it holds."""
    values = ", ".join(f"{name} {value:.3g}" for name, value in step.values.items() if value is not None)
    came = "left out: " + step.why if not step.usable else "holds" if step.holds else "does not hold"
    over = ", over capacity" if step.usable and step.excess is None else ""
    return f"{format_rate(step.rate)}/s offered, {values or 'no percentile'}{over}: {came}"
