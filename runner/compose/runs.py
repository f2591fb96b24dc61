"""A run from what is prepared: its directory opened or reopened, then executed. Holds no rule of its own."""

from __future__ import annotations

import contextlib
import datetime
import platform
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from runner import executing
from runner.executing import Execution, Sink
from runner.host import disk_of
from runner.identity import identity
from runner.model import StoredRun, Sweep
from runner.preparing import Choice, Prepared, refuse_blocking
from runner.runtimes import load_runtime
from runner.runtimes.data_dir import made_directory
from runner.runtimes.ram_dir import mounted
from runner.store.codec import SCHEMA
from runner.store.reader import read_plan, stored_format, stored_manifest
from runner.store.rewrite import rewrite
from runner.store.writer import RunWriter


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
    disk = None if prepared.ram else disk_of(prepared.data_dir)
    return {
        **identity(),
        "command": list(command),
        "created_utc": now.isoformat(timespec="seconds"),
        "host": asdict(prepared.host),
        "python": platform.python_version(),
        "choice": "; ".join(choice.sentence for choice in prepared.choices.values()),
        "sweep": asdict(prepared.plan.sweep),
        "seed": prepared.plan.sweep.seed,
        "order_seed": prepared.plan.sweep.seed_of_order,
        "tags": dict(prepared.plan.sweep.tags),
        "disks": [asdict(disk)] if disk else [],
        "data_dir": str(prepared.data_dir),
        "findings": [asdict(f) for f in prepared.findings],
        "confounds": [asdict(c) for c in prepared.plan.confounds],
        "status": "running",
    }


def execute(prepared: Prepared, writer: RunWriter, sinks: Sequence[Sink], say: Callable[[str], None]) -> StoredRun:
    """Runs what the writer's run still lacks, then fits and reports. Raises PreflightError for an unfit client."""
    was_named = bool(prepared.plan.sweep.data_dir)
    with (
        mounted(prepared.ram) if prepared.ram else contextlib.nullcontext(),
        made_directory(prepared.data_dir) if was_named else contextlib.nullcontext(),
    ):
        return _execute(prepared, writer, sinks, say)


def _execute(prepared: Prepared, writer: RunWriter, sinks: Sequence[Sink], say: Callable[[str], None]) -> StoredRun:
    homes = {}
    for subject in {t.subject.server: t.subject for t in prepared.plan.trials}.values():
        choice = prepared.choice_of(subject)
        homes[subject.server] = client_home(choice, prepared.data_dir)
        refuse_blocking(choice.target.check_client(homes[subject.server], choice.version))
    execution = Execution(plan=writer.plan, data_dir=prepared.data_dir, client_homes=homes)
    return executing.execute(execution, writer, sinks, say)


def client_home(choice: Choice, data_dir: Path) -> str:
    """Where the load generator's client library is: with the server, or taken out of its image."""
    if choice.can.has_images and choice.target.facts.image_library:
        copy_out = load_runtime(choice.runtime).copy_out
        library = copy_out(choice.image, choice.target.facts.image_library, data_dir)
        return str(library.parent.parent)
    return choice.home
