"""The walk through one trial. Every path, Ctrl-C included, ends with the server stopped and its data removed.

What goes wrong inside a trial is that trial's verdict (ABORTED, with the server's last words), not the sweep's end.
"""

from __future__ import annotations

import datetime
import queue
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing

from runner.errors import LoadError, ProvisionError, ScaleError, TargetError
from runner.figures.growing import window_is_enough
from runner.figures.measure import STEADY_PHASE, TrialFacts, evidence, measurement
from runner.figures.recorded import facts_text
from runner.figures.settled import take_summary
from runner.loadgen.ceiling import ceiling_key
from runner.loadgen.foreign import ForeignLoad
from runner.loadgen.process import LoadProcesses
from runner.loadgen.protocol import Phase
from runner.loadgen.spec import spec_text, trial_spec
from runner.loadgen.split import split_spec
from runner.method import METHOD
from runner.model import (
    Accounting,
    ArtifactMade,
    Event,
    Interval,
    IntervalSeen,
    Noted,
    PhaseEntered,
    Sample,
    SampleTaken,
    Trial,
    TrialFinished,
    TrialResult,
)
from runner.runtimes import Server
from runner.sampling import Sampler
from runner.axes.rows import logical_bytes
from runner.targets import Session
from runner.trial.placed import full_disk, prove_placement, refuse_full, sync_disks, trial_disks
from runner.trial.provision import provision
from runner.trial.setup import TrialSetup
from runner.trial.waiting import LOG_LINES, last_words, wait_for
from runner.units import format_cpus
from runner.verdict import judge

DRAIN_S = 120.0
ROWS_PER_S_SLOWEST = 500.0
BYTES_PER_S_SLOWEST = 5e5


def run_trial(setup: TrialSetup, trial: Trial) -> Iterator[Event]:
    """Events of the trial, TrialFinished last. Raises only what no trial can survive (Ctrl-C, defects)."""
    facts = TrialFacts(
        ceiling_rows_per_s=setup.ceilings.get(ceiling_key(trial)),
        disk_ceilings=setup.disk_ceilings,
        logical_bytes_per_row=logical_bytes(trial.work.data),
    )
    started, begun = datetime.datetime.now(datetime.UTC), time.monotonic()
    with ExitStack() as cleanup:
        try:
            yield from _walk(setup, trial, facts, cleanup)
        except ScaleError as error:
            facts.aborted = error.message
        yield _enter(trial, "teardown")
    yield ArtifactMade(trial_id=trial.trial_id, name="loadgen.jsonl", text=facts.generator_log)
    yield ArtifactMade(trial_id=trial.trial_id, name="server.log", text=facts.log_tail)
    told = facts_text(facts, with_summary=not trial.load.is_ours)
    yield ArtifactMade(trial_id=trial.trial_id, name="facts.json", text=told)
    yield TrialFinished(
        result=TrialResult(
            trial=trial,
            measurement=measurement(trial, facts),
            verdict=judge(evidence(setup.sweep.axis, trial, facts)),
            effective=facts.effective,
            log_tail=facts.log_tail,
            started_utc=started.isoformat(timespec="seconds"),
            wall_s=time.monotonic() - begun,
            method=METHOD,
        )
    )


def _enter(trial: Trial, phase: str) -> PhaseEntered:
    return PhaseEntered(trial_id=trial.trial_id, phase=phase, monotonic_ns=time.monotonic_ns())


def _walk(setup: TrialSetup, trial: Trial, facts: TrialFacts, cleanup: ExitStack) -> Iterator[Event]:
    yield _enter(trial, "provision")
    disks = trial_disks(setup, trial)
    server, address = provision(setup, trial, trial.trial_id, cleanup)
    try:
        with closing(setup.target.session(trial, address)) as session:
            yield _enter(trial, "ready")
            wait_for(server, session.not_ready, "the server was not ready")
            _check_pinning(trial, server)
            yield _enter(trial, "schema")
            session.create_schema()
            wait_for(server, session.schema_pending, "the schema was not ready")
            session.create_tables()
            placed = prove_placement(session.parts(), disks, address.disks)
            facts.effective = {"server_version": session.version(), **session.effective(), **placed}
            facts.mismatches = _mismatches(session.expected(), facts.effective)
            yield from _load(setup, trial, facts, server, session, address.secret)
            yield _enter(trial, "verify")
            facts.counted = session.count()
            if not address.is_ours:
                session.drop_schema()
    except ScaleError as error:
        raise _with_cause(error, server, full_disk(disks, setup.sweep.disk_free_min_bytes)) from error
    finally:
        facts.log_tail = server.log_tail(LOG_LINES)
        facts.suspicious = setup.target.suspicious(facts.log_tail)


def _check_pinning(trial: Trial, server: Server) -> None:
    """The proof that the server has the CPUs it was given and no others."""
    allowed = server.cpus_allowed()
    if allowed and not set(allowed) <= set(trial.placement.server_cpus):
        raise ProvisionError(
            f"the server may run on CPUs {format_cpus(allowed)}, planned were "
            f"{format_cpus(trial.placement.server_cpus)}"
        )


