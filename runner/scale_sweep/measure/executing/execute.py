"""Runs a plan: ceilings → disks → trials → fit → report."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from scale_sweep.base.errors import StoreError
from scale_sweep.base.interrupts import current
from scale_sweep.base.units import counted
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.host.block_devices import RamDirectory
from scale_sweep.measure.executing.place import Ceilings, Here, Place, data_of_run
from scale_sweep.measure.machine_setup import MachineSetup, PreparedDisks, Say, placement_of
from scale_sweep.measure.trial.order import DataSet, TrialOrder
from scale_sweep.model.derived import spoiled_by
from scale_sweep.model.events import CeilingsMeasured, Event, PlanGrew, TrialFinished, TrialStarted
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.samples import DataDisk
from scale_sweep.plan import planner_of
from scale_sweep.plan.planner import Planner, with_block
from scale_sweep.report.documents import documents
from scale_sweep.results.identity import identity
from scale_sweep.results.store.outside import read_reference
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.writer import RunWriter

Sink = Callable[[Event], None]
TrialRunner = Callable[[Trial], Generator[Event, None, None]]


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The plan to run. Each trial's subject has its target, runtime and installation."""

    plan: Plan
    data_dir: Path
    client_homes: Mapping[tuple[str, ...], str]  # client libraries, by `Subject.server`
    ram: RamDirectory | None = None  # the data directory, if it is in memory
    held_bytes: int = 0  # held for the server
    place: Place = field(default_factory=Here)
    wait_quiet_s: float = 0.0  # at most, before each trial, until other programs are quiet; 0: no wait
    before_stored: Sink = field(default=lambda event: None)  # before the run's files have them

    def setup(self, run_id: str) -> MachineSetup:
        generator_cpus = (trial.placement.generator_cpus for trial in self.plan.trials)
        return MachineSetup(
            plan=self.plan,
            run_id=run_id,
            data_dir=str(self.data_dir),
            ram=self.ram,
            held_bytes=self.held_bytes,
            cpus=next(filter(None, generator_cpus), ()),
        )


@dataclass(frozen=True, kw_only=True)
class Orders:
    execution: Execution
    run_id: str
    program: str
    stage: PreparedDisks
    ceilings: Ceilings
    data: Callable[[Trial], DataSet | None] = lambda trial: None  # rows that trials share

    def order(self, trial: Trial, disk_placement: str) -> TrialOrder:
        """Raises ProvisionError if an array cannot be made: every later trial would need it too."""
        sweep = self.execution.plan.sweep
        return TrialOrder(
            run_id=self.run_id,
            trial=trial,
            axis=sweep.axis,
            data_dir=str(self.execution.data_dir),
            home=trial.subject.home,
            client_home=self.execution.client_homes[trial.subject.server],
            port=sweep.port,
            disks=self._disks(trial, disk_placement),
            disk_placement=disk_placement,
            wal_disk=sweep.wal_disk,
            disk_free_min_bytes=sweep.disk_free_min_bytes,
            sample_hz=sweep.sample_hz,
            network_bits_per_s=sweep.network_bits_per_s,
            data=self.data(trial),
            program=self.program,
            address=self.execution.place.address,
            ceiling_rows_per_s=self.ceilings.of(trial),
            disk_ceilings=self.stage.ceilings,
            wait_quiet_s=self.execution.wait_quiet_s,
        )

    def _disks(self, trial: Trial, disk_placement: str) -> tuple[DataDisk, ...]:
        """The first ones, or that of the data directory; an array stays while the number of disks is the same."""
        if not trial.resources.disks:
            return self.stage.disks
        disks = self.stage.disks[: trial.resources.disks]
        if disk_placement != "stripe":
            return disks
        from scale_sweep.machine.disks.prepare import restripe  # a sweep without disks does not need it

        return restripe(self.run_id, disks)


