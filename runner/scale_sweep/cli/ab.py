"""`scale ab`: two variants in one run, in turn."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from scale_sweep.base.errors import NotMeasuredError, UsageError
from scale_sweep.cli.arguments import JSON, NEW_RESULTS, from_flags, quiet_s
from scale_sweep.cli.compared import MORE_BLOCKS, GateFlags, gate_of, judged
from scale_sweep.cli.running import announce, end_if_failed, run_watched, say_if_lost
from scale_sweep.cli.sweep_help import Flags, VariantsHelp, with_settings
from scale_sweep.cli.sweep_request import METRICS_PORT, NO_METRICS, WAIT_QUIET, YES
from scale_sweep.cli.sweeps import show_whole_plan
from scale_sweep.sweep.ab import flags_of, looks_of, together
from scale_sweep.sweep.resolve import resolve_sweep

_EXAMPLE = (
    "Example: scale ab cpu --cores 2 --target postgres --b '--knob synchronous_commit=off' --prove-not-slower 5% "
    "--dry-run"
)


def register(app: typer.Typer) -> None:
    app.command("ab", cls=VariantsHelp, epilog=_EXAMPLE)(with_settings(from_flags(ab)))


@dataclass(frozen=True, kw_only=True)
class AbRequest:
    what_a: Annotated[str, typer.Argument(metavar="A", help="Variant A: a kind of sweep (`cpu`) or a sweep file.")]
    what_b: Annotated[
        str | None, typer.Argument(metavar="[B]", help="Variant B, likewise. Default: the same as A.")
    ] = None
    only_a: Annotated[str, typer.Option("--a", metavar="'FLAGS'", help="Flags of A alone, in one argument.")] = ""
    only_b: Annotated[str, typer.Option("--b", metavar="'FLAGS'", help="Flags of B alone, in one argument.")] = ""
    blocks: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Blocks of four trials at each level. Of several numbers, as 5,10,20, the run ends after the first "
            "with which a difference is found.",
        ),
    ] = "5"
    against_itself: Annotated[
        bool, typer.Option("--against-itself", help="Measure A against A: the noise of this machine.")
    ] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan, and how often its gate would pass; start nothing.")
    ] = False
    results: NEW_RESULTS = Path("results")
    as_json: JSON = False
    yes: YES = False
    metrics_port: METRICS_PORT = 9464
    no_metrics: NO_METRICS = False
    wait_quiet: WAIT_QUIET = None


def ab(flags: Flags, request: AbRequest, gates: GateFlags) -> None:
    """Measure two variants in turn on this machine, in blocks of A B B A, and test whether B is slower.

    All other flags apply to both variants. `scale resume` continues an interrupted run, `scale compare RUN` tests a
    stored one again.
    """
    from scale_sweep.analysis.compare import compare_variants
    from scale_sweep.cli import compose, console
    from scale_sweep.cli.compared import show_comparison
    from scale_sweep.machine.host.host_facts import read_host
    from scale_sweep.plan.power import gate_power_of
    from scale_sweep.plan.preparing.prepared import prepare_ab

    wait_s = quiet_s(request.wait_quiet)
    gate, looks, host = gate_of(gates), looks_of(request.blocks), read_host()
    if gate is not None and len(looks) > 1:
        raise UsageError(f"{gate.flag}: is judged after one number of blocks", remedy=f"--blocks {looks[-1]}")
    a = resolve_sweep(request.what_a, together(flags, flags_of(request.only_a, "--a")), host)
    b = resolve_sweep(request.what_b or request.what_a, together(flags, flags_of(request.only_b, "--b")), host)
    _refuse_equal(request, is_same=replace(a, origin={}) == replace(b, origin={}))
    prepared = replace(prepare_ab(a, b, looks, request.results), wait_quiet_s=wait_s)
    for name, words in prepared.plan.sweep.variants_ab.items():
        console.say(f"{name}: {words}")
    power = gate_power_of(prepared.plan, prepared.noise, gate) if gate is not None else None
    if request.dry_run:
        show_whole_plan(prepared, power, as_json=request.as_json)
        return
    begin = announce(prepared, request.yes, power)
    writer = compose.new_run(prepared, ["scale", *sys.argv[1:]])
    stored = run_watched(prepared, writer, begin, 0 if request.no_metrics else request.metrics_port)
    comparison = compare_variants(stored, gate)
    if request.as_json:
        console.show_json({"path": stored.path, **asdict(comparison)})
    else:
        show_comparison(comparison)
        console.show_line(f"report: {Path(stored.path) / 'report.html'}")
    say_if_lost(stored)
    judged(comparison, MORE_BLOCKS)
    if all(point.ratio is None for point in comparison.points):
        raise NotMeasuredError("nothing to compare: no level has VALID trials of both A and B", remedy=MORE_BLOCKS)
    end_if_failed(stored)


def _refuse_equal(request: AbRequest, *, is_same: bool) -> None:
    differs = request.what_b is not None or bool(request.only_a or request.only_b)
    if request.against_itself and differs:
        raise UsageError(
            "--against-itself: A and B are two variants here", remedy="leave out B, --a and --b, or --against-itself"
        )
    if is_same and (differs or not (request.against_itself or request.dry_run)):
        raise UsageError(
            "--b: A and B are equal",
            remedy="--b '--knob NAME=VALUE', a second sweep file, or --against-itself for the noise of this machine",
        )