def _mismatches(expected: Mapping[str, str], effective: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{name} was to be {value}, the server says {effective.get(name, 'nothing')}"
        for name, value in expected.items()
        if not _same(value, effective.get(name, ""))
    )


def _same(planned: str, said: str) -> bool:
    """As numbers where both are numbers: a server may say 4.000000 for 4."""
    try:
        return float(planned) == float(said)
    except ValueError:
        return planned.strip("'").lower() == said.strip("'").lower()


def _load(
    setup: TrialSetup, trial: Trial, facts: TrialFacts, server: Server, session: Session, secret: str
) -> Iterator[Event]:
    spec = trial_spec(trial, session.load_spec())
    yield ArtifactMade(trial_id=trial.trial_id, name="spec", text=spec_text(spec))
    samples: queue.SimpleQueue[Sample] = queue.SimpleQueue()
    facts.commits_before = session.commit_cycles()
    disks = trial_disks(setup, trial)
    on_disks = trial.resources.disks > 0
    sync_disks(disks if on_disks else ())
    with _generator(setup, trial, spec, server, session, secret) as load:
        sampler = Sampler(
            server=server.accounting(),
            generator=Accounting(kind="processes", root_pids=load.pids),
            disks=disks,
            hz=setup.sweep.sample_hz,
            on_sample=samples.put,
            pids=server.pids if setup.target.THREAD_NAMES else None,
        )
        with sampler:
            try:
                yield from _follow(setup, trial, facts, server, load, samples)
                facts.commits_after = session.commit_cycles()
                yield _enter(trial, "flush")
                sync_disks(disks if on_disks else ())
                session.flush()
                sync_disks(disks if on_disks else ())
                facts.flush_end_ns = time.monotonic_ns()
            finally:
                take_summary(facts, load.summary(), trial.load)
                facts.generator_log = "".join(load.raw)
        facts.sampler_cost = sampler.cost()
        yield from _drain(setup, trial, facts, samples)
        for trouble in load.troubles:
            yield Noted(trial_id=trial.trial_id, sentence=f"{trouble.count} × {trouble.code}: {trouble.message}")


def _generator(
    setup: TrialSetup, trial: Trial, spec: Mapping[str, str], server: Server, session: Session, secret: str
) -> LoadProcesses | ForeignLoad:
    cpus = trial.placement.client_cpus
    if not trial.load.is_ours:
        return ForeignLoad(session.genuine_load(), cpus, server.network_namespace)
    specs = split_spec(spec, setup.target.THREADS_PER_PROCESS, time.monotonic_ns())
    return LoadProcesses(setup.program, specs, cpus, secret, server.network_namespace)


def _follow(
    setup: TrialSetup,
    trial: Trial,
    facts: TrialFacts,
    server: Server,
    load: LoadProcesses | ForeignLoad,
    samples: queue.SimpleQueue[Sample],
) -> Iterator[Event]:
    for line in load.lines(_limit_s(trial)):
        yield from _drain(setup, trial, facts, samples)
        if isinstance(line, Phase):
            facts.load_start_ns = facts.load_start_ns or line.monotonic_ns
            if line.phase == STEADY_PHASE:
                facts.measure_start_ns = line.monotonic_ns
            yield PhaseEntered(trial_id=trial.trial_id, phase=line.phase, monotonic_ns=line.monotonic_ns)
        elif isinstance(line, Interval):
            facts.intervals.append(line)
            if window_is_enough(trial.load, facts) and isinstance(load, LoadProcesses):
                load.end_window()
            yield IntervalSeen(trial_id=trial.trial_id, interval=line)
        elif not server.alive():
            raise LoadError("the server ended under load")
    if load.summary() is None:
        raise LoadError("the load core ended without a summary")


def _limit_s(trial: Trial) -> float:
    load = trial.load
    rows = load.rows or 0
    slowest = max(rows / ROWS_PER_S_SLOWEST, rows * logical_bytes(trial.work.data) / BYTES_PER_S_SLOWEST)
    longest = load.window_max_s or load.duration_s
    work = longest if longest is not None else slowest
    return load.warmup_s + work + DRAIN_S


def _drain(setup: TrialSetup, trial: Trial, facts: TrialFacts, samples: queue.SimpleQueue[Sample]) -> Iterator[Event]:
    while not samples.empty():
        sample = samples.get()
        facts.samples.append(sample)
        yield SampleTaken(trial_id=trial.trial_id, sample=sample)
        refuse_full(sample, trial_disks(setup, trial), setup.sweep.disk_free_min_bytes)


def _with_cause(error: ScaleError, server: Server, full: str) -> ScaleError:
    """A full disk or a dead server is the cause; what the client or the load core saw of it is the symptom."""
    if full and isinstance(error, (LoadError, TargetError)):
        return error if "about to fill" in error.message else LoadError(f"{full} ({error.message})")
    if isinstance(error, (LoadError, TargetError)) and not server.alive():
        return ProvisionError(f"the server died in the middle of the trial: {last_words(server)} ({error.message})")
    return error
