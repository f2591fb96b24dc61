"""Puts a run together: preparation, directory, execution."""

from __future__ import annotations

import datetime
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from scale_sweep.machine.host.block_devices import disk_of
from scale_sweep.measure.executing import execute as executing
from scale_sweep.measure.executing.execute import Execution, Sink
from scale_sweep.measure.executing.execute import report as report
from scale_sweep.measure.executing.place import Here, Place
from scale_sweep.model.fitted import StoredRun
from scale_sweep.plan.preparing import own_runs
from scale_sweep.plan.preparing.choice import ServerChoice
from scale_sweep.plan.preparing.earlier_runs import repetitions_of
from scale_sweep.plan.preparing.findings import refuse_blocking
from scale_sweep.plan.preparing.prepared import Prepared
from scale_sweep.plan.preparing.refusals import RefusesSameServer
from scale_sweep.results.identity import identity
from scale_sweep.results.store.reader import read_results
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import new_folder
from scale_sweep.results.store.writer import RunWriter
from scale_sweep.server.runtimes import load_runtime


def new_run(prepared: Prepared, command: Sequence[str]) -> RunWriter:
    """Noted in this user's state. Raises StoreError or PreflightError."""
    now = datetime.datetime.now(datetime.UTC)
    subject = f"{prepared.plan.sweep.name}-{prepared.plan.sweep.target}".lower()
    name = stamped("".join(c if c.isascii() and c.isalnum() else "-" for c in subject), now)
    own_runs.remember(name, prepared.plan, prepared.hosts)
    return RunWriter(RunLock(new_folder(prepared.results / name)), prepared.plan, _new_manifest(prepared, command, now))


def stamped(what: str, now: datetime.datetime | None = None) -> str:
    """The name of a new folder of results: its digits are no other's."""
    return f"{now or datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}-{what}-{secrets.token_hex(3)}"


def reopen_run(run: StoredRun, held: RunLock) -> RunWriter:
    """held: the lock under which the run was read."""
    return _reopened(run, held, {"status": "running"})


def _reopened(run: StoredRun, held: RunLock, facts: Mapping[str, Any]) -> RunWriter:
    manifest = {k: v for k, v in run.manifest.items() if k != "schema"}
    return RunWriter(held, run.plan, {**manifest, **facts}, read_results(held.run, run.plan))


def reopen_to_report(run: StoredRun, held: RunLock) -> RunWriter:
    return _reopened(run, held, {})


def asked_again(run: StoredRun, predict: tuple[float, ...], need: tuple[float, ...]) -> StoredRun:
    sweep = replace(run.plan.sweep, predict=predict or run.plan.sweep.predict, need=need or run.plan.sweep.need)
    manifest = {**run.manifest, "sweep": asdict(sweep)}
    return replace(run, plan=replace(run.plan, sweep=sweep), manifest=manifest)


def _new_manifest(prepared: Prepared, command: Sequence[str], now: datetime.datetime) -> dict[str, Any]:
    manifest = _manifest(prepared, command, now)
    is_quick = prepared.plan.sweep.is_quick
    return {**manifest, "repetitions": repetitions_of(prepared.results, manifest)} if is_quick else manifest


def _manifest(prepared: Prepared, command: Sequence[str], now: datetime.datetime) -> dict[str, Any]:
    disk = None if prepared.ram or prepared.hosts else disk_of(prepared.data_dir)
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
        "new_pages": asdict(prepared.new_pages) if prepared.new_pages else None,
        "held_bytes": prepared.held_bytes,
        "released": {c.facts.name: dict(c.facts.released) for c in prepared.choices.values()},
        "vendor_defaults": {c.facts.name: dict(c.facts.vendor_defaults) for c in prepared.choices.values()},
        "confounds": [asdict(c) for c in prepared.plan.confounds],
        "status": "running",
        **({"hosts": dict(prepared.hosts)} if prepared.hosts else {}),
    }


def execute_on(
    place: Place, prepared: Prepared, writer: RunWriter, sinks: Sequence[Sink], say: Callable[[str], None]
) -> StoredRun:
    homes = {t.subject.server: prepared.choice_of(t.subject).home for t in prepared.plan.trials}
    return _execute(place, homes, prepared, writer, sinks, say)


def execute(prepared: Prepared, writer: RunWriter, sinks: Sequence[Sink], say: Callable[[str], None]) -> StoredRun:
    """Raises PreflightError for an unsuitable client library."""
    homes = {}
    for subject in {t.subject.server: t.subject for t in prepared.plan.trials}.values():
        choice = prepared.choice_of(subject)
        homes[subject.server] = client_home(choice)
        refuse_blocking(choice.target.check_client(homes[subject.server], choice.version))
    return _execute(Here(), homes, prepared, writer, sinks, say)


def _execute(
    place: Place,
    homes: Mapping[tuple[str, ...], str],
    prepared: Prepared,
    writer: RunWriter,
    sinks: Sequence[Sink],
    say: Callable[[str], None],
) -> StoredRun:
    execution = Execution(
        plan=writer.plan,
        data_dir=prepared.data_dir,
        client_homes=homes,
        ram=prepared.ram,
        held_bytes=prepared.held_bytes,
        place=place,
        wait_quiet_s=prepared.wait_quiet_s,
        before_stored=own_runs.growing(writer.original_name, writer.plan, prepared.hosts),
    )
    checks = RefusesSameServer(prepared.plan, prepared.choices)
    return executing.execute(execution, writer, (*sinks, checks), say)


def client_home(choice: ServerChoice) -> str:
    """The load generator's client library is the server's own, or one copied out of its image."""
    if choice.can.has_images and choice.target.facts.image_library:
        copy_out = load_runtime(choice.runtime).copy_out
        library = copy_out(choice.image, choice.target.facts.image_library)
        return str(library.parent.parent)
    return choice.home
