"""A run of searches with raw files, made up and named so: the response times of each step are those of a queue with one
server, and go through the real search, judging, storing and reporting. Also for benchmarks of the report."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from scale_sweep.capacity.objective import parse_objective
from scale_sweep.cli import compose
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.searched import judged_step, next_step_rate
from scale_sweep.judge.figures.trial_facts import STEP_LINES, StepSeen, TrialFacts
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.measure.executing.execute import run_campaign
from scale_sweep.model.events import ArtifactMade, Event, PhaseEntered, StepBegan, StepEnded
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Step, TrialResult
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.samples import Sample
from scale_sweep.plan import planner_of
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import new_folder
from scale_sweep.results.store.writer import RunWriter
from scale_sweep.server.targets import Counted
from tests.unit.factories import campaign
from tests.unit.raw_run import ended, facts_of, latency_of, load_lines, manifest_of, samples_of
from tests.unit.synthetic_run import synthetic_plan

LIMIT_MS = 20.0
OBJECTIVE = parse_objective("p99 < 20ms")
MOST = 400_000.0  # rows/s of the closed loop at level 1
SHARE = 0.77  # of MOST: the true capacity
KNOBS = {"partitions": "4", "connections": "64"}
STEP_S, WARMUP_S = 5, 1  # of the lines, which a plan of steps of 10 s has too, so that tests are short


@dataclass(frozen=True, kw_only=True)
class Queue:
    """noise: of the speed of each step, as a standard deviation. slow: how many times longer all responses are than those
    of a queue whose capacity is SHARE of its highest rate. slow_fresh: how many times longer the responses of
    confirming trials are. connections: how many times shorter they are with twice the connections. stolen: the share of
    the load generator's CPUs that the hypervisor takes."""

    noise: float = 0.01
    slow: float = 1.0
    slow_fresh: float = 1.0
    connections: float = 1.0
    stolen: float = 0.0
    seed: int = 1

    def p99_ms(self, most: float, rate: float, chance: random.Random) -> float:
        """Of a queue with one server whose p99 is the limit at SHARE of its highest rate."""
        left = most * math.exp(chance.gauss(0, self.noise)) - rate
        return self.slow * LIMIT_MS * (1 - SHARE) * most / max(left, 1e-3 * most)


def step_log(rate: float, achieved: float, p99_ms: float, seconds: int, start_ns: int) -> str:
    """The lines of a load at an offered rate."""
    lines = load_lines([int(achieved)] * (seconds + WARMUP_S), WARMUP_S, start_ns)
    late = latency_of(5.0, 20.0, 49_000, 1000)
    lines[-1] |= {"offered_rows_per_s": rate, "late": late, "overdue": 0, "newest_row": 0}
    for name, ms in (("response", p99_ms), ("service", p99_ms / 2)):
        lines[-1][name] = latency_of(250 * ms, 1000 * ms, 49_000, 1000)
    return "".join(json.dumps(line) + "\n" for line in lines)


