"""`scale disks create|list|remove`: disks that stay between sweeps, for machines without spare ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import counted, format_bytes, parse_bytes, parse_count
from scale_sweep.cli.arguments import JSON, confirm_format, from_flags, read_flag

if TYPE_CHECKING:
    from scale_sweep.model.samples import DataDisk, DiskSource

YES = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask before --format.")]


def register(app: typer.Typer) -> None:
    example = "Example: sudo scale disks create --loop 1GiB --count 3 --cap 20MiB/s"
    group = typer.Typer(no_args_is_help=True, help="Make disks for sweeps, list them, remove them.", epilog=example)
    group.command("create", epilog=example)(from_flags(create))
    group.command("list", epilog="Example: scale disks list --json")(list_)
    group.command("remove", epilog="Example: sudo scale disks remove disks")(remove)
    app.add_typer(group, name="disks")


@dataclass(frozen=True, kw_only=True)
class DisksRequest:
    loop: Annotated[str, typer.Option(help="Size of each loop device to make.", metavar="SIZE")] = ""
    device: Annotated[str, typer.Option(help="Or block devices to use: /dev/sdb,/dev/sdc.", metavar="LIST")] = ""
    count: Annotated[
        str, typer.Option(help="Number of disks. Default with --device: as many as named.", metavar="N")
    ] = ""
    cap: Annotated[str, typer.Option(help="Limit of each one's reads and writes, like 20MiB/s.", metavar="RATE")] = ""
    cap_iops: Annotated[str, typer.Option(help="Limit of each one in operations per second.", metavar="N")] = ""
    name: Annotated[str, typer.Option(help="Name of the set, for `scale disks remove`.", metavar="NAME")] = "disks"
    owner: Annotated[str, typer.Option(help="User who may write there.", metavar="USER")] = "root"
    file_system: Annotated[str, typer.Option(help="ext4 or xfs.", metavar="TYPE")] = "ext4"
    make_format: Annotated[bool, typer.Option("--format", help="Make file systems on --device.")] = False
    wipe: Annotated[bool, typer.Option("--wipe", help="Format a --device even if it holds data.")] = False
    base: Annotated[Path | None, typer.Option(help="Directory of the files and mount points.", metavar="DIR")] = None
    yes: YES = False
    as_json: JSON = False


def create(request: DisksRequest) -> None:
    """Make disks that stay until they are removed, and verify their limits by a measurement. Needs root."""
    from scale_sweep.cli import console
    from scale_sweep.experiment.setting.readers import at_least
    from scale_sweep.machine.disks import prepare
    from scale_sweep.machine.disks.source import check_source
    from scale_sweep.plan.preparing.data_place import default_data_dir

    source, count = _source(request), request.count
    number = read_flag("--count", at_least(1, parse_count), count) if count else len(source.devices) or 1
    if source.devices and number > len(source.devices):
        raise UsageError(f"--count {number}: at most {counted(len(source.devices), 'named device')}")
    place = request.base or default_data_dir()
    console.show_findings([f for f in check_source(source, number, place) if not f.blocking])
    confirm_format(source, request.yes)
    made, disks_made = prepare.create(request.name, source, number, place, request.owner)
    if request.as_json:
        console.show_json({"set": asdict(made), "disks": [asdict(d) for d in disks_made]})
        return
    console.show_table("", ["disk", "path", "device", "size", "limit"], [_row(d) for d in disks_made])
    console.say(f"Sweep them: scale sweep disk --disks 1..{number} --dir {','.join(made.paths)}")
    console.say(f"Remove them: scale disks remove {made.name}")


def _source(request: DisksRequest) -> DiskSource:
    from scale_sweep.model.samples import DiskSource

    loop, cap, cap_iops = request.loop, request.cap, request.cap_iops
    if bool(loop) == bool(request.device):
        raise UsageError("name the disks once: --loop SIZE or --device LIST")
    return DiskSource(
        kind="loop" if loop else "device",
        loop_bytes=read_flag("--loop", parse_bytes, loop) if loop else None,
        devices=tuple(d.strip() for d in request.device.split(",") if d.strip()),
        cap_bytes_per_s=read_flag("--cap", parse_bytes, cap.removesuffix("/s")) if cap else None,
        cap_iops=read_flag("--cap-iops", parse_count, cap_iops) if cap_iops else None,
        file_system=request.file_system,
        format=request.make_format,
        wipe=request.wipe,
    )


def _row(disk: DataDisk) -> list[str]:
    limits = [f"{format_bytes(disk.cap_bytes_per_s)}/s"] if disk.cap_bytes_per_s else []
    limits += [f"{disk.cap_iops} IOPS"] if disk.cap_iops else []
    return [disk.name, disk.path, disk.block_name, format_bytes(disk.size_bytes), ", ".join(limits) or "none"]


def list_(as_json: JSON = False) -> None:
    """List the sets of disks that exist."""
    from scale_sweep.cli import console
    from scale_sweep.machine.disks.sets import list_disks, state_of

    sets = list_disks()
    if as_json:
        console.show_json([{**asdict(s), "paths": s.paths, "state": state_of(s)} for s in sets])
    elif not sets:
        console.say("no disks were made")
    else:
        rows = [[s.name, str(s.count), s.source.kind, state_of(s), s.folder] for s in sets]
        console.show_table("", ["set", "disks", "kind", "state", "folder"], rows)


def remove(
    name: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Sets to remove.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: JSON = False,
) -> None:
    """Unmount and delete disks, and remove our file system from block devices. Needs root."""
    from scale_sweep.cli import console
    from scale_sweep.machine.disks.prepare import remove_disks

    if not name and not everything:
        raise UsageError("say which disks to remove: NAME or --all", remedy="scale disks list")
    removed = remove_disks(name or (), everything=everything)
    if as_json:
        console.show_json([s.name for s in removed])
        return
    for disk_set in removed:
        console.say(f"removed disks: {disk_set.name}")
    if not removed:
        console.say("there is nothing to remove")
