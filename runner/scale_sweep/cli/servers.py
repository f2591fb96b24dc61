"""`scale servers install|list`: servers that a registry of packages provides. Wiring only."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scale_sweep.server.pinned import ListedServer

JSON = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    example = "Example: scale servers install questdb"
    group = typer.Typer(no_args_is_help=True, help="Install database servers from Maven, or list them.", epilog=example)
    group.command("install", epilog=example)(install)
    group.command("list", epilog="Example: scale servers list --json")(list_)
    app.add_typer(group, name="servers")


def install(
    name: Annotated[str, typer.Argument(help="Which server; `scale servers list` has them.", metavar="NAME")],
    as_json: JSON = False,
) -> None:
    """Install a pinned version of a server into the user's cache, with the user's mvn and pip."""
    from scale_sweep.cli import console
    from scale_sweep.server import pinned

    made = pinned.install(name)
    if as_json:
        console.show_json(asdict(made))
    else:
        console.say(f"{made.name} {made.version} is in {made.home}")


def list_(as_json: JSON = False) -> None:
    """List the servers that can be installed, with the paths of those that are."""
    from scale_sweep.cli import console
    from scale_sweep.server import pinned

    found = pinned.listed()
    if as_json:
        console.show_json([asdict(one) for one in found])
        return
    console.show_table("", ["server", "version", "where"], [[one.name, one.version, _where(one)] for one in found])


def _where(one: ListedServer) -> str:
    install = f"scale servers install {one.name}"
    return f"{one.corrupt} → {install}" if one.corrupt else one.home or install
