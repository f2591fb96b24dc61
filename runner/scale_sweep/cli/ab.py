"""`scale ab`: two variants in one run, in turn. Wiring only; see scale_sweep/sweep/ab.py and
scale_sweep/plan/make.py."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.cli.arguments import FAIL_IF_SLOWER, JSON, MORE_BLOCKS, NEW_RESULTS, allowed_of, from_flags, judged
from scale_sweep.cli.options import Flags, with_settings
from scale_sweep.cli.sweeps import METRICS_PORT, NO_METRICS, YES, announce, end_if_failed, run_watched, say_if_lost
from scale_sweep.sweep.ab import flags_of, together
from scale_sweep.sweep.resolve import resolve_sweep

_EXAMPLE = "Example: scale ab cpu --cores 2 --b '--knob synchronous_commit=off' --fail-if-slower 5%"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("ab", epilog=_EXAMPLE)(with_settings(from_flags(ab)))


@dataclass(frozen=True, kw_only=True)
class AbRequest:
    """The variants, and what `scale ab` does with them besides the settings of both."""

    what_a: Annotated[str, typer.Argument(metavar="A", help="Variant A: a kind of sweep (`cpu`) or a sweep file.")]
    what_b: Annotated[
        str | None, typer.Argument(metavar="[B]", help="Variant B, likewise. Default: the same as A.")
    ] = None
    only_a: Annotated[str, typer.Option("--a", metavar="'FLAGS'", help="Flags of A alone, in one argument.")] = ""
    only_b: Annotated[str, typer.Option("--b", metavar="'FLAGS'", help="Flags of B alone, in one argument.")] = ""
    blocks: Annotated[int, typer.Option(min=1, metavar="N", help="Blocks of four trials at each level.")] = 5
    fail_if_slower: FAIL_IF_SLOWER = None
    results: NEW_RESULTS = Path("results")
    as_json: JSON = False
    yes: YES = False
    metrics_port: METRICS_PORT = 9464
    no_metrics: NO_METRICS = False


def ab(flags: Flags, request: AbRequest) -> None:
    """Measure two variants in turn on this machine, in blocks of A B B A, and test whether B is slower.

    All other flags apply to both variants. `scale resume` continues an interrupted run, `scale compare RUN` tests a
    stored one again.
    """
    from scale_sweep.analysis.compare import compare_variants
    from scale_sweep.cli import compose, console
    from scale_sweep.cli.compared import show_comparison

    allowed = allowed_of(request.fail_if_slower)
    a = resolve_sweep(request.what_a, together(flags, flags_of(request.only_a, "--a")))
    b = resolve_sweep(request.what_b or request.what_a, together(flags, flags_of(request.only_b, "--b")))
    prepared = compose.prepare_ab(a, b, request.blocks, request.results)
    for name, words in prepared.plan.sweep.variants_ab.items():
        console.say(f"{name}: {words}")
    announce(prepared, request.yes)
    writer = compose.new_run(prepared, ["scale", *sys.argv[1:]])
    console.say(f"results in {writer.path}")
    stored = run_watched(prepared, writer, 0 if request.no_metrics else request.metrics_port)
    comparison = compare_variants(stored, allowed)
    if request.as_json:
        console.show_json({"path": stored.path, **asdict(comparison)})
    else:
        show_comparison(comparison)
        console.show_line(f"report: {Path(stored.path) / 'report.html'}")
    say_if_lost(stored)
    judged(comparison, MORE_BLOCKS)
    if all(point.ratio is None for point in comparison.points):
        raise UsageError("nothing to compare: no level has VALID trials of both A and B", remedy=MORE_BLOCKS)
    end_if_failed(stored)
