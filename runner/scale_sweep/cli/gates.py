"""The gates of `scale compare` and `scale ab`: their options, and how an answer ends the process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import EXIT_NOT_SHOWN, EXIT_SLOWER, UsageError
from scale_sweep.base.units import parse_percent

if TYPE_CHECKING:  # the model costs as much as the rest of a command's help
    from scale_sweep.model.compared import Comparison, Gate, GateKind

_PANEL = "Gates, for scripts (one of them)"
_NEEDS = "It needs a run of scale ab, or several runs of A and of B."


@dataclass(frozen=True, kw_only=True)
class GateFlags:
    """The options of the gates, as they were written."""

    fail_if_slower: Annotated[
        str | None,
        typer.Option(
            "--fail-if-slower",
            metavar="PERCENT",
            help="End with code 11 if B is slower by more than this at a level, or on all levels together, and noise "
            "does not explain it. Also if a level has VALID trials of A and none of B. If the trials are too few to "
            "show a difference, the code is 0. " + _NEEDS,
            rich_help_panel=_PANEL,
        ),
    ] = None
    same_within: Annotated[
        str | None,
        typer.Option(
            "--same-within",
            metavar="PERCENT",
            help="End with code 0 only if every level shows that B differs from A by less than this, like 3%. The "
            "code is 11 if B is slower by more, and 13 if the trials do not show either, or are too few. " + _NEEDS,
            rich_help_panel=_PANEL,
        ),
    ] = None
    prove_not_slower: Annotated[
        str | None,
        typer.Option(
            "--prove-not-slower",
            metavar="PERCENT",
            help="End with code 0 only if every level shows that B is slower by less than this, like 5%, or faster. "
            "The code is 11 if B is slower by more, and 13 if the trials do not show either, or are too few. " + _NEEDS,
            rich_help_panel=_PANEL,
        ),
    ] = None


def gate_of(flags: GateFlags) -> Gate | None:
    """The gate of the command line. Raises UsageError that names the flag for a wrong percentage, and for two gates."""
    texts: dict[GateKind, str | None] = {
        "fail_if_slower": flags.fail_if_slower,
        "same_within": flags.same_within,
        "prove_not_slower": flags.prove_not_slower,
    }
    written = {kind: text for kind, text in texts.items() if text is not None}
    names = [f"--{kind.replace('_', '-')}" for kind in written]
    if len(written) > 1:
        raise UsageError(f"{' and '.join(names)} exclude each other", remedy="give one gate")
    for kind, text in written.items():
        from scale_sweep.model.compared import Gate

        try:
            return Gate(kind=kind, percent=parse_percent(text))
        except ValueError as error:
            raise UsageError(f"{names[0]}: {error}") from None
    return None


MORE_RUNS = "measure both in one run with scale ab, or give several runs a side: A1,A2,... B1,B2,..."
MORE_BLOCKS = (
    "scale show RUN explains why trials are not VALID; give more --blocks, on a machine that does nothing else"
)
IN_TURN = "measure the sessions in turn, A B B A, or use scale ab; --any-order judges them nevertheless"


def judged(comparison: Comparison, remedy: str = MORE_RUNS) -> None:
    """Ends the process with code 11 if B is slower than the gate accepts, and with 13 if its condition is not shown.

    Raises UsageError if the runs cannot answer. remedy: runs that can.
    """
    gate = comparison.gate
    if gate is None:
        return
    if gate.answer in ("slower", "not measured"):
        raise typer.Exit(EXIT_SLOWER)
    if gate.answer == "not judged":
        _, _, why = gate.sentence.split(": ", 2)
        raise UsageError(f"--{gate.kind.replace('_', '-')}: {why}", remedy=remedy)
    if gate.answer == "not shown":
        raise typer.Exit(EXIT_NOT_SHOWN)


def show_gate(comparison: Comparison) -> None:
    """Shows the points that decide, and the answer in one sentence."""
    from scale_sweep.cli import console

    gate = comparison.gate
    if gate is None:
        return
    for where in comparison.unjudged:
        console.show_line(f"no VALID trial of B at {where}: cannot be judged", "red")
    for where in comparison.slower:
        console.show_line(f"slower than allowed ({gate.percent:g} %): {where}", "red")
    colours = {"shown": "green", "not found": "green", "not judged": "yellow", "not shown": "yellow"}
    console.show_line(gate.sentence, colours.get(gate.answer, "red"))
