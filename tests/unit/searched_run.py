"""A run of searches with raw files, made up and named so: the response times of each step are those of a queue with one
server, and go through the real search, judging, storing and reporting. Also for benchmarks of the report."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hdrh.histogram import HdrHistogram

from scale_sweep.capacity import parse_objective
from scale_sweep.cli import compose
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.searched import judged_step, next_step_rate
from scale_sweep.judge.figures.trial_facts import STEP_LINES, StepSeen, TrialFacts, facts_text
from scale_sweep.judge.figures.trial_outcome import outcome
from scale_sweep.judge.method import METHOD
from scale_sweep.loadgen.recorded import read_recorded
from scale_sweep.measure.executing.execute import run_campaign
from scale_sweep.model import (
    ArtifactMade,
    Event,
    IntervalSeen,
    PhaseEntered,
    Plan,
    PlanGrew,
    Sample,
    SamplerCost,
    SampleTaken,
    Step,
    StepBegan,
    StepEnded,
    StoredRun,
    Trial,
    TrialFinished,
    TrialResult,
)
from scale_sweep.plan import planner_of
from scale_sweep.results.store.held import Held
from scale_sweep.results.store.stored import new_folder
from scale_sweep.results.store.writer import RunWriter
from scale_sweep.server.targets import Counted
from tests.unit.factories import KNOB_COLUMNS
from tests.unit.raw_run import load_lines, manifest_of, samples_of
from tests.unit.synthetic_run import synthetic_sweep, synthetic_trial

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


def latency_of(p99_ms: float, count: int) -> dict[str, object]:
    """The summary's figures of response times of which 2 % are as long as p99_ms."""
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    histogram.record_value(int(1e3 * p99_ms / 4), int(0.98 * count))
    histogram.record_value(int(1e3 * p99_ms), count - int(0.98 * count))
    us = {"p50_us": 250 * p99_ms, "p90_us": 250 * p99_ms, "p95_us": 250 * p99_ms, "p99_us": 1e3 * p99_ms}
    more = {"min_us": 250 * p99_ms, "mean_us": 265 * p99_ms, "p999_us": 1e3 * p99_ms, "max_us": 1e3 * p99_ms}
    return {"count": count, **us, **more, "hdr": histogram.encode().decode()}


def step_log(rate: float, achieved: float, p99_ms: float, seconds: int, start_ns: int) -> str:
    """The lines of a load at an offered rate."""
    lines = load_lines([int(achieved)] * (seconds + WARMUP_S), WARMUP_S, start_ns)
    lines[-1] |= {
        "offered_rows_per_s": rate,
        "response": latency_of(p99_ms, 5 * 10**4),
        "service": latency_of(p99_ms / 2, 5 * 10**4),
        "late": latency_of(0.02, 5 * 10**4),
        "overdue": 0,
        "newest_row": 0,
    }
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
        yield from self._ended(trial, replace(facts, counted=Counted(rows=summary.rows_acked)))

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
        recorded = read_recorded(log)
        return TrialFacts(
            load_start_ns=start_ns,
            measure_start_ns=start_ns + WARMUP_S * 10**9,
            flush_end_ns=None,
            sampler_cost=SamplerCost(cpu_s=0.01, wall_s=10.0, ticks=10, missed_ticks=0),
            ceiling_rows_per_s=1.4e9,
            log_tail="ready\n",
            generator_log=log,
            effective={"server_version": "16.2"},
            summary=recorded.summary,
            intervals=recorded.intervals,
            samples=tuple(self._samples(trial, start_ns)),
        )

    def _samples(self, trial: Trial, start_ns: int) -> Iterator[Sample]:
        for sample in samples_of(trial, [1] * (220 if trial.load.searches else 20), start_ns):
            cpus = {str(cpu): 0.0 for cpu in trial.placement.generator_cpus}
            seconds = (sample.monotonic_ns - start_ns) / 1e9
            stolen = dict.fromkeys(cpus, self._queue.stolen * seconds)
            yield replace(sample, cpu_busy_s_total=cpus, cpu_stolen_s_total=stolen) if self._queue.stolen else sample

    def _ended(self, trial: Trial, facts: TrialFacts) -> Iterator[Event]:
        yield from (IntervalSeen(trial_id=trial.trial_id, interval=one) for one in facts.all_intervals)
        yield from (SampleTaken(trial_id=trial.trial_id, sample=one) for one in facts.samples)
        texts = {"spec": "driver=postgres\n", "loadgen.jsonl": facts.generator_log, "server.log": facts.log_tail}
        for name, text in (texts | {"facts.json": facts_text(facts, with_summary=False)}).items():
            yield ArtifactMade(trial_id=trial.trial_id, name=name, text=text)
        come_to = outcome(self._axis, trial, facts)
        yield TrialFinished(
            result=TrialResult(
                trial=trial,
                measurement=come_to.measurement,
                verdict=come_to.verdict,
                effective=facts.effective,
                log_tail=facts.log_tail,
                started_utc="2026-01-02T03:04:05+00:00",
                wall_s=100.0,
                method=METHOD,
            )
        )


def searched_plan(levels: int, replicates: int, *, confirms: bool = True, step_s: float = 10.0) -> Plan:
    """Levels 1, 2, ..., each with these replicates of a search. step_s: as it is planned."""
    sweep = synthetic_sweep(replicates=replicates, levels=tuple(float(n) for n in range(1, levels + 1)), seed=1)
    load = replace(
        sweep.load, rows=None, objective=OBJECTIVE, duration_s=step_s, window_max_s=None, carries_claim=False
    )
    data = replace(sweep.work.data, tables=200)
    sweep = replace(sweep, load=load, confirms=confirms, connections_check=False, work=replace(sweep.work, data=data))
    order = [(float(n), r) for r in range(1, replicates + 1) for n in range(1, levels + 1)]
    trials = [
        replace(made, load=replace(load, connections=64, partitions=4), work=sweep.work)
        for made in (synthetic_trial(n, r, at, KNOBS) for at, (n, r) in enumerate(order))
    ]
    return Plan(sweep=sweep, trials=tuple(trials), confounds=(), notes=(), seconds_estimated=1.0, knobs=KNOB_COLUMNS)


def searched_results(
    plan: Plan, queue: Queue = Queue(), done: tuple[TrialResult, ...] = ()
) -> tuple[Plan, list[TrialResult]]:
    """The plan as it grew, and the results of its trials; of those that are not done."""
    plans, results = [plan], list(done)

    def sink(event: Event) -> None:
        if isinstance(event, PlanGrew):
            plans.append(event.plan)
        if isinstance(event, TrialFinished):
            results.append(event.result)

    run_campaign(plan, planner_of(plan), SearchedTrials(plan, queue), [sink], done)
    return plans[-1], results


def searched_run(
    results: Path, plan: Plan, queue: Queue = Queue(), name: str = "20260102T030405Z-search-1a2b3c"
) -> StoredRun:
    """The run in results/name, with its report."""
    writer = RunWriter(Held(new_folder(results / name)), plan, manifest_of(plan))
    run_campaign(plan, planner_of(plan), SearchedTrials(plan, queue), [writer])
    writer.update_manifest(status="complete")
    return compose.report(writer)
