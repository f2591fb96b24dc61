"""`scale sweep`, `scale plan` and `scale resume`."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import EXIT_INTERRUPTED, EXIT_TRIALS_FAILED, PreflightError, UsageError
from scale_sweep.base.units import format_seconds
from scale_sweep.cli.arguments import NEW_RESULTS, RESULTS, RUN, confirm_format, from_flags
from scale_sweep.cli.options import Flags, with_settings
from scale_sweep.sweep.axis import commands

if TYPE_CHECKING:  # Each command imports what it needs when it is called, because `--help` needs none of it.
    from scale_sweep.cli.compose import Prepared
    from scale_sweep.model import StoredRun, Sweep
    from scale_sweep.results.store.writer import RunWriter
    from scale_sweep.watch.exporter import Exporter
    from scale_sweep.watch.live import LiveState

WHAT = Annotated[
    str,
    typer.Argument(
        metavar="|".join((*commands(), "FILE.toml")),
        help=f"What to sweep: {', '.join(f'`{word}`' for word in commands())}, or a file.",
    ),
]
JSON = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
METRICS_PORT = Annotated[
    int,
    typer.Option(
        "--metrics-port",
        min=0,
        max=65535,
        metavar="PORT",
        help="Serve the run to Prometheus on this port of 127.0.0.1, or on a free one if it is in use. 0: no metrics.",
    ),
]
NO_METRICS = Annotated[bool, typer.Option("--no-metrics", help="Serve no metrics.")]
DASHBOARDS = Annotated[bool, typer.Option("--dashboards", help="Start Prometheus and Grafana if they do not run.")]
YES = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask before a long sweep, nor before formatting disks.")]
ASK_ABOVE_S = 1800.0


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("sweep", epilog="Example: scale sweep cpu --cores 1..4 --replicates 3")(
        with_settings(from_flags(sweep))
    )
    app.command("plan", epilog="Example: scale plan cpu --cores 1..12 --vgroups '1..4=4,5..=12'")(with_settings(plan))
    app.command("resume", epilog="Example: scale resume last")(resume)


@dataclass(frozen=True, kw_only=True)
class SweepRequest:
    """The sweep, and what is shown while it runs, besides its settings."""

    what: WHAT
    results: NEW_RESULTS = Path("results")
    as_json: JSON = False
    yes: YES = False
    metrics_port: METRICS_PORT = 9464
    no_metrics: NO_METRICS = False
    with_dashboards: DASHBOARDS = False


def sweep(flags: Flags, request: SweepRequest) -> None:
    """Give a database 1, 2, ... N cores, disks or clients, load it at each step, and fit the curve."""
    from scale_sweep.cli import compose, console
    from scale_sweep.sweep.resolve import resolve_sweep

    prepared = compose.prepare(resolve_sweep(request.what, flags), request.results)
    announce(prepared, request.yes)
    _start_dashboards(request.with_dashboards, request.metrics_port, request.no_metrics)
    writer = compose.new_run(prepared, ["scale", *sys.argv[1:]])
    console.say(f"results in {writer.path}")
    _run(prepared, writer, request.as_json, 0 if request.no_metrics else request.metrics_port)


def plan(flags: Flags, what: WHAT, results: NEW_RESULTS = Path("results"), as_json: JSON = False) -> None:
    """Show the trials, their knobs, the origin of each setting, and the duration; start nothing.

    The exit code is 3 if the sweep could not start.
    """
    from scale_sweep.cli import compose, console, views
    from scale_sweep.sweep.resolve import resolve_sweep

    prepared = compose.prepare(resolve_sweep(what, flags), results)
    obstacles = [finding for finding in prepared.findings if finding.blocking]
    console.show_obstacles(obstacles)
    if as_json:
        console.show_json(views.plan_document(prepared))
    else:
        _show_plan(prepared)
    if obstacles:
        sys.exit(PreflightError.exit_code)


def _show_plan(prepared: Prepared) -> None:
    from scale_sweep.cli import console, views
    from scale_sweep.plan import bound_sentence, plan_sentence, planner_of, power_of, power_sentence

    for choice in prepared.choices.values():
        console.show_line(choice.sentence)
    console.show_line(plan_sentence(prepared.plan))
    console.show_line(power_sentence(prepared.plan, power_of(prepared.plan, prepared.noise)))
    if grown := bound_sentence(prepared.plan, planner_of(prepared.plan).bound()):
        console.show_line(grown)
    console.show_table("Trials", *views.plan_rows(prepared.plan))
    console.show_table("Server", *views.set_rows(prepared))
    console.show_table("Settings", *views.setting_rows(prepared.plan.sweep))
    console.show_findings([finding for finding in prepared.findings if not finding.blocking])


def resume(
    run: RUN,
    results: RESULTS = Path("results"),
    as_json: JSON = False,
    yes: YES = False,
    metrics_port: METRICS_PORT = 9464,
    no_metrics: NO_METRICS = False,
    with_dashboards: DASHBOARDS = False,
) -> None:
    """Continue an interrupted run: keep the finished trials, and measure the others."""
    from scale_sweep.cli import compose, console
    from scale_sweep.plan.preparing import refuse_blocking
    from scale_sweep.results.store.held import Held
    from scale_sweep.results.store.reader import find_run, read_run
    from scale_sweep.verify.digests import is_finished

    path = find_run(results, run)
    held = Held(path)  # before it is read: another process may add trials until then
    stored = read_run(path)
    missing = len(stored.plan.trials) - len(stored.results)
    if not missing and is_finished(Path(stored.path)):  # nothing changes, nor a fingerprint that was published
        console.say(f"all trials are done; scale report {run} makes the fit and the reports again")
        _show(stored, as_json)
        end_if_failed(stored)
        return
    prepared = compose.prepare_again(stored, results)
    refuse_blocking(prepared.findings)
    console.show_findings(prepared.findings)
    _ask_format(stored.plan.sweep, yes)
    _start_dashboards(with_dashboards, metrics_port, no_metrics)
    writer = compose.reopen_run(stored, held)
    console.say(f"{missing} of {len(stored.plan.trials)} trials to go, in {writer.path}")
    _run(prepared, writer, as_json, 0 if no_metrics else metrics_port)


def announce(prepared: Prepared, yes: bool) -> None:
    """Shows the plan and the findings, and asks where needed. Raises if the sweep must not start."""
    from scale_sweep.cli import console
    from scale_sweep.plan import plan_sentence, power_of, power_sentence
    from scale_sweep.plan.preparing import refuse_blocking

    for choice in prepared.choices.values():
        console.say(choice.sentence)
    console.say(plan_sentence(prepared.plan))
    console.say(power_sentence(prepared.plan, power_of(prepared.plan, prepared.noise)))
    refuse_blocking(prepared.findings)
    console.show_findings(prepared.findings)
    _ask(prepared.plan.seconds_estimated, yes)
    _ask_format(prepared.plan.sweep, yes)


def _ask(seconds: float, yes: bool) -> None:
    if yes or seconds < ASK_ABOVE_S or not sys.stdin.isatty():
        return
    if not typer.confirm(f"This takes about {format_seconds(seconds)}. Start?", err=True):
        raise UsageError("not started", remedy="say yes, or give -y")


def _ask_format(sweep: Sweep, yes: bool) -> None:
    if sweep.disks is not None and sweep.disks.kind == "device":
        confirm_format(sweep.disks, yes)


def _start_dashboards(wanted: bool, metrics_port: int, no_metrics: bool) -> None:
    """Starts the dashboards before the run's directory is made. Raises UsageError if there would be nothing to show."""
    if wanted and (no_metrics or not metrics_port):
        raise UsageError("--dashboards shows the metrics, and none are served", remedy="leave out --no-metrics")
    if wanted:
        from scale_sweep.cli import boards

        boards.start_for_sweep()


