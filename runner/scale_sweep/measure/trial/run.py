"""Runs the stages of one trial."""

from __future__ import annotations

import datetime
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from scale_sweep.base.errors import ScaleError
from scale_sweep.base.interrupts import Stop, undone
from scale_sweep.judge.figures.disturbed import DISTURBANCES, disturbances_text
from scale_sweep.judge.figures.tool_facts import tool_facts
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window_bounds import with_summary
from scale_sweep.loadgen.binary import kept_by
from scale_sweep.loadgen.command_load import CommandLoad
from scale_sweep.loadgen.handle import LoadHandle
from scale_sweep.loadgen.spec import query_lines, trial_spec
from scale_sweep.loadgen.split import group_specs, specs_text
from scale_sweep.machine.sampling.programs import OtherPrograms
from scale_sweep.machine.state.records import scratch
from scale_sweep.machine.state.runs import other_sweeps
from scale_sweep.measure.trial import preload
from scale_sweep.measure.trial.answers import checked_before
from scale_sweep.measure.trial.answers_within import checked_within
from scale_sweep.measure.trial.commands import TrialCommands
from scale_sweep.measure.trial.disks import bytes_at_rest, check_placement
from scale_sweep.measure.trial.disturbances import held_lines
from scale_sweep.measure.trial.loading import HostSamples, Loading, no_hosts
from scale_sweep.measure.trial.loads import LoadMaker, Searching, load_of, trace_folder, traced
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.provision import Provisioned, Reached, mismatches, provision, reached_by
from scale_sweep.measure.trial.stages import ended, facts_at_first
from scale_sweep.measure.trial.stored_rows import rows_summed
from scale_sweep.measure.trial.waiting import (
    ANSWER_S,
    DROP_S,
    LOG_LINES,
    answer_within,
    ask,
    closed_at_last,
    count_s,
    killed_for_memory,
    until_quiet,
    wait_for_schema,
    wait_until_ready,
    with_cause,
)
from scale_sweep.model.events import FOLDED, ArtifactMade, Event, Noted, PhaseEntered
from scale_sweep.model.loads import Counted
from scale_sweep.model.questions import Preloaded
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.runtimes.data_files import resident_percent
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.planned import texts_of

SIZE_S = 10.0  # for the sizes of the server's files


def run_trial(
    order: TrialOrder, stop: Stop, make_load: LoadMaker = load_of, hosts: HostSamples = no_hosts
) -> Generator[Event, None, None]:
    """TrialFinished comes last. Raises only what ends the run (Stopped, defects). Rows before the load are always
    loaded from here. When the iterator is exhausted or closed, the server is gone."""
    with stop.here():
        yield from _RunningTrial(order, stop, make_load, hosts).events()


