"""The state of a running sweep, how each event changes it, and what follows from it: progress, resource use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from scale_sweep.judge.figures.counts_per_second import RatedInterval, rated_intervals
from scale_sweep.model import events
from scale_sweep.model.declared import Work
from scale_sweep.model.events import Event
from scale_sweep.model.loads import Interval
from scale_sweep.model.measured import Step, TrialResult
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.samples import DiskCeiling, DiskSample, Sample

POOLS_MAX = 48
OTHER = "other"
UNDER_LOAD = ("warmup", "measure", "drain", "step")
WATCHED = (*UNDER_LOAD, "flush")  # phases with samples; in other phases the last sample is old
_NOTES_KEPT = 5


@dataclass(frozen=True, kw_only=True)
class Running:
    trial: Trial
    position: int
    started_unix_s: float
    started_ns: int
    phase: str = ""
    phase_ns: int = 0
    load_ns: int | None = None
    interval: Interval | None = None
    # the last interval in what the load counts; the others of the last interval: rate_per_s, in its unit; rows_per_s,
    # None if nothing is written
    rated: RatedInterval | None = None
    rate_per_s: float | None = None
    rows_per_s: float | None = None
    operations_per_s: Mapping[str, float] = field(default_factory=dict)  # of each operation in the last interval
    operations: Mapping[str, int] = field(default_factory=dict)  # the sums over the intervals
    operations_p99_us: Mapping[str, float] = field(default_factory=dict)  # the last known one of each operation
    # requests, errors, retries: sums over the intervals
    requests: int = 0
    errors: int = 0
    retries: int = 0
    # first, before, sample: the trial's first sample and the last two
    first: Sample | None = None
    before: Sample | None = None
    sample: Sample | None = None
    # CPU seconds of the server's threads by name since the first sample; it never decreases, although threads may end
    pools_s: Mapping[str, float] = field(default_factory=dict)
    offered: float | None = None  # the rate of the running load, None in a closed loop
    steps: tuple[Step, ...] = ()  # those of a search that have ended
    rows_before: int = 0  # rows of the loads before the running one

    @property
    def rows(self) -> int:
        return self.rows_before + (self.interval.rows_total if self.interval is not None else 0)

    @property
    def held(self) -> float | None:
        return max((step.rate for step in self.steps if step.holds), default=None)

    @property
    def failed(self) -> float | None:
        return min((step.rate for step in self.steps if step.usable and not step.holds), default=None)


@dataclass(frozen=True, kw_only=True)
class LiveState:
    """times: (start, end) of trials of this execution, seconds since 1970. before: results of earlier ones. total: may
    have grown since `plan`."""

    run: str
    plan: Plan
    results: tuple[TrialResult, ...] = ()
    before: int = 0
    began_ns: int = 0
    ceilings: Mapping[str, float] = field(default_factory=dict)
    disk_ceilings: tuple[DiskCeiling, ...] = ()
    total: int = 0
    running: Running | None = None
    times: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def take(state: LiveState, event: Event) -> LiveState:
    """An event of a trial that does not run changes nothing."""
    if isinstance(event, events.TrialStarted):
        running = Running(
            trial=event.trial,
            position=event.position,
            started_unix_s=event.unix_s,
            started_ns=event.monotonic_ns,
            offered=event.trial.load.rate or None,
        )
        if not state.began_ns:
            state = replace(state, began_ns=event.monotonic_ns, before=len(state.results))
        return replace(state, running=running, total=event.total)
    if isinstance(event, events.PlanGrew):
        return replace(state, plan=event.plan)
    if isinstance(event, events.CeilingsMeasured):
        return replace(state, ceilings=event.rows_per_s, disk_ceilings=event.disks)
    if isinstance(event, events.TrialFinished):
        return _finished(state, event.result)
    if state.running is None or event.trial_id != state.running.trial.trial_id:
        return state
    if isinstance(event, events.Noted):
        return replace(state, notes=(*state.notes, event.sentence)[-_NOTES_KEPT:])
    return replace(state, running=_running(state.running, event))


def ceiling_of(state: LiveState, trial: Trial) -> float | None:
    """The load generator's own ceiling in rows/s. A trial that was added to the plan has that of its point."""
    alike = (
        t.trial_id
        for t in state.plan.trials
        if (t.knobs, t.variant, t.placement) == (trial.knobs, trial.variant, trial.placement)
    )
    known = (state.ceilings.get(name) for name in (trial.trial_id, *alike))
    return next((rate for rate in known if rate is not None), None)


