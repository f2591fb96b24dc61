"""`scale list`, `show`, `report`, `verify` and `watch`: commands about stored runs, and one about a run that grows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import EXIT_DISAGREES, StoreError
from scale_sweep.base.units import counted
from scale_sweep.cli.arguments import JSON, NEED, PREDICT, RESULTS, RUN, asked_of

if TYPE_CHECKING:
    from scale_sweep.verify.digests import Disagreement, Verification

SHOWN_PER_FILE = 4  # figures that differ
POLL_S = 0.5
WHOLE = Annotated[bool, typer.Option("--all", help="Also every warning, the noise, and all reasons and remedies.")]


def register(app: typer.Typer) -> None:
    app.command("list", epilog="Example: scale list --json")(list_runs)
    app.command("show", epilog="Example: scale show last")(show)
    app.command("report", epilog="Example: scale report last --predict 4 --need 500k")(report)
    app.command("watch", epilog="Example: scale watch last")(watch)
    app.command("verify", epilog="Example: scale verify last")(verify_command)


def list_runs(results: RESULTS = Path("results"), as_json: JSON = False) -> None:
    """List the stored runs, oldest first."""
    from scale_sweep.cli import console
    from scale_sweep.model.measured import VerdictKind
    from scale_sweep.results.store.reader import read_manifest, read_verdicts, run_paths
    from scale_sweep.results.store.run_lock import status_of
    from scale_sweep.results.store.stored import Folder

    rows = []
    for path in run_paths(results):
        try:
            run = Folder(path)
            manifest, (verdicts, planned) = read_manifest(run), read_verdicts(run)
        except StoreError as error:
            console.show_error(error)
            continue
        sweep = manifest.get("sweep", {})
        rows.append(
            [
                path.name,
                str(sweep.get("target", "")),
                str(sweep.get("runtime", "")),
                f"{len(verdicts)} of {planned}",
                f"{verdicts.count(VerdictKind.VALID)}",
                status_of(run, manifest),
            ]
        )
    columns = ["run", "target", "runtime", "trials", "valid", "status"]
    if as_json:
        console.show_json([dict(zip(columns, r, strict=True)) for r in rows])
    elif rows:
        console.show_table("", columns, rows)
    else:
        console.say(f"no runs in {results}; make one with: scale sweep cpu --cores 1..2")


def show(run: RUN = "last", results: RESULTS = Path("results"), whole: WHOLE = False, as_json: JSON = False) -> None:
    """Show one run: table, answer, the first warnings; with --all everything."""
    from scale_sweep.cli import views
    from scale_sweep.results.store.reader import find_run, read_run

    folder = find_run(results, run)
    views.show(folder, read_run(folder), as_json=as_json, is_whole=whole)


def report(
    run: RUN, predict: PREDICT = None, need: NEED = None, results: RESULTS = Path("results"), as_json: JSON = False
) -> None:
    """Fit a stored run again, and replace its fit.json, report.md and report.html."""
    from scale_sweep.cli import compose, console, views
    from scale_sweep.measure.executing import execute
    from scale_sweep.results.store.reader import find_run, read_run
    from scale_sweep.results.store.run_lock import RunLock
    from scale_sweep.results.store.stored import own_folder

    held = RunLock(find_run(results, run, own_folder))
    with_questions = compose.asked_again(read_run(held.run), *asked_of(predict, need))
    stored = execute.report(compose.reopen_to_report(with_questions, held))
    if as_json:
        console.show_json(views.run_document(held.run, stored))
    else:
        console.show_line(str(held.run / "report.md"))
        console.show_line(str(held.run / "report.html"))
        views.show_answers(stored)


def verify_command(run: RUN, results: RESULTS = Path("results"), as_json: JSON = False) -> None:
    """Compute a run again from its raw files, and name every file that differs.

    This covers points, time series, verdicts, fit and reports. The exit code is 12 if anything differs.
    """
    from scale_sweep.cli import console
    from scale_sweep.results.store.reader import find_run
    from scale_sweep.verify.run import verify_run

    checked = verify_run(find_run(results, run))
    if as_json:
        console.show_json({**asdict(checked), "agrees": checked.agrees})
    else:
        _show_verification(checked)
    if not checked.agrees:
        raise typer.Exit(EXIT_DISAGREES)


def _show_verification(checked: Verification) -> None:
    from scale_sweep.cli import console

    console.show_line(
        f"{checked.run}: {counted(checked.files, 'file')} against their digests, "
        f"{counted(checked.trials, 'trial')} recomputed from raw files, {counted(checked.figures, 'figure')} compared"
    )
    by_file: dict[str, list[Disagreement]] = {}
    for disagreement in checked.disagreements:
        by_file.setdefault(disagreement.file, []).append(disagreement)
    for file, of_file in by_file.items():
        console.show_line(file, "bold red")
        _show_disagreements(of_file)
    for note in checked.notes:
        console.show_line(f"note: {note}")
    verdict = "it agrees" if checked.agrees else f"it disagrees in {counted(len(by_file), 'file')}"
    console.show_line(f"{verdict}; fingerprint {checked.fingerprint or 'none'}", "green" if checked.agrees else "red")


def _show_disagreements(disagreements: Sequence[Disagreement]) -> None:
    from scale_sweep.cli import console

    for one in disagreements[:SHOWN_PER_FILE]:
        console.show_line(f"  {one.sentence}")
    if len(disagreements) > SHOWN_PER_FILE:
        console.show_line(f"  and {counted(len(disagreements) - SHOWN_PER_FILE, 'more figure')} (--json lists them)")


def watch(run: RUN, results: RESULTS = Path("results")) -> None:
    """Watch a sweep that runs in another terminal of this machine; Ctrl-C ends the watching, not the sweep."""
    from scale_sweep.base import output
    from scale_sweep.cli import console, views
    from scale_sweep.cli.console.live import LiveView
    from scale_sweep.results.store.reader import Follower, find_run, read_manifest, read_run
    from scale_sweep.results.store.run_lock import is_held
    from scale_sweep.watch.live.state import LiveState

    output.need_messages()
    folder = find_run(results, run)
    follower = Follower(folder)
    console.say(f"watching {folder.path.name}; Ctrl-C ends the watching, not the sweep")
    try:
        with LiveView(LiveState(run=folder.path.resolve().name, plan=follower.plan)) as view:
            goes_on = True
            while goes_on:
                goes_on = is_held(folder)
                for event in follower.poll():
                    view(event)
                if goes_on:
                    time.sleep(POLL_S)
    except KeyboardInterrupt:
        console.say("watching ended; the sweep continues")
        return
    status = read_manifest(folder).get("status")
    if status == "complete":
        views.show_run(folder, read_run(folder))
    else:
        name = folder.path.name
        console.say(f"no process writes this run any more; continue it with: scale resume {name}", "yellow")
