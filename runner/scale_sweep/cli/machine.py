"""`scale doctor`, `clean`, `servers` and `images`: this machine, leftovers, database servers to install or pack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.cli import completion
from scale_sweep.cli.arguments import JSON, require_directory

if TYPE_CHECKING:
    from scale_sweep.cli.doctor import Ability
    from scale_sweep.server.pinned import ListedServer


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("doctor", epilog="Example: scale doctor")(doctor)
    app.command("clean", epilog="Example: scale clean")(clean)
    example = "Example: scale servers install questdb"
    group = typer.Typer(
        no_args_is_help=True,
        help="Install pinned database servers from Maven, PyPI and Go modules, or list them.",
        epilog=example,
    )
    group.command("install", epilog="Example: scale servers install postgres,questdb")(install)
    group.command("list", epilog="Example: scale servers list --json")(list_)
    app.add_typer(group, name="servers")
    example = "Example: scale images build tdengine --home /usr/local/taos"
    line = "Build a Docker image of an installed database server, without a registry."
    group = typer.Typer(no_args_is_help=True, help=line, epilog=example)
    group.callback()(lambda: None)
    group.command("build", epilog=example)(build)
    app.add_typer(group, name="images")


def doctor(as_json: JSON = False) -> None:
    """Show what this machine can do: CPUs, cgroups, Docker, databases, and missing packages."""
    from scale_sweep.cli import console
    from scale_sweep.cli.doctor import examine, examine_new_pages, next_command

    abilities = (*examine(), *examine_new_pages())
    if as_json:
        console.show_json(
            [{"subject": a.subject, "there": a.there, "found": a.state, "remedy": a.remedy} for a in abilities]
        )
        return
    console.show_table("", ["", "what", "found", "to do"], [_row(a) for a in abilities])
    console.show_line(f"next: {next_command(abilities)}")


def _row(ability: Ability) -> list[str]:
    return ["ok" if ability.there else "no", ability.subject, ability.state, ability.remedy]


def clean(
    data_dir: Annotated[
        list[Path] | None, typer.Option(help="Only leftovers of sweeps with this data directory; repeatable.")
    ] = None,
    caches: Annotated[
        bool,
        typer.Option("--caches", help="Copies of programs and client libraries too; the next sweep makes them again."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    as_json: JSON = False,
) -> None:
    """Remove containers, processes, data directories, cgroups and disks that a crash or a power cut left."""
    from scale_sweep.base.errors import ProvisionError
    from scale_sweep.cli import console
    from scale_sweep.machine.state.records import read_records
    from scale_sweep.server.runtimes.clean import find_caches, find_leftovers, remove

    folders = data_dir or []
    for path in folders:
        require_directory(path, "--data-dir")
    for ignored in read_records().ignored:
        console.say(f"ignored {ignored}")
    leftovers = (*find_leftovers(folders), *(find_caches() if caches else ()))
    removed: list[dict[str, Any]] = []
    left = []
    for leftover in leftovers:
        still_there = "" if dry_run else remove(leftover)
        if still_there:
            left.append(still_there)
            continue
        removed.append(asdict(leftover))
        console.say(f"{'would remove' if dry_run else 'removed'} {leftover.kind}: {leftover.name}")
    removed += _clean_disks(dry_run, folders)  # after the servers that wrote there ended
    removed += _clean_dashboards(dry_run) if not folders else []
    if as_json:
        console.show_json(removed)
    elif not removed and not left:
        console.say("nothing is left over")
    if left:
        raise ProvisionError(
            f"these could not be removed: {', '.join(left)}",
            remedy="does another process write there? End it, then run `scale clean` again",
        )


def _clean_disks(dry_run: bool, folders: Sequence[Path]) -> list[dict[str, Any]]:
    from scale_sweep.cli import console
    from scale_sweep.machine.disks.prepare import leftover_sets, remove_sets

    left = [s for s in leftover_sets() if not folders or any(Path(s.folder).is_relative_to(f) for f in folders)]
    for disk_set in left:
        if not dry_run:
            remove_sets([disk_set])
        console.say(f"{'would remove' if dry_run else 'removed'} disks: {disk_set.name}")
    return [{"kind": "disks", "name": s.name} for s in left]


def _clean_dashboards(dry_run: bool) -> list[dict[str, Any]]:
    from scale_sweep.cli import console
    from scale_sweep.watch.dashboards import services, state_directory

    state = state_directory.own_state_directory()
    leftovers = services.find_leftovers(state)
    for leftover in leftovers:
        if not dry_run:
            services.remove(state, leftover)
        console.say(f"{'would remove' if dry_run else 'removed'} {leftover.kind}: {leftover.name}")
    return [asdict(leftover) for leftover in leftovers]


def install(
    names: Annotated[
        str,
        typer.Argument(
            help="Which servers; `scale servers list` has them.",
            metavar="NAME,...",
            autocompletion=completion.servers,
        ),
    ],
    as_json: JSON = False,
) -> None:
    """Install pinned versions of servers into the user's cache, with the user's mvn, pip or go."""
    from scale_sweep.cli import console
    from scale_sweep.server import pinned

    made = []
    for one in pinned.install_each(names.split(",")):
        made.append(asdict(one))
        if not as_json:
            console.say(f"{one.name} {one.version} is in {one.home}")
    if as_json:
        console.show_json(made)


def list_(as_json: JSON = False) -> None:
    """List the servers that can be installed, with the paths of those that are."""
    from scale_sweep.cli import console
    from scale_sweep.server import pinned

    servers = pinned.listed()
    if as_json:
        console.show_json([asdict(one) for one in servers])
        return
    console.show_table("", ["server", "version", "where"], [[one.name, one.version, _where(one)] for one in servers])


def _where(one: ListedServer) -> str:
    install = f"scale servers install {one.name}"
    return f"{one.corrupt} → {install}" if one.corrupt else one.home or install


def build(
    name: Annotated[str, typer.Argument(help="The database.", metavar="TARGET", autocompletion=completion.targets)],
    home: Annotated[Path, typer.Option(help="The directory of its installation.", metavar="DIR")],
    image: Annotated[
        str, typer.Option(help="The image's name. Default: the one of the official image.", metavar="NAME:TAG")
    ] = "",
    as_json: JSON = False,
) -> None:
    """Build an image of an installed server, under the name that `--runtime docker` starts."""
    from scale_sweep.cli import console
    from scale_sweep.server import images

    require_directory(home, "--home")
    made = images.build(name, str(home), image)
    if as_json:
        console.show_json(asdict(made))
        return
    console.say(f"{made.image}: {made.size_bytes / 1e6:.0f} MB of {made.home}")
    more = "" if made.is_default else f" --image {made.image}"
    console.say(f"use it: scale sweep cpu --target {name} --runtime docker{more}")