class _RunningTrial:
    """Each stage adds a frozen part to the facts."""

    def __init__(self, order: TrialOrder, stop: Stop, make_load: LoadMaker, hosts: HostSamples) -> None:
        self._order, self._trial, self._stop = order, order.trial, stop
        self._make_load, self._hosts = make_load, hosts
        self._target = load_target(order.trial.subject.target)
        self._runtime = load_runtime(order.trial.subject.runtime)
        self._server_facts: Mapping[str, str] = {}
        self._commands: TrialCommands | None = None
        self._facts = facts_at_first(order)

    def events(self) -> Iterator[Event]:
        if self._order.wait_quiet_s:
            yield self._enter("quiet")
            yield from until_quiet(self._order, self._stop)
        started, self._begun = datetime.datetime.now(datetime.UTC), time.monotonic()
        with undone() as self._cleanup:
            try:
                yield from self._walk()
            except ScaleError as error:
                self._add(aborted=error.message)
            yield self._enter("teardown")
        wall_s = time.monotonic() - self._begun
        yield from ended(self._order, self._facts, self._server_facts, started, wall_s)

    def _walk(self) -> Iterator[Event]:
        data, kept = self._order.data, None  # kept: the data set that the trial gets a copy of
        if data is not None and (kept := preload.kept_before(self._order, data)) is None:
            yield self._enter("preload")
            kept = preload.make(self._order, data, self._stop)
        yield self._enter("provision")
        files = preload.copied(self._order, kept, self._rows_there) if kept else None
        name = self._trial.trial_id
        self._started = provision(self._order, self._target, self._runtime, name, self._cleanup, files)
        try:
            yield from self._stages(self._started, is_copy=kept is not None)
        except ScaleError as error:
            raise with_cause(error, self._started.server, self._order) from error
        finally:
            server = self._started.server
            log_tail, killed = server.log_tail(LOG_LINES), killed_for_memory(server, self._order)
            suspicious = (*filter(None, [killed]), *self._target.suspicious(log_tail))
            self._add(log_tail=log_tail, suspicious=suspicious)

    def _stages(self, started: Provisioned, *, is_copy: bool) -> Iterator[Event]:
        reached, is_cold = reached_by(self._target, self._trial, started), self._trial.work.cache == "cold"
        with closed_at_last(reached):
            yield from self._with_rows(reached, is_copy=is_copy)
            spec = yield from self._checked(reached)
            if not is_cold:
                yield from self._measured(reached, spec)
        if is_cold and self._facts.preloaded is not None:
            yield self._enter("provision")
            self._started = preload.cooled(started, reached, self._facts.preloaded, self._runtime, self._cleanup)
            again = reached_by(self._target, self._trial, self._started)
            with closed_at_last(again):
                yield self._enter("ready")
                wait_until_ready(again, self._trial.placement, self._target.facts.ready_s, self._stop)
                wait_for_schema(again, self._stop)
                yield from self._measured(again, spec)

    def _with_rows(self, reached: Reached, *, is_copy: bool) -> Iterator[Event]:
        """Until the server has its schema, and the rows that reads find."""
        yield self._enter("ready")
        wait_until_ready(reached, self._trial.placement, self._target.facts.ready_s, self._stop)
        self._server_facts = reached.server.facts()
        yield self._enter("schema")
        self._make_schema(reached)
        if (command := self._trial.load.command) is not None:
            home = self._cleanup.enter_context(scratch("load"))
            self._commands = TrialCommands(self._order, command, reached, str(home))
            if command.prepare:
                yield self._enter("preload")
                self._commands.prepare(self._stop)
        if not self._trial.work.preload_rows:
            return
        yield self._enter("preload")
        if is_copy:
            preload.prove_rows(reached, self._trial.work.preload_rows)
        else:
            self._rows_there(preload.preload(self._order, reached, self._target.facts, self._stop))

    def _rows_there(self, there: Preloaded) -> None:
        self._add(preloaded=there)

    def _measured(self, reached: Reached, spec: Mapping[str, str]) -> Iterator[Event]:
        """On the rows as they are in memory; then the count."""
        if (there := self._facts.preloaded) is not None:
            if self._trial.work.cache == "warm" and (note := preload.warmed(reached)):
                yield Noted(trial_id=self._trial.trial_id, sentence=note)
            percent = answer_within(SIZE_S, lambda: resident_percent(preload.folders_of(reached)))
            self._rows_there(replace(there, cached_percent=percent))
        if self._commands is not None:
            self._commands.count_before(self._stop)
        programs = OtherPrograms()
        yield from self._load(reached, spec)
        self._add(others=programs.busiest(self._trial.placement.server_cpus, own=reached.server.pids()))
        yield self._enter("verify")
        summary = self._facts.of_all_loads
        rows = summary.rows_acked if summary else 0
        size = answer_within(SIZE_S, lambda: bytes_at_rest((reached.address.data_dir, *reached.address.disks)))
        counted, note = self._counted(reached, rows)
        if note:
            yield Noted(trial_id=self._trial.trial_id, sentence=note)
        self._add(counted=counted, data_bytes=size, beside=other_sweeps(self._order.run_id))
        facts, spent_s = self._facts, time.monotonic() - self._begun
        summed = rows_summed(self._order, reached, self._target.facts, spec, facts.of_all_loads, facts.counted, spent_s)
        self._add(summed=summed)
        if not reached.address.is_ours:
            ask(reached, reached.session.drop_schema, DROP_S)

    def _counted(self, reached: Reached, rows: int) -> tuple[Counted | None, str]:
        if self._commands is not None:
            return self._commands.counted(self._stop)
        return ask(reached, reached.session.count, count_s(rows)), ""

    def _make_schema(self, reached: Reached) -> None:
        session = reached.session
        wait_for_schema(reached, self._stop)
        placed = check_placement(ask(reached, session.parts, ANSWER_S), self._order.disks, reached.address.disks)
        version, settings = ask(reached, session.version, ANSWER_S), ask(reached, session.effective, ANSWER_S)
        at_rest = self._target.facts.at_rest if self._trial.work.preload_rows else ""
        effective = {"server_version": version, **settings, **placed, **({"at_rest": at_rest} if at_rest else {})}
        self._add(effective=effective, mismatches=mismatches(session.expected(), effective))

    def _checked(self, reached: Reached) -> Generator[Event, None, Mapping[str, str]]:
        if self._commands is not None:
            return {}
        texts = texts_of(self._trial, self._target.facts)
        whole_spec = trial_spec(self._trial, {**reached.session.load_spec(), **query_lines(texts)}) | held_lines(
            self._trial
        )
        spec = kept_by(self._order.program, whole_spec)
        yield self._artifact("spec", specs_text(group_specs(spec, self._trial.work)))
        if texts:
            yield self._enter("check")
            self._add(answers=checked_before(self._order, reached, spec, texts))
        return spec

    def _load(self, reached: Reached, spec: Mapping[str, str]) -> Iterator[Event]:
        if self._trial.load.searches:
            yield from self._search(reached, spec)
            return
        with trace_folder(self._trial) as folder:
            threads = self._target.facts.threads_per_process
            load = (
                self._commands.load()
                if self._commands
                else self._make_load(self._order, spec, threads, reached, folder)
            )
            loading = self._loading(reached, self._order, load)
            try:
                yield from traced(loading.events(), self._trial, load, folder)
            finally:
                loaded = loading.loaded()
                self._add(**vars(loaded))
                self._facts = self._with_load(load)
        self._answers_within(reached, spec, load)
        if loading.disturbing is not None:
            yield self._artifact(DISTURBANCES, disturbances_text(loading.disturbing.rows))
            if loading.disturbing.trouble:
                yield Noted(trial_id=self._trial.trial_id, sentence=loading.disturbing.trouble)
        if loading.stacks is not None:
            yield self._artifact(FOLDED, loading.stacks.folded)
            if loading.stacks.trouble:
                yield Noted(trial_id=self._trial.trial_id, sentence=loading.stacks.trouble)

    def _with_load(self, load: LoadHandle) -> TrialFacts:
        if isinstance(load, CommandLoad):
            return tool_facts(self._facts, load.run, load.kept) if load.run is not None else self._facts
        return with_summary(self._facts, self._facts.summary, self._trial.load, self._trial.work)

    def _loading(self, reached: Reached, order: TrialOrder, load: LoadHandle) -> Loading:
        return Loading(order, reached, load, self._stop, self._target.facts, self._hosts)

    def _search(self, reached: Reached, spec: Mapping[str, str]) -> Iterator[Event]:
        threads = self._target.facts.threads_per_process
        searching = Searching(
            self._order,
            spec,
            self._facts,
            load=lambda order, of_load: self._make_load(order, of_load, threads, reached, ""),
            loading=lambda order, load: self._loading(reached, order, load),
        )
        try:
            yield from searching.events()
        finally:
            self._add(**searching.seen())
        self._answers_within(reached, spec, searching.first_load)

    def _answers_within(self, reached: Reached, spec: Mapping[str, str], load: LoadHandle | None) -> None:
        summary = self._facts.summary
        if load is None or summary is None or not self._facts.answers:
            return
        written = summary.rows_acked + summary.rows_failed + summary.rows_unanswered
        texts = texts_of(self._trial, self._target.facts)
        within = checked_within(self._order, reached, spec, texts, load.answers, self._facts.answers, written)
        self._add(answers=within)

    def _add(self, **facts: Any) -> None:
        self._facts = replace(self._facts, **facts)

    def _enter(self, phase: str) -> PhaseEntered:
        self._stop.look()
        return PhaseEntered(trial_id=self._trial.trial_id, phase=phase, monotonic_ns=time.monotonic_ns())

    def _artifact(self, name: str, text: str) -> ArtifactMade:
        return ArtifactMade(trial_id=self._trial.trial_id, name=name, text=text)
