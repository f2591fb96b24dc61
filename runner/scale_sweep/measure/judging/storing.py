"""Stores what was seen of a load tool and a server as a run of one trial.

Apart from `watching`, since this needs three times its memory: it is not loaded while the tool runs."""

from __future__ import annotations

import shlex
from dataclasses import replace

from scale_sweep.judge.figures.disturbed import DISTURBANCES, disturbances_text
from scale_sweep.judge.figures.tool_facts import tool_facts
from scale_sweep.loadgen.tool_output import last_words
from scale_sweep.measure.executing.execute import report
from scale_sweep.measure.judging.watching import Judging, WatchedLoad
from scale_sweep.measure.trial.order import TrialOrder
from scale_sweep.measure.trial.stages import ended, facts_at_first
from scale_sweep.model.declared import Operation, Subject, Work
from scale_sweep.model.declared_parts import LoadCommand
from scale_sweep.model.events import ArtifactMade, IntervalSeen, Noted, PhaseEntered, SampleTaken, TrialStarted
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.model.resources import Placement, on_cores
from scale_sweep.results.store.writer import RunWriter
from scale_sweep.sweep.resolve import resolve_sweep

TRIAL = "judge"


def plan_of(judging: Judging, watched: WatchedLoad) -> Plan:
    """One trial on the axis of clients, which grants none: the tool's user chose how many."""
    clients = max(1, watched.run.clients)
    placement = Placement(
        server_cpus=judging.server.cpus, generator_cpus=watched.load_cpus, quota_cores=judging.server.quota_cores
    )
    resources = on_cores(judging.server.quota_cores or float(len(judging.server.cpus)), placement)
    base = resolve_sweep("clients", {"target.name": "null", "axis.clients": str(clients)})
    work = Work(data=base.work.data, operations=(Operation(name="command", unit="requests"),))
    load = replace(
        base.load,
        rows=None,
        duration_s=None,
        warmup_s=0.0,
        warmup_least_s=None,
        window_max_s=None,
        carries_claim=True,
        may_discard=False,
        generator=watched.run.program.name,
        connections=watched.run.clients,
        command=LoadCommand(argv=tuple(shlex.split(judging.shown)), rate_from=judging.rate_from),
    )
    question = f"Is the rate of {watched.run.program.name} that of {judging.server.words}?"
    sweep = replace(
        base, name=f"judge {watched.run.program.name}", target="command", question=question, runtime="endpoint",
        method="command", work=work, load=load,
        replicates=1, drift_check=False,
    )  # fmt: skip
    disturbed = watched.disturbing.resources if watched.disturbing is not None else ()
    trial = Trial(
        trial_id=TRIAL,
        point_id=TRIAL,
        order=1,
        level=clients,
        replicate=1,
        resources=resources,
        work=work,
        load=load,
        subject=Subject(target="command", runtime="endpoint", method="command"),
        knobs={"connections": str(clients)},
        seed=0,
        role="proof" if disturbed else "point",
        disturbed=disturbed,
    )
    return Plan(sweep=sweep, trials=(trial,), confounds=(), notes=(), seconds_estimated=0.0)


def store(judging: Judging, watched: WatchedLoad, plan: Plan, writer: RunWriter) -> StoredRun:
    """The events of a finished trial, then its report."""
    trial = plan.trials[0]
    order = TrialOrder(
        run_id=writer.path.name, trial=trial, axis=plan.sweep.axis, data_dir="", home="", client_home="", port=None,
        disks=tuple(judging.disks), disk_placement="", wal_disk="", disk_free_min_bytes=0,
        sample_hz=judging.hz, program="",
    )  # fmt: skip
    facts = replace(
        facts_at_first(order),
        load_start_ns=watched.run.started_ns,
        measure_start_ns=watched.run.started_ns,
        flush_end_ns=watched.run.ended_ns,
        sampler_cost=watched.cost,
        samples=watched.samples,
        others=watched.others,
        aborted=_aborted(judging, watched),
    )
    facts = tool_facts(facts, watched.run, watched.lines)
    unix_s = watched.begun.timestamp()
    writer(TrialStarted(trial=trial, position=1, total=1, unix_s=unix_s, monotonic_ns=watched.run.started_ns))
    if watched.disturbing is not None:
        text = disturbances_text(watched.disturbing.rows)
        writer(ArtifactMade(trial_id=trial.trial_id, name=DISTURBANCES, text=text))
        if watched.disturbing.trouble:
            writer(Noted(trial_id=trial.trial_id, sentence=watched.disturbing.trouble))
    writer(PhaseEntered(trial_id=trial.trial_id, phase="measure", monotonic_ns=watched.run.started_ns))
    for sample in watched.samples:
        writer(SampleTaken(trial_id=trial.trial_id, sample=sample))
    for interval in facts.intervals:
        writer(IntervalSeen(trial_id=trial.trial_id, interval=interval))
    seconds = (watched.run.ended_ns - watched.run.started_ns) / 1e9
    for event in ended(order, facts, {"server": judging.server.words}, watched.begun, seconds):
        writer(event)
    writer.update_manifest(status="complete")
    return report(writer)


def _aborted(judging: Judging, watched: WatchedLoad) -> str:
    """Why there is no number; "" if there is one."""
    name, code = watched.run.program.name, watched.run.code
    if watched.is_interrupted:
        return f"{name} was interrupted"
    if code:
        how = f"ended with code {code}" if code > 0 else f"was killed by signal {-code}"
        return f"{name} {how}: {last_words(watched.lines)}"
    if not watched.server_lives:
        return "the server ended under load"
    return ""
