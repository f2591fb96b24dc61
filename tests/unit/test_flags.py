"""A command that takes its flags as one value gets an argument or option for each field, with the field's default."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from scale_sweep.cli.arguments import from_flags

SEEN = []


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A value of the user."""

    what: Annotated[str, typer.Argument(help="What.")]
    often: Annotated[int, typer.Option("--often", help="How often.")] = 3
    loud: Annotated[bool, typer.Option("--loud", help="Whether loud.")] = False


def say(wanted: Wanted, name: Annotated[str, typer.Option(help="Who.")] = "me") -> None:
    """Says it."""
    SEEN.append((wanted, name))


def test_fields_are_arguments_and_options():
    app = typer.Typer()
    app.command()(from_flags(say))
    assert CliRunner().invoke(app, ["hello", "--loud", "--name", "you"]).exit_code == 0
    assert SEEN.pop() == (Wanted(what="hello", loud=True), "you")
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "Says it." in shown and "How often." in shown and "[default: 3]" in shown
    assert CliRunner().invoke(app, []).exit_code == 2
