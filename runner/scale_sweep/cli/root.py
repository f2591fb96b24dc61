"""The command `scale` with the options before its commands; `commands.py` lists these."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from scale_sweep import __version__
from scale_sweep.base.errors import ScaleError, UsageError
from scale_sweep.base.interrupts import listen
from scale_sweep.cli.commands import LazyGroup

app = typer.Typer(
    name="scale",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    help="Measure how far one database server scales up, and check what limited each rate.\n\n"
    "Example: [bold]scale sweep cpu --cores 1..4[/]",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from scale_sweep.cli import console

        console.show_line(f"scale {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and end."
    ),
) -> None:
    """Options before the command."""


def refuse_bytes(words: Sequence[str]) -> None:
    """Raises UsageError for an argument that is not UTF-8: what a run stores and shows is."""
    for at, word in enumerate(words):
        if any("\ud800" <= character <= "\udfff" for character in word):
            flag = word.partition("=")[0] if word.startswith("-") else words[at - 1] if at else word
            raise UsageError(f"{flag}: {word!r} has a byte that is not UTF-8")


def run() -> None:
    """Runs the command of the command line. Raises SystemExit: a ScaleError is shown as one message and gives its
    code."""
    listen()
    try:
        refuse_bytes(sys.argv[1:])
        app()
    except ScaleError as error:
        from scale_sweep.cli import console

        console.show_error(error)
        sys.exit(error.exit_code)