def execute(execution: Execution, writer: RunWriter, sinks: Sequence[Sink], say: Say) -> StoredRun:
    """Runs the trials that the run lacks, then fits and reports. Errors end the run; what was measured is stored."""
    plan, program = execution.plan, loadgen_path()
    place = execution.place
    ceilings = Ceilings(program, execution.client_homes, place.ceiling)
    if ceilings.are_measured(plan.trials):
        say("measuring the load generator's own ceiling (same requests, same CPUs, no server)")
    ceilings.measure(plan.trials)
    writer.update_manifest(ceiling_rows_per_s=ceilings.described())
    stop = current()
    try:
        run_id = writer.path.name
        with place.set_up(execution.setup(run_id), say) as ready, data_of_run(plan, run_id, place.remove_data) as data:
            stage = ready.disks
            writer.update_manifest(**stage.manifest())
            orders = Orders(
                execution=execution, run_id=run_id, program=program, stage=stage, ceilings=ceilings, data=data
            )
            writer.update_manifest(**place.manifest())
            tried = partial(place.supports_tiers, stop=stop)
            placement, why = placement_of(plan, orders.order, tried, say)
            by_trial = {t.trial_id: rate for t in plan.trials if (rate := ceilings.of(t)) is not None}
            writer.update_manifest(disk_placement=why, trial_ceilings=by_trial)
            dispatch(CeilingsMeasured(rows_per_s=by_trial, disks=stage.ceilings), sinks)

            def run(trial: Trial) -> Generator[Event, None, None]:
                ceilings.measure([trial])  # planned later
                ready.before_trial()
                return place.run(orders.order(trial, placement), stop)

            neighbours = Neighbours(writer.path, say, waits=bool(execution.wait_quiet_s))
            all_sinks: list[Sink] = [execution.before_stored, writer, *sinks, neighbours]
            run_campaign(plan, planner_of(plan), run, all_sinks, writer.results, say, place.now_ns)
            writer.update_manifest(**place.manifest())
    except BaseException:
        with contextlib.suppress(StoreError):  # reported already
            writer.update_manifest(status="interrupted")
        raise
    writer.update_manifest(status="complete", server=server_facts(writer.results))
    return report(writer)


SPOILED = 2  # trials: one may be chance


class Neighbours:
    """A sink that says once that other programs spoil the trials of this execution."""

    def __init__(self, run: Path, say: Say, *, waits: bool) -> None:
        self._run, self._say, self._waits = run, say, waits
        self._results = list[TrialResult]()
        self._is_last = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, TrialStarted):
            self._is_last = event.position == event.total
        if not isinstance(event, TrialFinished):
            return
        before = spoiled_by(self._results)[0]
        self._results.append(event.result)
        count, named = spoiled_by(self._results)
        if before < count == SPOILED:
            trials = counted(count, "trial") + (f": {named}" if named else "")
            self._say(f"other programs spoiled {trials}. Stop them; or {self._otherwise()}")

    def _otherwise(self) -> str:
        if self._is_last:
            return "sweep again later" if self._waits else "sweep again with --wait-quiet 5m"
        again = f", and scale resume {shlex.quote(str(self._run))} --wait-quiet 5m waits for quiet before the others"
        return f"stop this sweep (Ctrl-C){'' if self._waits else again}"


def server_facts(results: Sequence[TrialResult]) -> dict[str, str]:
    version = next((r.effective["server_version"] for r in results if "server_version" in r.effective), "")
    reported = [r.server for r in results if r.server]
    first = reported[0] if reported else {}
    alike = {name: value for name, value in first.items() if all(s.get(name) == value for s in reported)}
    return {"version": version, **alike}


def run_campaign(
    plan: Plan,
    planner: Planner,
    run_trial: TrialRunner,
    sinks: Sequence[Sink],
    done: Sequence[TrialResult] = (),
    say: Callable[[str], None] = lambda sentence: None,
    now_ns: Callable[[], int] = time.monotonic_ns,
) -> None:
    """Block after block until the planner has none. An exception closes the trial's generator, which cleans up."""
    results, whys = list(done), {""}
    while True:
        block = planner.next(results)
        if block.why not in whys:
            say(block.why)
            whys.add(block.why)
        if not block.trials:
            return
        grown = with_block(plan, block)
        if grown is not plan:
            plan = grown
            dispatch(PlanGrew(plan=plan), sinks)
        for trial in block.trials:
            dispatch(_started(plan, trial, now_ns()), sinks)
            with closing(run_trial(trial)) as events:
                for event in events:
                    dispatch(event, sinks)
                    if isinstance(event, TrialFinished):
                        results.append(event.result)


def _started(plan: Plan, trial: Trial, now_ns: int) -> TrialStarted:
    place = next(at for at, t in enumerate(plan.trials, start=1) if t.trial_id == trial.trial_id)
    return TrialStarted(trial=trial, position=place, total=len(plan.trials), unix_s=time.time(), monotonic_ns=now_ns)


def dispatch(event: Event, sinks: Sequence[Sink]) -> None:
    for sink in sinks:
        sink(event)


def report(writer: RunWriter) -> StoredRun:
    """Raises StoreError."""
    writer.update_manifest(reported_by=identity())
    run = read_run(writer.run)
    made = documents(run, read_reference(run.plan.sweep.reference))
    for name, fit in made.fits.items():
        writer.write_fit(fit, name)
    for name, text in made.pages.items():
        writer.write_report(name, text)
    return made.run