def _run(prepared: Prepared, writer: RunWriter, as_json: bool, metrics_port: int) -> None:
    stored = run_watched(prepared, writer, metrics_port)
    _show(stored, as_json)
    say_if_lost(stored)
    end_if_failed(stored)


def say_if_lost(stored: StoredRun) -> None:
    """Says that standard output could not be written, and where the results are."""
    from scale_sweep.base import output
    from scale_sweep.cli import console

    if reason := output.lost():
        console.say(f"standard output cannot be written: {reason}; the results are in {stored.path}", "yellow")


def end_if_failed(stored: StoredRun) -> None:
    """Ends the process with its exit code if trials failed, or no trial of a database counts. What the target of an
    absent package would count is not known."""
    from scale_sweep.model import VerdictKind
    from scale_sweep.server.targets import TARGETS, load_facts

    wrong = (VerdictKind.LOST_ROWS, VerdictKind.WRONG_ROWS, VerdictKind.WRONG_ANSWER)
    failed = (VerdictKind.ABORTED, VerdictKind.ERRORS, *wrong)
    kinds = [r.verdict.kind for r in stored.results]
    targets = {trial.subject.target for trial in stored.plan.trials}
    is_of_database = any(load_facts(name).stores_rows for name in targets if name in TARGETS)
    if any(kind in failed for kind in kinds) or (is_of_database and not any(kind.is_fitted for kind in kinds)):
        sys.exit(EXIT_TRIALS_FAILED)


def run_watched(prepared: Prepared, writer: RunWriter, metrics_port: int) -> StoredRun:
    """Runs the trials that the run still lacks, with progress and metrics (metrics_port 0: none). Ends the process
    after Ctrl-C."""
    from scale_sweep.base import output
    from scale_sweep.cli import boards, compose, console
    from scale_sweep.cli.console.live import LiveView
    from scale_sweep.measure.executing import Sink
    from scale_sweep.watch.dashboards import announced
    from scale_sweep.watch.live import LiveState

    output.go_on_without()
    try:
        with ExitStack() as stack:
            state = LiveState(run=writer.path.name, plan=prepared.plan, results=writer.results)
            sinks: list[Sink] = []
            if metrics_port:
                exporter = _metrics(state, writer, metrics_port)
                stack.enter_context(announced(boards.state_directory(), writer.path.name, exporter.port))
                sinks.append(stack.enter_context(exporter))
                boards.say_page()
            sinks.append(stack.enter_context(LiveView(state)))
            return compose.execute(prepared, writer, sinks, console.say)
    except KeyboardInterrupt:
        saved = len(writer.results)
        console.say(
            f"interrupted: {saved} of {len(writer.plan.trials)} trials {'is' if saved == 1 else 'are'} saved, nothing "
            f"is left running; continue with\n  scale resume {shlex.quote(str(writer.path))}",
            "yellow",
        )
        sys.exit(EXIT_INTERRUPTED)


def _metrics(state: LiveState, writer: RunWriter, port: int) -> Exporter:
    """Opens the exporter, shows its address, and stores it in the manifest."""
    from scale_sweep.cli import console
    from scale_sweep.watch.exporter import Exporter

    exporter = Exporter(state, port)
    console.say(f"metrics at {exporter.url}" + ("" if exporter.port == port else f" (port {port} is taken)"))
    writer.update_manifest(metrics_url=exporter.url)
    return exporter


def _show(stored: StoredRun, as_json: bool) -> None:
    from scale_sweep.cli import console, views

    if as_json:
        console.show_json(views.run_document(stored))
    else:
        views.show_run(stored)