class SearchedTrials:
    """Makes the events of trials, searches and confirming ones."""

    def __init__(self, plan: Plan, queue: Queue) -> None:
        self._axis, self._queue, self.text = load_axis(plan.sweep.axis), queue, ""

    def __call__(self, trial: Trial) -> Generator[Event, None, None]:
        start_ns = (trial.order + 1) * 10**12
        yield PhaseEntered(trial_id=trial.trial_id, phase="measure", monotonic_ns=start_ns + WARMUP_S * 10**9)
        if not trial.load.searches:
            facts = self._facts(trial, self._log(trial, trial.load.rate, start_ns), start_ns)
        else:
            facts = yield from self._searched(trial, start_ns)
        summary = facts.of_all_loads
        assert summary is not None
        yield from ended(self._axis, trial, replace(facts, counted=Counted(rows=summary.rows_acked)), 100.0)

    def _searched(self, trial: Trial, start_ns: int) -> Generator[Event, None, TrialFacts]:
        facts = self.opening(trial, start_ns)
        judged: list[Step] = []
        while (rate := next_step_rate(trial, facts.summary, judged)) is not None:
            yield StepBegan(trial_id=trial.trial_id, rate=rate)
            seen = self.step(trial, rate, len(judged), start_ns)
            facts = replace(facts, steps=(*facts.steps, seen), step_rates=(*facts.step_rates, rate))
            yield ArtifactMade(trial_id=trial.trial_id, name=STEP_LINES.format(len(facts.steps)), text=self.text)
            judged.append(judged_step(self._axis, trial, facts, seen))
            yield StepEnded(trial_id=trial.trial_id, step=judged[-1])
        return facts

    def opening(self, trial: Trial, start_ns: int) -> TrialFacts:
        """The facts after the closed loop of a search, with the samples of all its loads."""
        lines = load_lines([int(MOST * trial.level)] * 7, 2, start_ns)
        return self._facts(trial, "".join(json.dumps(line) + "\n" for line in lines), start_ns)

    def step(self, trial: Trial, rate: float, number: int, start_ns: int) -> StepSeen:
        """A step of a search; `text` then has its lines."""
        self.text = self._log(trial, rate, start_ns + (number + 2) * 10 * 10**9, number)
        recorded = read_recorded(self.text)
        assert recorded.summary is not None
        return StepSeen(rate=rate, summary=recorded.summary, intervals=recorded.intervals)

    def _log(self, trial: Trial, rate: float, begins: int, number: int = 0) -> str:
        most, queue = MOST * trial.level, self._queue
        chance = random.Random(f"{queue.seed} {trial.trial_id} {number}")
        p99_ms = queue.p99_ms(most, rate, chance)
        if trial.role == "confirm":
            p99_ms *= queue.slow_fresh
            p99_ms /= queue.connections if trial.load.connections > 64 else 1.0
        return step_log(rate, min(rate, most), p99_ms, STEP_S if trial.load.searches else 3 * STEP_S, begins)

    def _facts(self, trial: Trial, log: str, start_ns: int) -> TrialFacts:
        return facts_of(log, start_ns, start_ns + WARMUP_S * 10**9, self._samples(trial, start_ns))

    def _samples(self, trial: Trial, start_ns: int) -> Iterator[Sample]:
        for sample in samples_of(trial, [1] * (220 if trial.load.searches else 20), start_ns):
            cpus = {str(cpu): 0.0 for cpu in trial.placement.generator_cpus}
            seconds = (sample.monotonic_ns - start_ns) / 1e9
            stolen = dict.fromkeys(cpus, self._queue.stolen * seconds)
            yield replace(sample, cpu_busy_s_total=cpus, cpu_stolen_s_total=stolen) if self._queue.stolen else sample


def searched_plan(levels: int, replicates: int, *, confirms: bool = True, step_s: float = 10.0) -> Plan:
    """Levels 1, 2, ..., each with these replicates of a search. step_s: as it is planned."""
    plan = synthetic_plan(range(1, levels + 1), replicates, KNOBS, seed=1)
    how = {"rows": None, "objective": OBJECTIVE, "duration_s": step_s, "window_max_s": None, "carries_claim": False}
    load = replace(plan.sweep.load, **how)
    work = replace(plan.sweep.work, data=replace(plan.sweep.work.data, tables=200))
    sweep = replace(plan.sweep, load=load, confirms=confirms, connections_check=False, work=work)
    load = replace(load, connections=64, partitions=4)
    trials = tuple(replace(trial, load=load, work=work) for trial in plan.trials)
    return replace(plan, sweep=sweep, trials=trials)


def searched_results(
    plan: Plan, queue: Queue = Queue(), done: tuple[TrialResult, ...] = ()
) -> tuple[Plan, list[TrialResult]]:
    """The plan as it grew, and the results of its trials; of those that are not done."""
    return campaign(plan, SearchedTrials(plan, queue), done)


def searched_run(
    results: Path, plan: Plan, queue: Queue = Queue(), name: str = "20260102T030405Z-search-1a2b3c"
) -> StoredRun:
    """The run in results/name, with its report."""
    writer = RunWriter(RunLock(new_folder(results / name)), plan, manifest_of(plan))
    run_campaign(plan, planner_of(plan), SearchedTrials(plan, queue), [writer])
    writer.update_manifest(status="complete")
    return compose.report(writer)
