"""`scale compare`: stored runs against each other, and how a comparison is shown. Wiring only; see
scale_sweep/analysis/compare."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.cli.arguments import FAIL_IF_SLOWER, JSON, MORE_BLOCKS, MORE_RUNS, RESULTS, allowed_of, judged

if TYPE_CHECKING:
    from scale_sweep.model import StoredRun
    from scale_sweep.model.compared import Comparison

_EXAMPLE = "Example: scale compare 0101,0102,0103 0201,0202,0203 --fail-if-slower 5%"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("compare", epilog=_EXAMPLE)(compare)


def compare(
    runs_a: Annotated[str, typer.Argument(metavar="A[,A2,...]", help="Runs to compare with; or a run of scale ab.")],
    runs_b: Annotated[
        str | None,
        typer.Argument(metavar="[B[,B2,...]]", help="Runs to compare with A; none for a run of scale ab."),
    ] = None,
    fail_if_slower: FAIL_IF_SLOWER = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the curves as a page.")] = None,
    results: RESULTS = Path("results"),
    as_json: JSON = False,
) -> None:
    """Compare stored runs point by point, test the differences, and show what else differs.

    A and B are names of runs, parts of them, paths, or `last`. Give several runs a side to test against the spread
    between sessions, or one run of `scale ab`. One run a side is shown, but not judged by --fail-if-slower. A run
    against itself shows the rate of false alarms.
    """
    from scale_sweep.cli import console
    from scale_sweep.report.overlay import overlay_html
    from scale_sweep.results.store.outside import write_outside

    allowed = allowed_of(fail_if_slower)
    a, b = _read(results, runs_a), _read(results, runs_b or "")
    comparison = _compared(a, b, allowed)
    if html is not None and not b:
        raise UsageError(f"--html: {a[0].path}/report.html has the picture of a run of scale ab")
    if html is not None:
        write_outside(html, overlay_html(comparison, a, b).encode())
    if as_json:
        console.show_json(asdict(comparison))
    else:
        show_comparison(comparison)
        if html is not None:
            console.show_line(f"page: {html}")
    if not any(p.ratio is not None for p in comparison.points):
        raise UsageError(comparison.sentence, remedy="scale show RUN says why trials are not VALID")
    judged(comparison, MORE_RUNS if b else MORE_BLOCKS)


def _read(results: Path, names: str) -> list[StoredRun]:
    from scale_sweep.results.store.reader import find_run, read_run

    return [read_run(find_run(results, name.strip())) for name in names.split(",") if name.strip()]


def _compared(a: list[StoredRun], b: list[StoredRun], allowed: float | None) -> Comparison:
    from scale_sweep.analysis.compare import compare_runs, compare_sessions, compare_variants

    if not b:
        if len(a) != 1:
            raise UsageError("no run B is named", remedy="scale compare A1,A2,... B1,B2,...")
        return compare_variants(a[0], allowed)
    if not a:
        raise UsageError("no run A is named", remedy="scale compare A B")
    if len(a) == len(b) == 1:
        return compare_runs(a[0], b[0], allowed)
    return compare_sessions(a, b, allowed)


def show_comparison(comparison: Comparison) -> None:
    """Shows the answer, the points, the cautions and what else differs."""
    from scale_sweep.cli import console
    from scale_sweep.report.overlay import differing_table, false_alarm_words, ratio_table, session_words

    console.show_line(f"A: {comparison.run_a}")
    console.show_line(f"B: {comparison.run_b}")
    table = ratio_table(comparison)
    console.show_table("", table.headers, table.rows)
    console.show_line("")
    console.show_line(comparison.sentence, "bold")
    for caution in comparison.cautions:
        console.show_line(f"  but: {caution}", "yellow")
    for words in filter(None, (session_words(comparison), false_alarm_words(comparison))):
        console.show_line(words)
    if comparison.differing:
        differing = differing_table(comparison)
        console.show_table(f"What else differs ({len(comparison.differing)})", differing.headers, differing.rows)
    else:
        console.show_line("nothing else differs in what was recorded")
    if comparison.allowed_percent is not None:
        _show_judgement(comparison)


def _show_judgement(comparison: Comparison) -> None:
    from scale_sweep.cli import console

    for where in comparison.unjudged:
        console.show_line(f"no VALID trial of B at {where}: cannot be judged", "red")
    for where in comparison.slower:
        console.show_line(f"slower than allowed ({comparison.allowed_percent:g} %): {where}", "red")
    if comparison.not_judged_because:
        console.show_line(f"not judged: {comparison.not_judged_because}", "yellow")
    elif not (comparison.slower or comparison.unjudged):
        console.show_line(f"not slower by more than {comparison.allowed_percent:g} % beyond noise", "green")
