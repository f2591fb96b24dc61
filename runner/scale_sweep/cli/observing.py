"""`scale observe`: watch a machine, and a server on it, without a load."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.base.errors import EXIT_INTERRUPTED, UsageError
from scale_sweep.base.units import counted
from scale_sweep.cli.arguments import JSON, from_flags, read_flag

if TYPE_CHECKING:
    from scale_sweep.machine.host.block_devices import Disk
    from scale_sweep.measure.observing import Observed
    from scale_sweep.model.samples import DataDisk


EXAMPLE = "Example: scale observe --port 5432 --duration 10m --disk /var/lib/postgresql"


def register(app: typer.Typer) -> None:
    app.command("observe", epilog=EXAMPLE)(from_flags(observe))


@dataclass(frozen=True, kw_only=True)
class ObserveRequest:
    duration: Annotated[str, typer.Option(help="How long, like 10m. Default: until Ctrl-C.", metavar="TIME")] = ""
    pid: Annotated[
        list[int] | None, typer.Option(help="A process of the server, with all that it starts. Can be repeated.")
    ] = None
    port: Annotated[
        list[int] | None,
        typer.Option(help="The TCP port where the server listens, in place of --pid. Can be repeated.", metavar="PORT"),
    ] = None
    disk: Annotated[
        list[Path] | None,
        typer.Option(help="A directory on a disk to watch. Can be repeated. Default: the current one.", metavar="DIR"),
    ] = None
    hz: Annotated[float, typer.Option("--sample-hz", help="Samples per second, 0.1 to 10.", metavar="HZ")] = 1.0
    to: Annotated[Path, typer.Option(help="Directory of the files: a new folder in it.", metavar="DIR")] = Path(
        "observations"
    )
    metrics_port: Annotated[int, typer.Option(help="Port of the metrics on 127.0.0.1.", metavar="PORT")] = 9464
    no_metrics: Annotated[bool, typer.Option("--no-metrics", help="Serve no metrics, so show no dashboard.")] = False
    as_json: JSON = False


def observe(request: ObserveRequest) -> None:
    """Watch this machine without a load, with the files and dashboards of a sweep, until Ctrl-C or for a time."""
    from scale_sweep.base.interrupts import current
    from scale_sweep.cli import compose, console
    from scale_sweep.measure import observing
    from scale_sweep.server.runtimes.running import find_server

    seconds = _seconds(request.duration, request.hz)
    running = find_server(request.pid or (), request.port or ())
    server = running.accounting if running is not None else None
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    plan = observing.plan_of(cpus, seconds)
    disks = _disks(request.disk or [Path()])
    folder = request.to / compose.stamped("observe")
    facts: dict[str, Any] = {
        "command": sys.argv,
        "pids": list(server.root_pids) if server else [],
        "disks": [asdict(one) for one in disks],
        "sample_hz": request.hz,
    }
    with ExitStack() as stack:
        sinks = [] if request.no_metrics else [_metrics(folder.name, plan, request.metrics_port, stack)]
        console.say(f"observing into {folder}" + (f" for {seconds:g} s" if seconds else ", until Ctrl-C"))
        watched = observing.Watched(plan=plan, server=server, disks=disks, hz=request.hz, seconds=seconds)
        seen = observing.record(folder, watched, sinks, current(), facts)
    _show(seen, request.as_json)
    if seen.interrupted and seconds:
        raise typer.Exit(EXIT_INTERRUPTED)


def _seconds(duration: str, hz: float) -> float:
    from scale_sweep.base.units import parse_seconds
    from scale_sweep.experiment.setting.readers import above_zero

    if not 0.1 <= hz <= 10:
        raise UsageError(f"--sample-hz: {hz:g} is not between 0.1 and 10")
    return read_flag("--duration", above_zero(parse_seconds), duration) if duration else 0.0


def _disks(folders: list[Path]) -> tuple[DataDisk, ...]:
    """Raises UsageError for a folder that is not there, or on no device."""
    from dataclasses import replace

    from scale_sweep.machine.host.block_devices import data_disk, disk_of

    by_device: dict[str, Disk] = {}
    for folder in folders:
        is_there = os.path.exists(folder)  # False also for a name that is too long
        one = disk_of(folder) if is_there else None
        if one is None and folder != Path():
            what = "is on no disk" if is_there else "is not there"
            raise UsageError(f"--disk {folder}: {what}")
        if one is not None:
            by_device.setdefault(one.device, one)
    return tuple(replace(data_disk(one), name=f"d{n}") for n, one in enumerate(by_device.values(), 1))


def _metrics(name: str, plan: Any, port: int, stack: ExitStack) -> Any:
    from scale_sweep.cli import boards, console
    from scale_sweep.watch.live.state import LiveState

    exporter = boards.serve(LiveState(run=name, plan=plan), port, stack)
    console.say(f"metrics at {exporter.url}" + ("" if exporter.port == port else f" (port {port} is taken)"))
    boards.say_page()
    return exporter


def _show(seen: Observed, as_json: bool) -> None:
    from scale_sweep.cli import console

    if as_json:
        console.show_json({"schema": 1, **asdict(seen)})
        return
    left_out = ("path", "samples", "seconds", "interrupted")
    figures = {name: value for name, value in asdict(seen).items() if name not in left_out}
    rows = [[name.replace("_", " "), "" if value is None else f"{value:.3g}"] for name, value in figures.items()]
    console.show_table(f"{counted(seen.samples, 'sample')} in {seen.seconds:.1f} s", ["", "mean"], rows)
    console.show_line(seen.path)
