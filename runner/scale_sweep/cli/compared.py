"""`scale compare`: stored runs against each other, and how a comparison is shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import EXPLAINED
from scale_sweep.cli import completion
from scale_sweep.cli.arguments import JSON, RESULTS, from_flags
from scale_sweep.cli.gates import IN_TURN, MORE_BLOCKS, MORE_RUNS, GateFlags, gate_of, judged, show_gate

if TYPE_CHECKING:
    from scale_sweep.model import StoredRun
    from scale_sweep.model.compared import Comparison, Gate

_EXAMPLE = "Example: scale compare A1,A2,A3 B1,B2,B3 --prove-not-slower 5%"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("compare", epilog=_EXAMPLE)(from_flags(compare))


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    """The runs, and how they are compared and shown."""

    runs_a: Annotated[str, typer.Argument(metavar="A[,A2,...]", help="Runs to compare with; or a run of scale ab.")]
    runs_b: Annotated[
        str | None,
        typer.Argument(metavar="[B[,B2,...]]", help="Runs to compare with A; none for a run of scale ab."),
    ] = None
    others: Annotated[
        list[str] | None,
        typer.Argument(metavar="[C ...]", help="More runs, one of each server: all are compared with A on one page."),
    ] = None
    side_by_side: Annotated[
        bool,
        typer.Option("--side-by-side", help="Show A and B as two servers of a fleet; three runs or more always are."),
    ] = False
    prices: Annotated[
        str | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="Of servers: a price list (TOML) whose machines have the names of the hosts.",
            autocompletion=completion.prices,
        ),
    ] = None
    any_order: Annotated[
        bool,
        typer.Option(
            "--any-order",
            help="Also test and judge sessions in an order like A A B B, in which a change of the machine over time "
            "looks like a difference.",
        ),
    ] = False
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the curves as a page.")] = None
    results: RESULTS = Path("results")
    as_json: JSON = False


def compare(request: CompareRequest, gates: GateFlags) -> None:
    """Compare stored runs point by point, test the differences, and show what else differs.

    A and B are names of runs, parts of them, paths, or `last`. Give several runs a side, measured in turn, to test
    against the spread between sessions, or one run of `scale ab`. One run a side is shown, but no gate judges it. A run
    against itself shows the rate of false alarms. Three runs or more, one of each server, are all compared with A.
    """
    if request.others or request.side_by_side:
        from scale_sweep.cli import compared_servers

        compared_servers.compare(request, gates)
        return
    if request.prices is not None:
        raise UsageError("--prices: only servers side by side have prices", remedy="--side-by-side")
    from scale_sweep.cli import console
    from scale_sweep.report.overlay import overlay_html
    from scale_sweep.results.store.outside import write_outside

    gate = gate_of(gates)
    a, b = read_runs(request.results, request.runs_a), read_runs(request.results, request.runs_b or "")
    comparison = _compared(a, b, gate, any_order=request.any_order)
    html = request.html
    if html is not None and not b:
        raise UsageError(f"--html: {a[0].path}/report.html has the picture of a run of scale ab")
    if html is not None:
        write_outside(html, overlay_html(comparison, a, b).encode())
    if request.as_json:
        console.show_json(asdict(comparison))
    else:
        show_comparison(comparison)
        if html is not None:
            console.show_line(f"page: {html}")
    if not any(p.ratio is not None for p in comparison.points):
        raise UsageError(comparison.sentence, remedy="scale show RUN explains why trials are not VALID")
    judged(comparison, MORE_BLOCKS if not b else MORE_RUNS if len(a) == len(b) == 1 else IN_TURN)


def read_runs(results: Path, names: str) -> list[StoredRun]:
    """The runs of names with commas between them. Raises UsageError for a name without a run."""
    from scale_sweep.results.store.reader import find_run, read_run

    return [read_run(find_run(results, name.strip())) for name in names.split(",") if name.strip()]


def _compared(a: list[StoredRun], b: list[StoredRun], gate: Gate | None, *, any_order: bool) -> Comparison:
    from scale_sweep.analysis.compare import compare_runs, compare_sessions, compare_variants

    if not b:
        if len(a) != 1:
            raise UsageError("no run B is named", remedy="scale compare A1,A2,... B1,B2,...")
        return compare_variants(a[0], gate)
    if not a:
        raise UsageError("no run A is named", remedy="scale compare A B")
    if len(a) == len(b) == 1:
        return compare_runs(a[0], b[0], gate)
    return compare_sessions(a, b, gate, any_order=any_order)


def show_comparison(comparison: Comparison) -> None:
    """Shows the answer, the points, the cautions and other differences."""
    from scale_sweep.cli import console
    from scale_sweep.report.overlay import differing_table, false_alarm_words, ratio_table, session_words

    console.show_line(f"A: {comparison.run_a}")
    console.show_line(f"B: {comparison.run_b}")
    table = ratio_table(comparison)
    console.show_table("", table.headers, table.rows)
    if any(p.low is not None for p in comparison.points):
        console.show_line(f"{EXPLAINED} of the ratio.", "dim")
    console.show_line("")
    console.show_line(comparison.sentence, "bold")
    for caution in comparison.cautions:
        console.show_line(f"  but: {caution}", "yellow")
    for words in filter(None, (session_words(comparison), false_alarm_words(comparison))):
        console.show_line(words)
    if comparison.differing:
        differing = differing_table(comparison)
        console.show_table(f"Other differences ({len(comparison.differing)})", differing.headers, differing.rows)
    else:
        console.show_line("no other recorded difference")
    show_gate(comparison)
