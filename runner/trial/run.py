"""Runs the stages of one trial. Every way out, Ctrl-C included, stops the server and removes its data.

An error inside a trial is that trial's verdict (ABORTED, with the server's last log lines), and does not end the sweep.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack

from runner.axes import load_axis
from runner.errors import LoadError, ProvisionError, ScaleError, TargetError
from runner.figures.facts import TrialFacts
from runner.figures.outcome import outcome
from runner.figures.recorded import facts_text
from runner.figures.settled import with_summary
from runner.interrupts import Stop
from runner.loadgen.features import kept_by
from runner.loadgen.spec import spec_text, told_texts, trial_spec
from runner.method import METHOD
from runner.model import FOLDED, ArtifactMade, Event, Noted, PhaseEntered, TrialFinished, TrialResult
from runner.runtimes import Server, load_runtime
from runner.targets import load_target
from runner.trial.answers import checked_before, checked_within
from runner.trial.asking import (
    ANSWER_S,
    DROP_S,
    SCHEMA_S,
    TABLES_S,
    asked,
    closed_at_last,
    count_s,
    until_ready,
)
from runner.trial.clock import LOCAL, Clock
from runner.trial.loading import Loading
from runner.trial.loads import load_of
from runner.trial.order import TrialOrder
from runner.trial.placed import bytes_at_rest, check_placement, full_disk
from runner.trial.preload import preload
from runner.trial.provision import Reached, prove_pinning, provision
from runner.trial.stages import Aborted, Answered, Ended, RowsThere, SchemaMade, StageResult, Verified, with_stage
from runner.trial.waiting import LOG_LINES, answer_within, last_words, wait_for
from runner.work import logical_bytes, queries_of, row_logical_bytes

FULL_S = 10.0  # seconds to check how full the disks are
SIZE_S = 10.0  # seconds to add up the sizes of the server's files


def run_trial(order: TrialOrder, stop: Stop, clock: Clock = LOCAL) -> Generator[Event, None, None]:
    """Events of the trial, TrialFinished last. Raises only errors that end the run (Stopped, defects).

    It may run in any thread of any process. When the iterator is exhausted or closed, the trial is over and its server
    gone.
    """
    with stop.here():
        yield from _RunningTrial(order, stop, clock).events()


class _RunningTrial:
    """What the stages of one trial share. Each stage adds a frozen part to its facts."""

    def __init__(self, order: TrialOrder, stop: Stop, clock: Clock) -> None:
        self._order, self._trial, self._stop, self._clock = order, order.trial, stop, clock
        self._target = load_target(order.trial.subject.target)
        self._runtime = load_runtime(order.trial.subject.runtime)
        self._cleanup = ExitStack()
        self._server_facts: Mapping[str, str] = {}
        self._facts = TrialFacts(
            ceiling_rows_per_s=order.ceiling_rows_per_s,
            disk_ceilings=order.disk_ceilings,
            logical_bytes_per_row=logical_bytes(order.trial.work),
            row_bytes=row_logical_bytes(order.trial.work),
        )

    def events(self) -> Iterator[Event]:
        started, begun = datetime.datetime.now(datetime.UTC), time.monotonic()
        with self._cleanup:
            try:
                yield from self._walk()
            except ScaleError as error:
                self._add(Aborted(aborted=error.message))
            yield self._enter("teardown")
        facts = self._facts
        yield self._artifact("loadgen.jsonl", facts.generator_log)
        yield self._artifact("server.log", facts.log_tail)
        yield self._artifact("facts.json", facts_text(facts, with_summary=not self._trial.load.is_ours))
        come_to = outcome(load_axis(self._order.axis), self._trial, facts)
        yield TrialFinished(
            result=TrialResult(
                trial=self._trial,
                measurement=come_to.measurement,
                verdict=come_to.verdict,
                effective=facts.effective,
                server=self._server_facts,
                log_tail=facts.log_tail,
                started_utc=started.isoformat(timespec="seconds"),
                wall_s=time.monotonic() - begun,
                method=METHOD,
            )
        )

    def _walk(self) -> Iterator[Event]:
        yield self._enter("provision")
        server, address = provision(self._order, self._target, self._runtime, self._trial.trial_id, self._cleanup)
        try:
            session = self._target.session(self._trial, address)
            reached = Reached(server=server, address=address, session=session, who=self._target.facts.title)
            with closed_at_last(reached):
                yield from self._stages(reached)
        except ScaleError as error:
            raise _with_cause(error, server, self._full_disk()) from error
        finally:
            said = server.log_tail(LOG_LINES)
            self._add(Ended(log_tail=said, suspicious=self._target.suspicious(said)))

    def _stages(self, reached: Reached) -> Iterator[Event]:
        yield self._enter("ready")
        session, server = reached.session, reached.server
        pending, within_s = until_ready(reached, session.not_ready), self._target.facts.ready_s
        wait_for(server, pending, "the server was not ready", self._stop, within_s)
        self._server_facts = reached.server.facts()
        prove_pinning(reached.server, self._trial.placement)
        yield self._enter("schema")
        self._add(self._make_schema(reached))
        if self._trial.work.preload_rows:
            yield self._enter("preload")
            there = preload(self._order, reached, self._target.facts.threads_per_process, self._stop)
            self._add(RowsThere(preloaded=there))
        yield from self._load(reached)
        yield self._enter("verify")
        rows = self._facts.summary.rows_acked if self._facts.summary else 0
        size = answer_within(SIZE_S, lambda: bytes_at_rest((reached.address.data_dir, *reached.address.disks)))
        self._add(Verified(counted=asked(reached, reached.session.count, count_s(rows)), data_bytes=size))
        if not reached.address.is_ours:
            asked(reached, reached.session.drop_schema, DROP_S)

    def _make_schema(self, reached: Reached) -> SchemaMade:
        session, server = reached.session, reached.server
        asked(reached, session.create_schema, SCHEMA_S)
        wait_for(server, until_ready(reached, session.schema_pending), "the schema was not ready", self._stop)
        asked(reached, session.create_tables, TABLES_S)
        placed = check_placement(asked(reached, session.parts, ANSWER_S), self._order.disks, reached.address.disks)
        version, settings = asked(reached, session.version, ANSWER_S), asked(reached, session.effective, ANSWER_S)
        effective = {"server_version": version, **settings, **placed}
        return SchemaMade(effective=effective, mismatches=_mismatches(session.expected(), effective))

    def _load(self, reached: Reached) -> Iterator[Event]:
        facts = self._target.facts
        texts = self._texts()
        said = trial_spec(self._trial, {**reached.session.load_spec(), **told_texts(texts)})
        spec = kept_by(self._order.program, said)
        yield self._artifact("spec", spec_text(spec))
        if texts:
            yield self._enter("check")
            self._add(Answered(answers=checked_before(self._order, reached, spec, texts)))
        load = load_of(self._order, spec, facts.threads_per_process, reached)
        watched = {"by_thread": facts.thread_names, "waits": facts.wait_events}
        loading = Loading(self._order, reached, load, self._stop, self._clock, **watched)
        try:
            yield from loading.events()
        finally:
            loaded = loading.loaded()
            self._add(loaded)
            self._facts = with_summary(self._facts, loaded.summary, self._trial.load, self._trial.work)
        if self._facts.answers and load.answers:
            within = checked_within(self._order, spec, load.answers, self._facts.answers)
            self._add(Answered(answers=within))
        if loading.stacks is not None:
            yield self._artifact(FOLDED, loading.stacks.folded)
            if loading.stacks.trouble:
                yield Noted(trial_id=self._trial.trial_id, sentence=loading.stacks.trouble)

    def _texts(self) -> dict[str, str]:
        """The queries rendered in the target's language, by operation."""
        work, method = self._trial.work, self._trial.subject.method
        return {n: self._target.facts.rendered(q, work.data, method) for n, q in queries_of(work).items()}

    def _full_disk(self) -> str:
        """A sentence about a full disk; "" also if a disk does not answer in time."""
        order = self._order
        return answer_within(FULL_S, lambda: full_disk(order.disks, order.disk_free_min_bytes)) or ""

    def _add(self, stage: StageResult) -> None:
        self._facts = with_stage(self._facts, stage)

    def _enter(self, phase: str) -> PhaseEntered:
        self._stop.look()
        return PhaseEntered(trial_id=self._trial.trial_id, phase=phase, monotonic_ns=self._clock.now_ns())

    def _artifact(self, name: str, text: str) -> ArtifactMade:
        return ArtifactMade(trial_id=self._trial.trial_id, name=name, text=text)


def _mismatches(expected: Mapping[str, str], effective: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{name} was to be {value}, the server says {effective.get(name, 'nothing')}"
        for name, value in expected.items()
        if not _same(value, effective.get(name, ""))
    )


def _same(planned: str, said: str) -> bool:
    """Whether both are equal, as numbers if both are numbers: a server may report 4.000000 for 4."""
    try:
        return float(planned) == float(said)
    except ValueError:
        return planned.strip("'").lower() == said.strip("'").lower()


def _with_cause(error: ScaleError, server: Server, full: str) -> ScaleError:
    """The error with its cause: a full disk or an ended server. What the client or the load generator saw is the
    symptom."""
    if full and isinstance(error, (LoadError, TargetError)):
        return error if "about to fill" in error.message else LoadError(f"{full} ({error.message})")
    if isinstance(error, (LoadError, TargetError)) and not server.alive():
        return ProvisionError(f"the server died in the middle of the trial: {last_words(server)} ({error.message})")
    return error
