"""A run with raw files, made up and named so: lines of a load generator, samples and facts go through the real measuring,
judging, storing and reporting, so that only the numbers are invented. Also for benchmarks of the report."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from hdrh.histogram import HdrHistogram

from scale_sweep.cli import compose
from scale_sweep.experiment.axes import AxisFacts, load_axis
from scale_sweep.judge.figures.searched import outcome
from scale_sweep.judge.figures.trial_facts import TrialFacts, facts_text
from scale_sweep.judge.figures.window_bounds import with_summary
from scale_sweep.judge.method import METHOD
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.model.declared import Work
from scale_sweep.model.events import (
    ArtifactMade,
    Event,
    IntervalSeen,
    PhaseEntered,
    SampleTaken,
    TrialFinished,
    TrialStarted,
)
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.questions import AnswersChecked
from scale_sweep.model.samples import DiskSample, Sample, SamplerCost, SubjectSample
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import new_folder
from scale_sweep.results.store.writer import RunWriter
from scale_sweep.server.targets import Counted
from tests.unit.synthetic_run import synthetic_manifest, synthetic_plan

WATTS = 45.0
KNOBS = {"partitions": "4", "connections": "8"}


def seconds_of(rate: float, seconds: int, chance: random.Random, noise: float, memory: float) -> list[int]:
    """Rows in each second: an autoregression of order one with the given spread and memory."""
    state, rows = chance.gauss(0, 1), []
    for _ in range(seconds):
        rows.append(int(rate * math.exp(noise * state)))
        state = memory * state + math.sqrt(1 - memory**2) * chance.gauss(0, 1)
    return rows


def encoded(shortest: int, digits: int, counts: Mapping[int, int]) -> str:
    """A histogram of counts by value, up to an hour in units of which `shortest` are a microsecond."""
    histogram = HdrHistogram(1, 3_600_000_000 * shortest, digits)
    for value, count in counts.items():
        histogram.record_value(value, count)
    return histogram.encode().decode()


SECOND = encoded(1000, 2, {900_000: 400})  # a second's requests, which took 0.9 ms
HELLO = {"event": "hello", "version": "0.1.0", "driver": "postgres", "method": "copy", "tables_per_partition": [5, 5]}
HELLO |= {"library": "libpq", "library_version": "16.2"}
INTERVAL = {"event": "interval", "errors": 0, "retries": 0, "backlog_rows": None, "cpu_s": 0.2}
INTERVAL |= {"response_us_p50": 900.0, "response_us_p99": 4000.0, "response_us_max": 9000.0}
INTERVAL |= {"response_hdr": SECOND, "service_hdr": None}
SUMMARY = {"event": "summary", "outcome": "ok", "rows_failed": 0, "errors": 0, "retries": 0, "offered_rows_per_s": None}


def latency_of(fast_us: float, slow_us: float, fast: int, slow: int) -> dict[str, object]:
    """The summary's figures of response times of two lengths, of which the long ones are more than 1 %."""
    names = {fast_us: ("min_us", "p50_us", "p90_us", "p95_us"), slow_us: ("p99_us", "p999_us", "max_us")}
    figures = {name: us for us, named in names.items() for name in named}
    count, hdr = fast + slow, encoded(1, 3, {int(fast_us): fast, int(slow_us): slow})
    return {"count": count, "mean_us": (fast * fast_us + slow * slow_us) / count, **figures, "hdr": hdr}