def _finished(state: LiveState, result: TrialResult) -> LiveState:
    times = dict(state.times)
    running = state.running
    if running is not None and running.started_unix_s:
        times[result.trial.trial_id] = (running.started_unix_s, running.started_unix_s + result.wall_s)
    return replace(state, results=(*state.results, result), times=times, running=None)


def _running(running: Running, event: Event) -> Running:
    if isinstance(event, events.PhaseEntered):
        load_ns = event.monotonic_ns if event.phase in ("warmup", "measure") else None
        return replace(running, phase=event.phase, phase_ns=event.monotonic_ns, load_ns=running.load_ns or load_ns)
    if isinstance(event, events.IntervalSeen):
        return _with_interval(running, event.interval)
    if isinstance(event, events.SampleTaken):
        return _with_sample(running, event.sample)
    if isinstance(event, events.StepBegan):
        return replace(running, offered=event.rate, rows_before=running.rows, interval=None, rated=None)
    if isinstance(event, events.StepEnded):
        return replace(running, steps=(*running.steps, event.step))
    return running


def _with_interval(running: Running, interval: Interval) -> Running:
    length_s = interval.t_s - (running.interval.t_s if running.interval else 0.0)
    work = running.trial.work
    (rated,) = rated_intervals([interval], work)
    several = work.counts_requests and length_s > 0
    each = {name: n / length_s for name, n in interval.operations.items()} if several else running.operations_per_s
    return replace(
        running,
        interval=interval,
        rated=rated,
        rate_per_s=rated.count / length_s if length_s > 0 else running.rate_per_s,
        rows_per_s=rated.rows / length_s if length_s > 0 and rated.rows is not None else running.rows_per_s,
        operations_per_s=each,
        operations={**running.operations, **{n: running.operations.get(n, 0) + interval.operations[n] for n in each}},
        operations_p99_us={**running.operations_p99_us, **_p99_us(work, interval)},
        requests=running.requests + interval.requests,
        errors=running.errors + interval.errors,
        retries=running.retries + interval.retries,
    )


def _p99_us(work: Work, interval: Interval) -> Mapping[str, float]:
    """A single operation has that of all requests."""
    if len(work.operations) > 1 or interval.response_us_p99 is None:
        return interval.operations_p99_us
    return {work.operations[0].name: interval.response_us_p99}


def _with_sample(running: Running, sample: Sample) -> Running:
    first = running.first or sample
    pools = dict(running.pools_s)
    others = 0.0
    for name, total in sample.thread_cpu_s_total.items():
        used = total - first.thread_cpu_s_total.get(name, 0.0)
        if name in pools or len(pools) < POOLS_MAX:
            pools[name] = max(pools.get(name, 0.0), used)
        else:
            others += used
    if others:
        pools[OTHER] = max(pools.get(OTHER, 0.0), others)
    return replace(running, first=first, before=running.sample, sample=sample, pools_s=pools)


@dataclass(frozen=True, kw_only=True)
class DiskRates:
    """One disk: bytes written per second, share of the time with requests in flight (0..1), mean requests in flight."""

    write_bytes_per_s: float | None
    busy_ratio: float | None
    queue: float | None


@dataclass(frozen=True, kw_only=True)
class RunningUse:
    """None until there are two samples."""

    server_cores: float | None = None
    generator_cores: float | None = None
    disks: Mapping[str, DiskRates] = field(default_factory=dict)


def rates(running: Running) -> RunningUse:
    old, new = running.before, running.sample
    if old is None or new is None or new.monotonic_ns <= old.monotonic_ns:
        return RunningUse()
    seconds = (new.monotonic_ns - old.monotonic_ns) / 1e9
    return RunningUse(
        server_cores=_rate(old.server.cpu_s_total, new.server.cpu_s_total, seconds),
        generator_cores=_rate(old.generator.cpu_s_total, new.generator.cpu_s_total, seconds),
        disks={name: _disk(old.disks[name], disk, seconds) for name, disk in new.disks.items() if name in old.disks},
    )


def _disk(old: DiskSample, new: DiskSample, seconds: float) -> DiskRates:
    busy = _rate(old.busy_s_total, new.busy_s_total, seconds)
    return DiskRates(
        write_bytes_per_s=_rate(old.written_bytes_total, new.written_bytes_total, seconds),
        busy_ratio=min(1.0, busy) if busy is not None else None,
        queue=_rate(old.queue_s_total, new.queue_s_total, seconds),
    )


def _rate(old: float | None, new: float | None, seconds: float) -> float | None:
    return max(0.0, new - old) / seconds if old is not None and new is not None else None
