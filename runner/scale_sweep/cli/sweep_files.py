"""`scale init` and `scale schema`: a first sweep file, and the schema of all."""

from __future__ import annotations

from typing import Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.sweep.axis import axis_of_command, commands


def register(app: typer.Typer) -> None:
    app.command("init", epilog="Example: scale init cpu --target postgres > my.toml")(init)
    app.command("schema", epilog="Example: scale schema > scale-sweep.schema.json")(schema)


ANY_SERVER = "command"  # in place of an axis: a file for any server
AXIS = Annotated[
    str,
    typer.Argument(
        metavar="|".join((*commands(), ANY_SERVER)),
        help=f"The axis to sweep; {ANY_SERVER}: the cores of any server that a command starts.",
    ),
]
TARGET = Annotated[str, typer.Option("--target", metavar="NAME", help="Database, as for scale sweep.")]


def init(what: AXIS, target: TARGET = "auto") -> None:
    """Print a sweep file for an axis, with comments, to change and to run."""
    from scale_sweep.base.texts import not_one_of
    from scale_sweep.cli import console
    from scale_sweep.sweep.file import first_command_file, first_file

    if what == ANY_SERVER:
        console.show_bytes(first_command_file().encode())
        return
    chosen = axis_of_command(what)
    if chosen is None:
        raise UsageError(f"axis {not_one_of(what, (*commands(), ANY_SERVER))}")
    refuse_unknown(target)
    console.show_bytes(first_file(chosen, target).encode())


def refuse_unknown(targets: str) -> None:
    """targets: as in --target. Raises UsageError."""
    from scale_sweep.base.texts import not_one_of
    from scale_sweep.server.targets import TARGETS

    known = ("auto", *TARGETS.names())
    for name in targets.split(","):
        if name not in known:
            raise UsageError(f"--target: {not_one_of(name, known)}")


def schema() -> None:
    """Print the JSON schema of sweep files, for editors that complete and check them."""
    from scale_sweep.cli import console
    from scale_sweep.sweep.file import sweep_schema

    console.show_json(sweep_schema())
