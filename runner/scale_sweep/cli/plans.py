"""`scale plan`, and the sweep files of `scale init` and `scale schema`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import PreflightError
from scale_sweep.cli.arguments import NEW_RESULTS
from scale_sweep.cli.sweep_flags import JSON, WHAT
from scale_sweep.cli.sweep_help import Flags, SweepHelp, with_settings
from scale_sweep.sweep.axis import axis_of_command, commands

if TYPE_CHECKING:  # A command imports what it needs when it is called, because `--help` needs none of it.
    from scale_sweep.cli.compose import Prepared
    from scale_sweep.plan.power import GatePower

MACHINE = Annotated[
    Path | None,
    typer.Option(
        "--machine",
        metavar="FILE",
        help="Plan for the machine that this file describes, such as sweeps/machines/*.toml.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command("plan", cls=SweepHelp, epilog="Example: scale plan cpu --cores 1..all")(with_settings(plan))
    app.command("init", epilog="Example: scale init cpu --target postgres > my.toml")(init)
    app.command("schema", epilog="Example: scale schema > scale-sweep.schema.json")(schema)


def plan(
    flags: Flags, what: WHAT, results: NEW_RESULTS = Path("results"), as_json: JSON = False, machine: MACHINE = None
) -> None:
    """Show the trials, their knobs, the origin of each setting, and the duration; start nothing.

    It needs no server: one that is not installed is assumed, and the plan names it. The exit code is 3 if the sweep
    could not start for another reason.
    """
    from scale_sweep.cli import compose
    from scale_sweep.machine.host import read_host
    from scale_sweep.machine.host.machine_file import read_machine
    from scale_sweep.sweep.resolve import resolve_sweep

    if machine is None:
        prepared = compose.prepare_plan(resolve_sweep(what, flags, read_host()), results)
    else:
        host = read_machine(machine)
        prepared = compose.prepare_elsewhere(resolve_sweep(what, flags, host), host, results)
    show_whole_plan(prepared, as_json=as_json)


def show_whole_plan(prepared: Prepared, gate: GatePower | None = None, *, as_json: bool = False) -> None:
    """Shows a plan that is not started. gate: of `scale ab`. Ends the process with code 3 if it could not start."""
    from scale_sweep.cli import console, plan_views

    obstacles = [finding for finding in prepared.findings if finding.blocking]
    console.show_obstacles(obstacles)
    if as_json:
        console.show_json(plan_views.plan_document(prepared, gate))
    else:
        _show_plan(prepared, gate)
    if obstacles:
        sys.exit(PreflightError.exit_code)


def _show_plan(prepared: Prepared, gate: GatePower | None) -> None:
    from scale_sweep.cli import console, plan_views
    from scale_sweep.plan import (
        bound_sentence,
        gate_sentence,
        plan_sentence,
        planner_of,
        power_details,
        power_of,
        power_sentence,
        rate_sentence,
    )

    if prepared.elsewhere:
        console.show_line(prepared.elsewhere)
    for choice in prepared.choices.values():
        console.show_line(choice.sentence)
    console.show_line(plan_sentence(prepared.plan))
    console.show_line(rate_sentence(prepared.plan))
    power = power_of(prepared.plan, prepared.noise)
    for words in (power_sentence(prepared.plan, power), *power_details(prepared.plan, power)):
        console.show_line(words)
    if gate is not None:
        console.show_line(gate_sentence(gate))
    if grown := bound_sentence(prepared.plan, planner_of(prepared.plan).bound()):
        console.show_line(grown)
    console.show_table("Trials", *plan_views.plan_rows(prepared.plan))
    console.show_table("Server", *plan_views.set_rows(prepared))
    console.show_table(plan_views.settings_title(prepared.plan), *plan_views.setting_rows(prepared.plan.sweep))
    console.show_findings([finding for finding in prepared.findings if not finding.blocking])


AXIS = Annotated[str, typer.Argument(metavar="|".join(commands()), help="The axis to sweep.")]
TARGET = Annotated[str, typer.Option("--target", metavar="NAME", help="Database, as for scale sweep.")]


def init(axis: AXIS, target: TARGET = "auto") -> None:
    """Print a sweep file for an axis, with comments, to change and to run."""
    from scale_sweep.base.errors import UsageError
    from scale_sweep.base.texts import not_one_of
    from scale_sweep.cli import console
    from scale_sweep.server.targets import TARGETS
    from scale_sweep.sweep.schema import first_file

    chosen = axis_of_command(axis)
    if chosen is None:
        raise UsageError(f"axis {not_one_of(axis, commands())}")
    known = ("auto", *TARGETS.names())
    for name in target.split(","):
        if name not in known:
            raise UsageError(f"--target: {not_one_of(name, known)}")
    console.show_bytes(first_file(chosen, target).encode())


def schema() -> None:
    """Print the JSON schema of sweep files, for editors that complete and check them."""
    from scale_sweep.cli import console
    from scale_sweep.sweep.schema import sweep_schema

    console.show_json(sweep_schema())
