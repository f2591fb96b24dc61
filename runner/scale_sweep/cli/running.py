"""A run from its plan to its table: questions before it, progress while it runs, the exit code."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import typer

from scale_sweep.base.errors import EXIT_INTERRUPTED, EXIT_TRIALS_FAILED, UsageError
from scale_sweep.base.units import counted, format_seconds
from scale_sweep.cli.arguments import confirm_format

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # Each command imports what it needs when it is called, because `--help` needs none of it.
    from scale_sweep.measure.executing.execute import Sink
    from scale_sweep.model.declared import Sweep
    from scale_sweep.model.fitted import StoredRun
    from scale_sweep.plan.power import GatePower
    from scale_sweep.plan.preparing.prepared import Prepared
    from scale_sweep.results.store.writer import RunWriter

    Execute = Callable[[Prepared, RunWriter, Sequence[Sink], Callable[[str], None]], StoredRun]

ASK_ABOVE_S = 1800.0


def announce(prepared: Prepared, yes: bool, gate: GatePower | None = None) -> str:
    """The plan in one line, after its findings and the question about a long sweep. Raises if it must not start."""
    from scale_sweep.cli import console
    from scale_sweep.plan.power import gate_sentence, power_of, power_sentence
    from scale_sweep.plan.preparing.findings import refuse_blocking
    from scale_sweep.plan.summary import plan_sentence

    servers = dict.fromkeys(f"{c.facts.name} {c.version}" for c in prepared.choices.values() if c.version)
    plan = ", ".join([*servers, plan_sentence(prepared.plan)])
    parts = [plan, power_sentence(prepared.plan, power_of(prepared.plan, prepared.noise))]
    words = ". ".join(parts if gate is None else [*parts, gate_sentence(gate)])
    refuse_blocking(prepared.findings)
    console.show_findings([finding for finding in prepared.findings if finding.remedy])
    ask(prepared.plan.seconds_estimated, yes, words)
    ask_format(prepared.plan.sweep, yes)
    return words


def ask(seconds: float, yes: bool, plan: str = "") -> None:
    """plan: in words. Raises UsageError if the answer is no."""
    if yes or seconds < ASK_ABOVE_S or not sys.stdin.isatty():
        return
    if not typer.confirm(f"{plan or f'This takes about {format_seconds(seconds)}'}. Start?", err=True):
        raise UsageError("not started", remedy="say yes, or give -y")


def ask_format(sweep: Sweep, yes: bool) -> None:
    if sweep.disks is not None and sweep.disks.kind == "device":
        confirm_format(sweep.disks, yes)


def start_dashboards(wanted: bool, metrics_port: int, no_metrics: bool) -> None:
    """Before the run's directory is made. Raises UsageError if there is nothing to show."""
    if wanted and (no_metrics or not metrics_port):
        raise UsageError(
            "--dashboards needs the metrics, which --no-metrics turns off", remedy="leave out --no-metrics"
        )
    if wanted:
        from scale_sweep.cli import boards

        boards.start_for_sweep()


def run_and_show(
    prepared: Prepared, writer: RunWriter, begin: str, as_json: bool, metrics_port: int, execute: Execute | None = None
) -> None:
    """Ends the process with its code if trials failed. begin: the first words."""
    from scale_sweep.cli import views

    stored = run_watched(prepared, writer, begin, metrics_port, execute)
    views.show(writer.run, stored, as_json=as_json)
    say_if_lost(stored)
    end_if_failed(stored)


def say_if_lost(stored: StoredRun) -> None:
    from scale_sweep.base import output
    from scale_sweep.cli import console

    if reason := output.lost():
        console.say(f"standard output cannot be written: {reason}; the results are in {stored.path}", "yellow")


def end_if_failed(stored: StoredRun) -> None:
    if has_failed(stored):
        sys.exit(EXIT_TRIALS_FAILED)


def has_failed(stored: StoredRun) -> bool:
    """Also if a database has no trial that counts. Targets of an absent package are not known."""
    from scale_sweep.model.measured import VerdictKind
    from scale_sweep.server.targets import TARGETS, load_facts

    wrong = (VerdictKind.LOST_ROWS, VerdictKind.WRONG_ROWS, VerdictKind.WRONG_ANSWER)
    failed = (VerdictKind.ABORTED, VerdictKind.ERRORS, *wrong)
    counts = {trial.subject.server: False for trial in stored.plan.trials}
    for result in stored.results:
        counts[result.trial.subject.server] |= result.verdict.kind.is_fitted
    databases = [server for server in counts if server[0] in TARGETS and load_facts(server[0]).stores_rows]
    has_wrong = any(result.verdict.kind in failed for result in stored.results)
    return has_wrong or not all(counts[server] for server in databases)


def run_watched(
    prepared: Prepared, writer: RunWriter, begin: str, metrics_port: int, execute: Execute | None = None
) -> StoredRun:
    """With progress, and metrics (port 0: none). begin: the first words. Ends after Ctrl-C."""
    from scale_sweep.base import output
    from scale_sweep.cli import boards, compose, console
    from scale_sweep.cli.console.live import LiveView
    from scale_sweep.watch.live.state import LiveState

    output.go_on_without()
    try:
        with ExitStack() as stack:
            state = LiveState(run=writer.path.name, plan=prepared.plan, results=writer.results)
            sinks: list[Sink] = []
            words = f"{begin}. Results in {writer.path}"
            if metrics_port:
                exporter = boards.serve(state, metrics_port, stack)
                writer.update_manifest(metrics_url=exporter.url)
                if exporter.port != metrics_port:
                    words += f"; metrics at {exporter.url} (port {metrics_port} is taken)"
                sinks.append(exporter)
                boards.say_page()
            console.say(words)
            sinks.append(stack.enter_context(LiveView(state)))
            return (execute or compose.execute)(prepared, writer, sinks, console.say)
    except KeyboardInterrupt:
        saved, are = len(writer.results), "is" if len(writer.results) == 1 else "are"
        console.say(
            f"interrupted: {saved} of {counted(len(writer.plan.trials), 'trial')} {are} saved, nothing "
            f"is left running; continue with\n  scale resume {shlex.quote(str(writer.path))}",
            "yellow",
        )
        sys.exit(EXIT_INTERRUPTED)
