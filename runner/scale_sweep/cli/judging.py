"""`scale judge`: runs a load command that its user has already, and names whose limit its number is."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.base.errors import EXIT_INTERRUPTED, EXIT_TRIALS_FAILED, UsageError
from scale_sweep.cli.arguments import JSON, NEW_RESULTS, from_flags, read_flag

if TYPE_CHECKING:
    from scale_sweep.loadgen.readers import Reader
    from scale_sweep.measure.judging.watching import Judging, WatchedLoad
    from scale_sweep.model.fitted import StoredRun
    from scale_sweep.model.samples import DataDisk
    from scale_sweep.server.runtimes.running import RunningServer

EXAMPLE = "Example: scale judge --port 5432 -- pgbench -c 8 -j 2 -T 60 bench"
_SECRET = re.compile(r"(?i)^(--?[a-z-]*(?:passw|secret|token|auth)[a-z-]*)(=.*)?$")
_IN_ADDRESS = re.compile(r"(://[^:/@\s]*):[^@/\s]+@")
HIDDEN = "***"


def register(app: typer.Typer) -> None:
    settings = {"allow_interspersed_args": False}
    app.command("judge", epilog=EXAMPLE, context_settings=settings)(from_flags(judge))


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The load command, as you type it.")]
    port: Annotated[
        list[int] | None, typer.Option(help="TCP port where the server listens. Can be repeated.", metavar="PORT")
    ] = None
    pid: Annotated[
        list[int] | None, typer.Option(help="A process of the server, with all that it starts. Can be repeated.")
    ] = None
    container: Annotated[str, typer.Option(help="The server's Docker container.", metavar="NAME")] = ""
    unit: Annotated[str, typer.Option(help="The server's systemd unit.", metavar="NAME")] = ""
    rate_from: Annotated[
        str,
        typer.Option(
            help="A regular expression with one group that finds the rate in the output of a command that scale does "
            "not read by itself: 'ops/s: ([0-9.]+)'.",
            metavar="REGEX",
        ),
    ] = ""
    disk: Annotated[
        Path | None, typer.Option(help="A directory on the server's disk. Default: the server's own.", metavar="DIR")
    ] = None
    linger: Annotated[
        str, typer.Option(help="Longest wait for processes that the command left in the background.", metavar="TIME")
    ] = "10s"
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Make the CPUs of server and load busier for some seconds, and prove which limits: 1 minute. "
            "Also the disk of --disk DIR.",
        ),
    ] = False
    hz: Annotated[float, typer.Option("--sample-hz", help="Samples per second, 0.1 to 10.", metavar="HZ")] = 1.0
    results: NEW_RESULTS = Path("results")
    hosts: Annotated[str, typer.Option(hidden=True)] = ""
    as_json: JSON = False


def judge(request: JudgeRequest) -> None:
    """Run a load command, like pgbench, and show whether its number is the server's or the load's."""
    from scale_sweep.base.interrupts import current
    from scale_sweep.cli import console
    from scale_sweep.measure.judging.watching import watch

    load = _judging_of(request)
    console.say(f"{load.shown}; the server is {load.server.words}")
    watched = watch(load, current())
    from scale_sweep.cli import judged  # now: it needs three times the memory

    run = _stored(request, load, watched)
    if request.as_json:
        console.show_json(judged.document(run, load, watched))
    else:
        judged.show(run, load, watched)
    if watched.is_interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not judged.is_the_servers(run):
        raise typer.Exit(EXIT_TRIALS_FAILED)


def _judging_of(request: JudgeRequest) -> Judging:
    """Raises UsageError before anything is started."""
    from scale_sweep.base.units import parse_seconds
    from scale_sweep.loadgen.readers import pattern_reader, reader_of, with_progress
    from scale_sweep.measure.judging.watching import Judging
    from scale_sweep.results.store.stored import own_folder
    from scale_sweep.server.runtimes.running import find_server

    if request.hosts:
        raise UsageError("--hosts: judge watches this machine", remedy="run scale judge on the server's machine")
    if not 0.1 <= request.hz <= 10:
        raise UsageError(f"--sample-hz: {request.hz:g} is not between 0.1 and 10")
    linger_s = read_flag("--linger", parse_seconds, request.linger)
    reader = pattern_reader(request.rate_from) if request.rate_from else reader_of(request.command)
    server = find_server(request.pid or (), request.port or (), request.container, request.unit)
    if server is None:
        raise UsageError("which server? It is not named", remedy="give --port, --pid, --container or --unit")
    if not server.cpus:
        raise UsageError(f"the server has ended: {server.words}")
    _refuse_missing(request.command[0])
    if request.prove:
        _refuse_proof(request, reader)
    disks = _disks(request.disk, server)
    own_folder(request.results, makes=True)
    if not os.access(request.results, os.W_OK | os.X_OK):
        raise UsageError(f"--results {request.results}: is not writable", remedy="give another directory")
    argv = with_progress(reader, request.command) if reader is not None else tuple(request.command)
    return Judging(
        argv=tuple(argv),
        shown=shlex.join(masked(argv, reader)),
        reader=reader,
        rate_from=request.rate_from,
        server=server,
        disks=disks,
        hz=request.hz,
        linger_s=linger_s,
        sink=2 if request.as_json else 1,
        proves=request.prove,
        disturbed_folder=str(request.disk.resolve()) if request.prove and request.disk is not None else "",
    )


def _refuse_proof(request: JudgeRequest, reader: Reader | None) -> None:
    from scale_sweep.base.units import parse_seconds
    from scale_sweep.loadgen.readers import value_of
    from scale_sweep.machine.host.disturbing import disk_obstacle
    from scale_sweep.measure.judging.judged_proof import WHOLE_S

    if reader is None or not reader.progress:
        remedy = "use a tool with progress by the second, like pgbench or sysbench"
        raise UsageError("--prove: scale cannot read the command's rate while it runs", remedy=remedy)
    length = value_of(request.command, reader.duration)
    with contextlib.suppress(ValueError):
        if length and parse_seconds(length if length[-1].isalpha() else f"{length}s") < WHOLE_S:
            remedy = f"give {reader.duration[0]} {WHOLE_S:.0f} or more"
            raise UsageError(f"--prove: a load of {length} s is too short", remedy=remedy)
    if request.disk is not None and (why := disk_obstacle(str(request.disk.resolve()))):
        raise UsageError(f"--prove --disk {request.disk}: {why}", remedy="leave --disk out")


def _refuse_missing(program: str) -> None:
    import shutil

    if shutil.which(program) is None:
        raise UsageError(f"{program}: there is no such program", remedy="name one that is installed, after --")


def masked(argv: Sequence[str], reader: Reader | None) -> list[str]:
    """Without passwords that flags and addresses hold."""
    shown, hides, short = [], False, reader.secrets if reader is not None else ()
    for word in argv:
        flag = _SECRET.match(word)
        if word[:2] in short:
            shown.append(word[:2] + (HIDDEN if word[2:] else ""))
        elif hides and not word.startswith("-"):
            shown.append(HIDDEN)
        elif flag and flag[2]:
            shown.append(f"{flag[1]}={HIDDEN}")
        else:
            shown.append(_IN_ADDRESS.sub(rf"\1:{HIDDEN}@", word))
        hides = (flag is not None and not flag[2]) or word in short
    return shown


def _disks(named: Path | None, server: RunningServer) -> tuple[DataDisk, ...]:
    from dataclasses import replace

    from scale_sweep.machine.host.block_devices import data_disk, disk_of

    if named is not None and not os.path.isdir(named):
        raise UsageError(f"--disk {named}: is not a directory")
    folder = named or (Path(server.folder) if server.folder else None)
    disk = disk_of(folder) if folder is not None and os.path.exists(folder) else None
    return (replace(data_disk(disk), name="d1"),) if disk is not None else ()


def _stored(request: JudgeRequest, load: Judging, watched: WatchedLoad) -> StoredRun:
    from scale_sweep.cli import compose
    from scale_sweep.machine.host.host_facts import read_host
    from scale_sweep.measure.judging.storing import plan_of, store
    from scale_sweep.plan.preparing import own_runs
    from scale_sweep.results.identity import identity
    from scale_sweep.results.store.run_lock import RunLock
    from scale_sweep.results.store.stored import new_folder
    from scale_sweep.results.store.writer import RunWriter

    plan = plan_of(load, watched)
    tool = re.sub(r"[^a-z0-9]+", "-", watched.run.program.name.lower()).strip("-") or "command"
    name = compose.stamped(f"judge-{tool}")
    own_runs.remember(name, plan, {})
    manifest: dict[str, Any] = {
        **identity(),
        "command": masked(sys.argv, load.reader),
        "created_utc": watched.begun.isoformat(timespec="seconds"),
        "host": asdict(read_host()),
        "choice": load.server.words,
        "sweep": asdict(plan.sweep),
        "seed": plan.sweep.seed,
        "disks": [asdict(disk) for disk in load.disks],
        "findings": [],
        "left_behind": list(watched.left_behind),
        "status": "running",
    }
    writer = RunWriter(RunLock(new_folder(request.results / name)), plan, manifest)
    return store(load, watched, plan, writer)
