"""Runs what is planned: ceilings → disks → campaign → fit → report, stored at every step.

Holds no rule of its own, prints nothing and ends no process.
"""

from __future__ import annotations

import contextlib
import datetime
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from runner.campaign import Sink, hand_on, run_campaign
from runner.compose.disks import Stage, stage_of, trials_on, with_placement
from runner.errors import StoreError
from runner.host import disk_of
from runner.identity import identity
from runner.loadgen.binary import loadgen_path
from runner.loadgen.ceiling import CeilingKey, ceiling_key, measure_ceiling
from runner.loadgen.spec import trial_spec
from runner.model import CeilingsMeasured, StoredRun, Sweep, TrialResult
from runner.plan import planner_of
from runner.preparing import Prepared, refuse_blocking
from runner.report.documents import documents
from runner.runtimes import load_runtime
from runner.store.codec import SCHEMA
from runner.store.reader import read_plan, read_run, stored_format, stored_manifest
from runner.store.reference import read_reference
from runner.store.rewrite import rewrite
from runner.store.writer import RunWriter
from runner.trial.setup import TrialSetup
from runner.units import format_cpus


def new_run(prepared: Prepared, command: Sequence[str]) -> RunWriter:
    """Opens a run's directory. Raises StoreError when it cannot be written."""
    now = datetime.datetime.now(datetime.UTC)
    name = f"{now:%Y%m%dT%H%M%SZ}-{_slug(prepared.plan.sweep)}-{secrets.token_hex(3)}"
    return RunWriter(prepared.results / name, prepared.plan, _manifest(prepared, command, now))


def reopen_run(run: StoredRun) -> RunWriter:
    """A run to be continued, with what is done; one of an older format is rewritten in today's first."""
    rewrite(Path(run.path))
    return RunWriter(Path(run.path), run.plan, {k: v for k, v in run.manifest.items() if k != "schema"}, run.results)


def reopen_to_report(run: StoredRun) -> RunWriter:
    """A run to be reported anew. One of an older format keeps it, with plan, trials and tables to the byte, unless it
    is asked another question, which is part of the plan."""
    path = Path(run.path)
    if stored_format(path) == SCHEMA or run.plan != read_plan(path):
        return reopen_run(run)
    return RunWriter(path, run.plan, stored_manifest(path), run.results, keeps_format=True)


def asked_again(run: StoredRun, predict: tuple[float, ...], need: tuple[float, ...]) -> StoredRun:
    """The run with other questions to its curve, kept with it; what is empty stays as it was."""
    sweep = replace(run.plan.sweep, predict=predict or run.plan.sweep.predict, need=need or run.plan.sweep.need)
    manifest = {**run.manifest, "sweep": asdict(sweep)}
    return replace(run, plan=replace(run.plan, sweep=sweep), manifest=manifest)


def _slug(sweep: Sweep) -> str:
    return "".join(c if c.isalnum() else "-" for c in f"{sweep.name}-{sweep.target}".lower())


def _manifest(prepared: Prepared, command: Sequence[str], now: datetime.datetime) -> dict[str, Any]:
    disk = disk_of(prepared.data_dir)
    return {
        **identity(),
        "command": list(command),
        "created_utc": now.isoformat(timespec="seconds"),
        "host": asdict(prepared.host),
        "python": platform.python_version(),
        "choice": prepared.choice.sentence,
        "sweep": asdict(prepared.plan.sweep),
        "seed": prepared.plan.sweep.seed,
        "tags": dict(prepared.plan.sweep.tags),
        "disks": [asdict(disk)] if disk else [],
        "data_dir": str(prepared.data_dir),
        "findings": [asdict(f) for f in prepared.findings],
        "confounds": [asdict(c) for c in prepared.plan.confounds],
        "status": "running",
    }


def measure_ceilings(prepared: Prepared, program: str) -> Mapping[CeilingKey, float]:
    """The generator's own ceiling for each combination of threads and CPUs in the plan."""
    ceilings: dict[CeilingKey, float] = {}
    for trial in prepared.plan.trials:
        key = ceiling_key(trial)
        if key not in ceilings:
            ceilings[key] = measure_ceiling(program, trial_spec(trial, {}), trial.placement.client_cpus)
    return ceilings


def execute(prepared: Prepared, writer: RunWriter, sinks: Sequence[Sink], say: Callable[[str], None]) -> StoredRun:
    """Runs what the writer's run still lacks, then fits and reports. Stored at every step."""
    program, home = loadgen_path(), client_home(prepared)
    refuse_blocking(prepared.choice.target.check_client(home, prepared.choice.version))
    say("measuring the generator's own ceiling (null driver, same rows, same CPUs)")
    ceilings = measure_ceilings(prepared, program)
    writer.update_manifest(
        ceiling_rows_per_s={
            f"{threads} threads, {rows} rows a request, on CPU {format_cpus(cpus)}": rate
            for (threads, rows, cpus), rate in ceilings.items()
        }
    )
    prepared.data_dir.mkdir(parents=True, exist_ok=True)
    try:
        with stage_of(prepared.plan, prepared.data_dir, writer.path.name, say) as stage:
            writer.update_manifest(**stage.manifest())
            setup, why = with_placement(_setup(prepared, writer, ceilings, stage), prepared.plan, say)
            by_trial = _by_trial(prepared, ceilings)
            writer.update_manifest(disk_placement=why, trial_ceilings=by_trial)
            hand_on(CeilingsMeasured(rows_per_s=by_trial, disks=stage.ceilings), sinks)
            run_campaign(writer.plan, planner_of(writer.plan), trials_on(setup), [writer, *sinks], writer.results, say)
    except BaseException:
        with contextlib.suppress(StoreError):  # when the disk is full, that is the news already
            writer.update_manifest(status="interrupted")
        raise
    writer.update_manifest(status="complete", server=_server(writer.results))
    return report(writer)


def _by_trial(prepared: Prepared, ceilings: Mapping[CeilingKey, float]) -> dict[str, float]:
    return {t.trial_id: ceilings[ceiling_key(t)] for t in prepared.plan.trials}


def _setup(prepared: Prepared, writer: RunWriter, ceilings: Mapping[CeilingKey, float], stage: Stage) -> TrialSetup:
    return TrialSetup(
        sweep=prepared.plan.sweep,
        target=prepared.choice.target,
        runtime=load_runtime(prepared.choice.runtime),
        home=prepared.choice.home,
        client_home=client_home(prepared),
        data_dir=str(prepared.data_dir),
        disks=stage.disks,
        run_id=writer.path.name,
        program=loadgen_path(),
        ceilings=ceilings,
        disk_ceilings=stage.ceilings,
    )


def _server(results: Sequence[TrialResult]) -> dict[str, str]:
    said = next((r.effective for r in results if r.effective), {})
    return {"version": said.get("server_version", "")}


def report(writer: RunWriter) -> StoredRun:
    """Fits what is stored and writes fit.json, report.md and report.html."""
    writer.update_manifest(reported_by=identity())
    run = read_run(writer.path)
    made = documents(run, read_reference(run.plan.sweep.reference))
    for name, fit in made.fits.items():
        writer.write_fit(fit, name)
    for name, text in made.pages.items():
        writer.write_report(name, text)
    return made.run


def client_home(prepared: Prepared) -> str:
    """Where the load core's client library is: with the server, or taken out of its image."""
    choice = prepared.choice
    if choice.can.has_images and choice.target.facts.image_library:
        copy_out = load_runtime(choice.runtime).copy_out
        library = copy_out(choice.image, choice.target.facts.image_library, prepared.data_dir)
        return str(library.parent.parent)
    return choice.home