def load_lines(rows: list[int], warmup_s: int, start_ns: int) -> list[dict[str, object]]:
    """What the load generator says: hello, phases, an interval a second, the summary."""
    window_s, end_ns, warm_ns = len(rows) - warmup_s, start_ns + len(rows) * 10**9, start_ns + warmup_s * 10**9
    lines: list[dict[str, object]] = [HELLO, {"event": "phase", "phase": "warmup", "monotonic_ns": start_ns}]
    total = 0
    for second, count in enumerate(rows):
        if second == warmup_s:
            lines.append({"event": "phase", "phase": "measure", "monotonic_ns": warm_ns})
        total += count
        when = {"t_s": second + 1.0, "monotonic_ns": start_ns + (second + 1) * 10**9}
        counts = {"rows": count, "rows_total": total, "requests": count // 1000}
        lines.append(INTERVAL | when | counts | {"phase": "measure" if second >= warmup_s else "warmup"})
    latency = latency_of(900.0, 4000.0, 5000, 60) | {"p999_us": None}
    inside = sum(rows[warmup_s:])
    when = {"window_s": float(window_s), "window_start_ns": warm_ns, "window_end_ns": end_ns, "last_ack_ns": end_ns}
    counts = {"rows_window": inside, "rows_per_s": inside / window_s, "rows_acked": total, "requests": total // 1000}
    more = {"cpu_window_s": 0.2 * window_s, "workers": workers_of(5060 / window_s, len(rows))}
    parts = {"response": latency, "service": latency, "partitions": [{"rows_acked": total}]}
    return [*lines, SUMMARY | when | counts | more | parts]


def workers_of(requests_per_s: float, seconds: int) -> list[dict[str, float]]:
    """Eight workers that waited for their answers, and made requests for the rest of the time."""
    sending_s = min(1.0, requests_per_s * 936.7e-6 / 8) * seconds
    return [{"send_s": sending_s, "make_s": seconds - sending_s}] * 8


def operation_line(name: str, requests: int) -> dict[str, object]:
    """What the summary of the load generator says of an operation that reads."""
    counts = dict.fromkeys(("requests", "units_acked", "units_window", "rows_window", "values_window"), requests)
    return {"name": name, "unit": "requests", "weight": 1, "errors": 0, "retries": 0, "empty_window": 0, **counts}


def samples_of(trial: Trial, rows: list[int], start_ns: int) -> list[Sample]:
    """Counters of a server that keeps its cores busy."""
    samples, written = [], 0
    for tick in range(len(rows) + 2):
        written += 120 * rows[min(tick, len(rows) - 1)]
        operations = {"writes_total": tick, "busy_s_total": 0.3 * tick, "queue_s_total": 0.5 * tick}
        disk = DiskSample(written_bytes_total=written, read_bytes_total=0, free_bytes=10**11, **operations)
        cores_s = trial.cores * tick
        samples.append(
            Sample(
                monotonic_ns=start_ns + tick * 10**9 - 5 * 10**8,
                server=SubjectSample(cpu_s_total=0.97 * cores_s, throttled_s_total=0.0, memory_bytes=10**9),
                generator=SubjectSample(cpu_s_total=0.2 * tick, throttled_s_total=None, memory_bytes=10**8),
                memory_available_bytes=58 * 10**9,
                psi_some_s_total={"cpu": 0.01 * tick},
                thread_cpu_s_total={},
                host_cpu_busy_s_total=1.2 * cores_s,
                energy_j_total=WATTS * tick,
                disks={"d1": disk},
            )
        )
    return samples


def facts_of(lines: str, start_ns: int, measure_ns: int, samples: Iterable[Sample], **more) -> TrialFacts:
    """What a trial's load generator and samples say."""
    recorded = read_recorded(lines)
    base = TrialFacts(
        load_start_ns=start_ns,
        measure_start_ns=measure_ns,
        flush_end_ns=None,
        sampler_cost=SamplerCost(cpu_s=0.01, wall_s=10.0, ticks=10, missed_ticks=0),
        ceiling_rows_per_s=1.4e9,
        log_tail="ready\n",
        generator_log=lines,
        effective={"server_version": "16.2", "shared_buffers": "1GB"},
        intervals=recorded.intervals,
        samples=tuple(samples),
        summary=recorded.summary,
    )
    return replace(base, **more)


def ended(axis: AxisFacts, trial: Trial, facts: TrialFacts, wall_s: float) -> Iterator[Event]:
    """The last events of a trial, judged by the real rules."""
    yield from (IntervalSeen(trial_id=trial.trial_id, interval=one) for one in facts.all_intervals)
    yield from (SampleTaken(trial_id=trial.trial_id, sample=one) for one in facts.samples)
    texts = {"spec": "driver=postgres\n", "loadgen.jsonl": facts.generator_log, "server.log": facts.log_tail}
    for name, text in (texts | {"facts.json": facts_text(facts, with_summary=False)}).items():
        yield ArtifactMade(trial_id=trial.trial_id, name=name, text=text)
    come_to = outcome(axis, trial, facts)
    told = {"measurement": come_to.measurement, "verdict": come_to.verdict, "effective": facts.effective}
    when = {"started_utc": "2026-01-02T03:04:05+00:00", "wall_s": wall_s}
    result = TrialResult(trial=trial, log_tail=facts.log_tail, method=METHOD, **told, **when)
    yield TrialFinished(result=result)


def trial_events(
    plan: Plan,
    trial: Trial,
    rows: list[int],
    warmup_s: int,
    answers: tuple[AnswersChecked, ...] = (),
    aborted: str = "",
) -> Iterator[Event]:
    """The trial as the store sees it. aborted: the reason why it ended without a summary."""
    start_ns = (trial.order + 1) * 10**12
    lines = load_lines(rows, warmup_s, start_ns)
    lines[-1]["operations"] = [operation_line(one.operation, 5060) for one in answers]
    log = "".join(json.dumps(line) + "\n" for line in (lines[:-1] if aborted else lines))
    window_ns, flush_ns = start_ns + warmup_s * 10**9, start_ns + (len(rows) + 1) * 10**9
    more = {"flush_end_ns": flush_ns, "counted": Counted(rows=sum(rows)), "answers": answers, "aborted": aborted}
    facts = facts_of(log, start_ns, window_ns, samples_of(trial, rows, start_ns), **more)
    facts = with_summary(facts, facts.summary, trial.load, trial.work)
    began_s = 1_767_323_045 + 20.0 * trial.order  # 2026-01-02T03:04:05Z, a trial every 20 s
    when = {"unix_s": began_s, "monotonic_ns": start_ns - 2 * 10**9}
    yield TrialStarted(trial=trial, position=trial.order + 1, total=len(plan.trials), **when)
    yield PhaseEntered(trial_id=trial.trial_id, phase="measure", monotonic_ns=window_ns)
    yield from ended(load_axis(plan.sweep.axis), trial, facts, 17.5)


def manifest_of(plan: Plan) -> dict[str, object]:
    """The manifest of a run that has begun."""
    invented = {k: v for k, v in synthetic_manifest().items() if k != "schema"}
    return {**invented, "sweep": asdict(plan.sweep), "status": "running", "method": METHOD}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Levels, trials and seconds, and the rates in them. trial_noise: the spread between trials. noise, memory: those of
    the seconds. ramp_s: so long the rate rises from nothing in each trial's measuring."""

    levels: int = 3
    replicates: int = 3
    seconds: int = 12
    warmup_s: int = 2
    ramp_s: int = 0
    gamma: float = 4e5
    alpha: float = 0.05
    trial_noise: float = 0.01
    noise: float = 0.03
    memory: float = 0.5
    seed: int = 1


def raw_run(
    results: Path,
    name: str = "20260102T030405Z-synthetic-raw-1a2b3c",
    *,
    shape: Shape = Shape(),
    interrupted_after: int | None = None,
    report: bool = True,
    work: Work | None = None,
    answers: tuple[AnswersChecked, ...] = (),
) -> StoredRun:
    """A run in results/name, with its report. work: what the trials do, if not to write. answers: those that each checked."""
    chance = random.Random(shape.seed)
    plan = synthetic_plan(range(1, shape.levels + 1), shape.replicates, KNOBS, work=work, seed=shape.seed)
    writer = RunWriter(RunLock(new_folder(results / name)), plan, manifest_of(plan))
    for trial in plan.trials[:interrupted_after]:
        rate = shape.gamma * trial.level / (1 + shape.alpha * (trial.level - 1))
        rate *= math.exp(chance.gauss(0, shape.trial_noise))
        rows = seconds_of(rate, shape.seconds, chance, shape.noise, shape.memory)
        for second in range(shape.ramp_s):
            rows[shape.warmup_s + second] = rows[shape.warmup_s + second] * second // shape.ramp_s
        for event in trial_events(plan, trial, rows, shape.warmup_s, answers):
            writer(event)
    writer.update_manifest(status="complete" if interrupted_after is None else "interrupted")
    return compose.report(writer) if report else read_run(writer.path)
