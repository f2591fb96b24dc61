"""`scale compare`: one run against another. Wiring only; see runner/compare."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from runner import console
from runner.cli import compare_views
from runner.cli.arguments import JSON, RESULTS
from runner.compare import compare_runs
from runner.errors import EXIT_SLOWER, UsageError
from runner.report.overlay import overlay_html
from runner.store.outside import write_outside
from runner.store.reader import find_run, read_run
from runner.units import parse_percent


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("compare", epilog="Example: scale compare 20260102 last --fail-if-slower 5%")(compare)


def compare(
    run_a: Annotated[str, typer.Argument(metavar="A", help="The run to compare with.")],
    run_b: Annotated[str, typer.Argument(metavar="B", help="The run that is compared.")],
    fail_if_slower: Annotated[
        str | None,
        typer.Option(
            "--fail-if-slower",
            metavar="PERCENT",
            help="End with code 11 when B is slower by more than this at a point, or at all together, and noise does "
            "not explain it; also when B has no VALID trial where A has.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write both curves as a page.")] = None,
    results: RESULTS = Path("results"),
    as_json: JSON = False,
) -> None:
    """Compare two runs point by point, with the noise in mind, and say what else differs.

    A and B are names of runs, parts of them, paths, or `last`. A run against itself shows the rate of false alarms.
    """
    allowed = _allowed(fail_if_slower)
    a, b = read_run(find_run(results, run_a)), read_run(find_run(results, run_b))
    found = compare_runs(a, b, allowed)
    if html is not None:
        write_outside(html, overlay_html(found, a, b).encode())
    if as_json:
        console.show_json(asdict(found))
    else:
        compare_views.show(found)
        if html is not None:
            console.show_line(f"page: {html}")
    if not any(p.ratio is not None for p in found.points):
        raise UsageError(found.sentence, remedy="scale show RUN says why trials are not VALID")
    if allowed is not None and (found.slower or found.unjudged):
        raise typer.Exit(EXIT_SLOWER)


def _allowed(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return parse_percent(text) / 100
    except ValueError as error:
        raise UsageError(f"--fail-if-slower: {error}") from None
