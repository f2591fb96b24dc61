"""`scale compare`: stored runs against each other, on one page or by a gate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.base.errors import EXIT_NOT_SHOWN, EXIT_SLOWER, NotMeasuredError, UsageError
from scale_sweep.base.units import EXPLAINED, parse_percent
from scale_sweep.cli import completion
from scale_sweep.cli.arguments import JSON, RESULTS, from_flags, read_flag

if TYPE_CHECKING:  # the model costs as much as the rest of a command's help
    from scale_sweep.model.compared import Comparison, Gate
    from scale_sweep.model.fitted import StoredRun

_PANEL = "Gates, for scripts (one of them)"
_NEEDS = "It needs a run of scale ab, or several runs of A and of B; with too few VALID trials the code is 14."


@dataclass(frozen=True, kw_only=True)
class GateFlags:
    fail_if_slower: Annotated[
        str | None,
        typer.Option(
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
            metavar="PERCENT",
            help="End with code 0 only if every level shows that B differs from A by less than this, like 3%. The "
            "code is 11 if B is slower by more, and 13 if the trials do not show either, or are too few. " + _NEEDS,
            rich_help_panel=_PANEL,
        ),
    ] = None
    prove_not_slower: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="End with code 0 only if every level shows that B is slower by less than this, like 5%, or faster. "
            "The code is 11 if B is slower by more, and 13 if the trials do not show either, or are too few. " + _NEEDS,
            rich_help_panel=_PANEL,
        ),
    ] = None


def gate_of(flags: GateFlags) -> Gate | None:
    """Raises UsageError for a wrong percentage, and for two gates."""
    written: dict[Any, str] = {kind: text for kind, text in vars(flags).items() if text is not None}
    names = [f"--{kind.replace('_', '-')}" for kind in written]
    if len(written) > 1:
        raise UsageError(f"{' and '.join(names)} exclude each other", remedy="give one gate")
    for kind, text in written.items():
        from scale_sweep.model.compared import Gate

        return Gate(kind=kind, percent=read_flag(names[0], parse_percent, text))
    return None


MORE_RUNS = "measure both in one run with scale ab, or give several runs a side: A1,A2,... B1,B2,..."
MORE_BLOCKS = (
    "scale show RUN explains why trials are not VALID; give more --blocks, on a machine that does nothing else"
)
IN_TURN = "measure the sessions in turn, A B B A, or use scale ab; --any-order judges them nevertheless"


def judged(comparison: Comparison, remedy: str = MORE_RUNS) -> None:
    """Ends with code 11 if B is slower than the gate accepts, 13 if that is not shown. Raises NotMeasuredError or
    UsageError if not judged."""
    gate = comparison.gate
    if gate is None:
        return
    if gate.answer in ("slower", "not measured"):
        raise typer.Exit(EXIT_SLOWER)
    if gate.answer == "not judged":
        _, _, why = gate.sentence.split(": ", 2)
        flag = f"--{gate.kind.replace('_', '-')}"
        if comparison.lacks_valid:
            raise NotMeasuredError(f"{flag}: {why}", remedy=remedy if remedy == MORE_BLOCKS else "")
        raise UsageError(f"{flag}: {why}", remedy=remedy)
    if gate.answer == "not shown":
        raise typer.Exit(EXIT_NOT_SHOWN)


def show_gate(comparison: Comparison) -> None:
    """The points that decide, and the answer."""
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


_EXAMPLE = "Example: scale compare A1,A2,A3 B1,B2,B3 --prove-not-slower 5%"


def register(app: typer.Typer) -> None:
    app.command("compare", epilog=_EXAMPLE)(from_flags(compare))


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    runs_a: Annotated[str, typer.Argument(metavar="A[,A2,...]", help="Runs to compare with; or a run of scale ab.")]
    runs_b: Annotated[
        str | None, typer.Argument(metavar="[B[,B2,...]]", help="Runs to compare with A; none for a run of scale ab.")
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
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the curves as a page.")] = None
    results: RESULTS = Path("results")
    as_json: JSON = False


def compare(request: CompareRequest, gates: GateFlags) -> None:
    """Compare stored runs point by point, test the differences, and show what else differs.

    A and B are names of runs, parts of them, paths, or `last`. Give several runs a side, measured in turn, to test
    against the spread between sessions, or one run of `scale ab`. One run a side is shown, but no gate judges it. A run
    against itself shows the rate of false alarms. Three runs or more, one of each server, are all compared with A.
    """
    if request.others or request.side_by_side:
        _compare_servers(request, gates)
        return
    if request.prices is not None:
        raise UsageError("--prices: only servers side by side have prices", remedy="--side-by-side")
    from scale_sweep.cli import console
    from scale_sweep.report.comparison import comparison_html
    from scale_sweep.results.store.outside import write_outside

    gate = gate_of(gates)
    a, b = read_runs(request.results, request.runs_a), read_runs(request.results, request.runs_b or "")
    comparison = _compared(a, b, gate, any_order=request.any_order)
    html = request.html
    if html is not None and not b:
        raise UsageError(f"--html: {a[0].path}/report.html has the picture of a run of scale ab")
    if html is not None:
        write_outside(html, comparison_html(comparison, a, b).encode())
    if request.as_json:
        console.show_json(asdict(comparison))
    else:
        show_comparison(comparison)
        if html is not None:
            console.show_line(f"page: {html}")
    if not any(p.ratio is not None for p in comparison.points):
        kind = NotMeasuredError if comparison.lacks_valid else UsageError
        raise kind(comparison.sentence, remedy=NotMeasuredError.usual_remedy)
    judged(comparison, MORE_BLOCKS if not b else MORE_RUNS if len(a) == len(b) == 1 else IN_TURN)


def read_runs(results: Path, names: str) -> list[StoredRun]:
    """Raises UsageError for a name without a run."""
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
    """The answer, the points, the cautions and other differences."""
    from scale_sweep.cli import console
    from scale_sweep.report.comparison import differing_table, false_alarm_words, ratio_table, session_words

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


def _compare_servers(request: CompareRequest, gates: GateFlags) -> None:
    from scale_sweep.analysis.compare import compare_with_first
    from scale_sweep.cli import console
    from scale_sweep.report import several
    from scale_sweep.report.run_facts import servers_table
    from scale_sweep.results.store.outside import write_outside

    if gate_of(gates) is not None:
        raise UsageError("a gate judges A and B, not servers side by side", remedy="scale compare A B with the gate")
    names = [request.runs_a, *filter(None, (request.runs_b,)), *(request.others or ())]
    if together := next((name for name in names if "," in name), ""):
        raise UsageError(
            f"{together}: several runs a side, among servers side by side", remedy="one run of each server"
        )
    runs = [run for name in names for run in read_runs(request.results, name)]
    comparisons = compare_with_first(runs)
    prices, money = _prices(request.prices, {several.host_name(run) for run in runs})
    hosts = several.host_runs(runs, comparisons, prices)
    if request.html is not None:
        write_outside(request.html, several.side_by_side_html(hosts, money).encode())
    if request.as_json:
        console.show_json(
            [
                {
                    "host": host.name,
                    "run": host.run.path,
                    "price_per_hour": host.price_per_hour,
                    "against_first": asdict(host.comparison) if host.comparison is not None else None,
                }
                for host in hosts
            ]
        )
        return
    console.show_report_table(servers_table([(host.name, host.run) for host in hosts]))
    console.show_report_table(several.ratio_table(hosts))
    console.show_report_table(several.money_table(hosts, money))
    for caution in several.cautions(hosts):
        console.show_line(f"  but: {caution}", "yellow")
    if request.html is not None:
        console.show_line(f"page: {request.html}")


def _prices(what: str | None, names: set[str]) -> tuple[dict[str, float], str]:
    if what is None:
        return {}, "unit of money"
    from scale_sweep.sweep.prices import read_prices

    listed = read_prices(what)
    prices = {machine.name: machine.price_per_hour for machine in listed.machines if machine.name in names}
    if not prices:
        raise UsageError(
            f"--prices {what}: no machine has the name of a host", remedy=f"the hosts are {', '.join(sorted(names))}"
        )
    return prices, listed.money
