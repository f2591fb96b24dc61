"""Runs a plan: ceilings → disks → campaign → fit → report. Stores every step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence

from scale_sweep.base.errors import StoreError
from scale_sweep.base.interrupts import Stop, current
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.state import make_ready
from scale_sweep.measure.executing.campaign import Sink, TrialRunner, dispatch, run_campaign
from scale_sweep.measure.executing.ceilings import Ceilings
from scale_sweep.measure.executing.data_stage import data_of_run
from scale_sweep.measure.executing.disk_stage import Say, disks_of_run, placement_of
from scale_sweep.measure.executing.memory_stage import memory_of_run
from scale_sweep.measure.executing.orders import Execution, Orders
from scale_sweep.measure.executing.reporting import report
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import CeilingsMeasured, Event, Plan, StoredRun, Trial, TrialResult
from scale_sweep.plan import planner_of
from scale_sweep.results.store.writer import RunWriter


def execute(execution: Execution, writer: RunWriter, sinks: Sequence[Sink], say: Say) -> StoredRun:
    """Runs the trials that the writer's run still lacks, then fits and reports. Every step is stored.

    Raises errors that end the run; what was measured before them is stored.
    """
    plan, program = execution.plan, loadgen_path()
    say("measuring the load generator's own ceiling (same requests, same CPUs, no server)")
    ceilings = Ceilings(program, execution.client_homes)
    ceilings.measure(plan.trials)
    writer.update_manifest(ceiling_rows_per_s=ceilings.told())
    make_ready(execution.data_dir)
    stop = current()
    try:
        run_id = writer.path.name
        with (
            disks_of_run(plan, execution.data_dir, run_id, say) as stage,
            data_of_run(plan, run_id) as data,
            memory_of_run(execution.held_bytes, _last_cpus(plan), say) as before_trial,
        ):
            writer.update_manifest(**stage.manifest())
            orders = Orders(
                execution=execution, run_id=run_id, program=program, stage=stage, ceilings=ceilings, data=data
            )
            placement, why = placement_of(plan, orders.order, stop, say)
            by_trial = {t.trial_id: rate for t in plan.trials if (rate := ceilings.of(t)) is not None}
            writer.update_manifest(disk_placement=why, trial_ceilings=by_trial)
            dispatch(CeilingsMeasured(rows_per_s=by_trial, disks=stage.ceilings), sinks)
            run_trial_of = _runner(orders, ceilings, placement, stop, before_trial)
            run_campaign(plan, planner_of(plan), run_trial_of, [writer, *sinks], writer.results, say)
    except BaseException:
        with contextlib.suppress(StoreError):  # with a full disk, that error is reported already
            writer.update_manifest(status="interrupted")
        raise
    writer.update_manifest(status="complete", server=server_facts(writer.results))
    return report(writer)


def _last_cpus(plan: Plan) -> tuple[int, ...]:
    """Where the load generator runs: its CPUs are the server's only if there are no others."""
    return next((t.placement.generator_cpus for t in plan.trials if t.placement.generator_cpus), ())


def _runner(
    orders: Orders, ceilings: Ceilings, placement: str, stop: Stop, before: Callable[[Trial], None]
) -> TrialRunner:
    def run(trial: Trial) -> Generator[Event, None, None]:
        ceilings.measure([trial])  # a trial that was planned later; every other ceiling is known
        before(trial)
        return run_trial(orders.order(trial, placement), stop)

    return run


def server_facts(results: Sequence[TrialResult]) -> dict[str, str]:
    """The server's version and what its runtime reported, if it is the same in every trial. For the manifest."""
    version = next((r.effective["server_version"] for r in results if "server_version" in r.effective), "")
    said = [r.server for r in results if r.server]
    first = said[0] if said else {}
    alike = {name: value for name, value in first.items() if all(s.get(name) == value for s in said)}
    return {"version": version, **alike}
