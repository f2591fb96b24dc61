"""The load of a trial from its first request to the end of the flush, with the sampler running."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace

from scale_sweep.base.errors import LoadError, ScaleError
from scale_sweep.base.interrupts import Stop, deferred
from scale_sweep.experiment.work import logical_bytes
from scale_sweep.judge.figures.counts_per_second import RatedInterval, rated_intervals
from scale_sweep.judge.figures.trial_facts import STEADY_PHASE, unfinished
from scale_sweep.judge.figures.window_bounds import warmup_is_enough, window_is_enough
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.protocol import Phase
from scale_sweep.loadgen.remote import GeneratorStopped
from scale_sweep.machine.sampling.sampler import HostReader, Sampler
from scale_sweep.machine.sampling.waits import lock_waits
from scale_sweep.measure.trial.disks import SYNC_S, Growth, refuse_full, sync_disks
from scale_sweep.measure.trial.disturbances import TrialDisturbing
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Reached, prove_pinning
from scale_sweep.measure.trial.stages import LoadSeen
from scale_sweep.measure.trial.waiting import answer_within, ask, flush_s
from scale_sweep.model.events import Event, IntervalSeen, Noted, PhaseEntered, SampleTaken
from scale_sweep.model.loads import Interval
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import LOOPBACK, Accounting
from scale_sweep.model.samples import HostSample, Sample
from scale_sweep.server.runtimes.stacks import StackRecorder
from scale_sweep.server.targets import Facts

AROUND_S = 120.0
REST_S = 15.0
COMMITS_S = 30.0
COMMAND_S = 3600.0  # of a program that decides itself how long it loads
LATE = "deadline"  # of requests without an answer in time
ROWS_PER_S_SLOWEST = 500.0
BYTES_PER_S_SLOWEST = 5e5


HostSamples = Callable[[], Mapping[str, HostSample]]


def no_hosts() -> Mapping[str, HostSample]:
    return {}


def load_here() -> HostSamples:
    """Samples of this machine as a load host: the server is on none."""
    reader = HostReader(LOOPBACK, sorted(os.sched_getaffinity(0)))
    return lambda: {"this machine": reader.read()}


class Loading:
    """Iterate `events` to its end or failure; `loaded` then has everything. hosts: gives the newest sample of each."""

    def __init__(
        self, order: TrialOrder, reached: Reached, load: LoadHandle, stop: Stop, facts: Facts, hosts: HostSamples
    ) -> None:
        self._order, self._trial_id, self._load = order, order.trial.trial_id, load
        self._reached, self._server, self._session = reached, reached.server, reached.session
        self._stop, self._facts, self._hosts = stop, facts, load_here() if facts.is_simulated else hosts
        self._sampler: Sampler | None = None
        self._taken: queue.SimpleQueue[Sample] = queue.SimpleQueue()
        self._samples: list[Sample] = []
        self._intervals: list[Interval] = []
        self._rated: list[RatedInterval] = []
        self._load_start_ns: int | None = None
        self._measure_start_ns: int | None = None
        self._flush_end_ns: int | None = None
        self._commits_before: int | None = None
        self._commits_after: int | None = None
        self._is_looked_at = False
        self._growth = Growth(order.trial.load, order.disks)
        self.stacks = StackRecorder() if order.trial.role == "profile" else None
        self.disturbing = TrialDisturbing(order) if order.trial.disturbed else None

    def events(self, *, flushes: bool = True) -> Iterator[Event]:
        """flushes: after the load; else `flush` does that later. Raises LoadError, TargetError or Stopped; the load has
        then ended."""
        self._sync(SYNC_S)
        try:
            if self.disturbing is not None:
                self.disturbing.start()
            self._load.start()
            failure = yield from self._sampled(flushes=flushes)
            new = yield from self._drained()
            for trouble in self._load.troubles:
                sentence = f"{trouble.count} × {trouble.code}: {trouble.message}"
                yield Noted(trial_id=self._trial_id, sentence=sentence)
        finally:
            with deferred():
                self._load.stop()
                if self.stacks is not None:
                    self.stacks.close()
                if self.disturbing is not None:
                    self.disturbing.stop()
        if failure is not None:
            raise failure
        self._refuse_full(new)

    def loaded(self) -> LoadSeen:
        return LoadSeen(
            load_start_ns=self._load_start_ns,
            measure_start_ns=self._measure_start_ns,
            flush_end_ns=self._flush_end_ns,
            summary=self._load.summary(),
            sampler_cost=self._sampler.cost() if self._sampler else None,
            commits_before=self._commits_before,
            commits_after=self._commits_after,
            generator_log="".join(self._load.raw),
            intervals=tuple(self._intervals),
            samples=tuple(self._samples),
        )

    def _sampled(self, *, flushes: bool) -> Generator[Event, None, ScaleError | None]:
        """With the sampler. Returns why the load failed."""
        trial = self._order.trial
        placement = trial.placement
        self._sampler = Sampler(
            server=self._server.accounting(),
            generator=Accounting(kind="processes", root_pids=tuple(self._load.pids)),
            disks=self._order.disks,
            hz=self._order.sample_hz,
            network_bits_per_s=self._order.network_bits_per_s,
            on_sample=self._taken.put,
            pids=self._server.pids if self._facts.thread_names else None,
            cpus=tuple(sorted({*placement.server_cpus, *placement.generator_cpus})),
            server_cpus=placement.server_cpus,
            worked_cpus=_worked_cpus(trial),
            # A database that reports none of its connections' waits: waits of its threads.
            waits=self._session.wait_events if self._facts.wait_events else lambda: lock_waits(self._server.pids()),
            is_foreign=not trial.load.is_ours,
        )
        try:
            with self._sampler:
                try:
                    yield from self._follow()
                    if flushes:
                        yield from self.flush()
                except ScaleError as error:
                    self._load.stop()
                    with contextlib.suppress(LoadError):
                        for line in self._load.lines(REST_S):  # above all its summary
                            yield from self._take(line)
                    raise self._named(error) from None
        except ScaleError as error:
            return error
        return None

    def _named(self, error: ScaleError) -> ScaleError:
        """If a load waited in vain, an error that names for whom."""
        is_of_load = isinstance(error, LoadError) and not isinstance(error, GeneratorStopped)
        if not is_of_load or all(trouble.code != LATE for trouble in self._load.troubles):
            return error
        return LoadError(
            f"{self._reached.who} did not answer the load generator in time: {error.message}",
            remedy="was the server stopped? A slow one needs a longer --request-timeout or --drain",
        )

    def _follow(self) -> Iterator[Event]:
        for line in self._load.lines(limit_s(self._order.trial)):
            self._stop.look()
            new = yield from self._drained()
            yield from self._take(line)
            self._refuse_full(new)
            if isinstance(line, Phase) and line.phase == STEADY_PHASE:
                self._commits_before = self._commits()
                if self.stacks is not None:  # now: perf knows no files of a process that is forked while it records
                    self.stacks.start(self._server.pids, self._order.trial.placement.generator_cpus)
                if self.disturbing is not None:
                    self.disturbing.begin(line.monotonic_ns)
            elif isinstance(line, Phase) and self._measure_start_ns is not None:
                self._look_at_the_end()
            elif isinstance(line, Interval) and self._measure_start_ns is None:
                if warmup_is_enough(self._order.trial.load, self._rated):
                    self._load.begin_window()
            elif isinstance(line, Interval):
                if window_is_enough(self._order.trial.load, self._rated, self._measure_start_ns):
                    self._load.end_window()
                elif filling := self._growth.end(self._measure_start_ns, self._samples):
                    yield Noted(trial_id=self._trial_id, sentence=f"the window stops growing: {filling}")
                    self._load.end_window()
            elif not self._server.alive():
                raise LoadError("the server ended under load")
        summary = self._load.summary()
        if summary is None:
            raise LoadError("the load generator ended without a summary")
        if message := unfinished(summary):
            raise LoadError(message, remedy="find out who sent the load generator a signal")
        if not self._is_looked_at:
            self._look_at_the_end()

    def _take(self, line: Phase | Interval | None) -> Iterator[Event]:
        if isinstance(line, Phase):
            self._load_start_ns = self._load_start_ns or line.monotonic_ns
            if line.phase == STEADY_PHASE:
                self._measure_start_ns = line.monotonic_ns
            yield PhaseEntered(trial_id=self._trial_id, phase=line.phase, monotonic_ns=line.monotonic_ns)
        elif isinstance(line, Interval):
            self._intervals.append(line)
            self._rated += rated_intervals([line], self._order.trial.work)
            yield IntervalSeen(trial_id=self._trial_id, interval=line)

    def _look_at_the_end(self) -> None:
        self._is_looked_at = True
        if self.stacks is not None:
            self.stacks.stop()
        self._commits_after = None if self._commits_before is None else self._commits()
        prove_pinning(self._server, self._order.trial.placement)

    def _commits(self) -> int | None:
        """None if the server has none, or not in time."""
        return answer_within(COMMITS_S, self._session.commit_cycles)

    def flush(self) -> Iterator[Event]:
        """Until the server has written what it acknowledged."""
        yield PhaseEntered(trial_id=self._trial_id, phase="flush", monotonic_ns=time.monotonic_ns())
        summary = self._load.summary()
        limit = flush_s((summary.rows_acked if summary else 0) * logical_bytes(self._order.trial.work))
        self._sync(limit)
        ask(self._reached, self._session.flush, limit, self._order.disks)
        self._sync(limit)
        self._flush_end_ns = time.monotonic_ns()

    def _sync(self, limit_s: float) -> None:
        sync_disks(self._order.disks if self._order.is_on_disks else (), limit_s)

    def _drained(self) -> Generator[Event, None, list[Sample]]:
        new = []
        while not self._taken.empty():
            new.append(replace(self._taken.get_nowait(), hosts=dict(self._hosts())))
            self._samples.append(new[-1])
            yield SampleTaken(trial_id=self._trial_id, sample=new[-1])
        return new

    def _refuse_full(self, samples: list[Sample]) -> None:
        for sample in samples:
            refuse_full(sample, self._order.disks, self._order.disk_free_min_bytes)


def _worked_cpus(trial: Trial) -> tuple[int, ...]:
    return () if trial.subject.endpoint else trial.placement.server_cpus


def limit_s(trial: Trial) -> float:
    """After which a load counts as hung."""
    load = trial.load
    if load.command is not None and load.duration_s is None:
        return COMMAND_S
    rows = load.rows or 0
    slowest = max(rows / ROWS_PER_S_SLOWEST, rows * logical_bytes(trial.work) / BYTES_PER_S_SLOWEST)
    longest = load.window_max_s or load.duration_s
    work = longest if longest is not None else slowest
    return load.warmup_s + work + load.drain_s + AROUND_S
