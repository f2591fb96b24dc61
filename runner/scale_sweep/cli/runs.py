"""`scale list`, `scale show` and `scale report`: they list, show and report stored runs."""

from __future__ import annotations

from pathlib import Path

import typer

from scale_sweep.base.errors import StoreError
from scale_sweep.cli.arguments import JSON, NEED, PREDICT, RESULTS, RUN, asked_of


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("list", epilog="Example: scale list --json")(list_runs)
    app.command("show", epilog="Example: scale show last")(show)
    app.command("report", epilog="Example: scale report last --predict 16,24 --need 2M")(report)


def list_runs(results: RESULTS = Path("results"), as_json: JSON = False) -> None:
    """List the stored runs, oldest first."""
    from scale_sweep.cli import console
    from scale_sweep.results.store.held import status_of
    from scale_sweep.results.store.reader import read_manifest, run_paths, trial_counts

    rows = []
    for path in run_paths(results):
        try:
            manifest = read_manifest(path)
            finished, planned = trial_counts(path)
        except StoreError as error:
            console.show_error(error)
            continue
        sweep = manifest.get("sweep", {})
        rows.append(
            [
                path.name,
                str(sweep.get("target", "")),
                str(sweep.get("runtime", "")),
                f"{finished} of {planned}",
                status_of(path, manifest),
            ]
        )
    if as_json:
        console.show_json([dict(zip(("run", "target", "runtime", "trials", "status"), r, strict=True)) for r in rows])
    elif rows:
        console.show_table("", ["run", "target", "runtime", "trials", "status"], rows)
    else:
        console.say(f"no runs in {results}; make one with: scale sweep cpu --cores 1..2")


def show(run: RUN, results: RESULTS = Path("results"), as_json: JSON = False) -> None:
    """Show one run: table, fit, verdicts."""
    from scale_sweep.cli import console, views
    from scale_sweep.results.store.reader import find_run, read_run

    stored = read_run(find_run(results, run))
    if as_json:
        console.show_json(views.run_document(stored))
    else:
        views.show_run(stored)


def report(
    run: RUN,
    predict: PREDICT = None,
    need: NEED = None,
    results: RESULTS = Path("results"),
    as_json: JSON = False,
) -> None:
    """Fit a stored run again, and replace its fit.json, report.md and report.html."""
    from scale_sweep.cli import compose, console, views
    from scale_sweep.results.store.held import Held
    from scale_sweep.results.store.reader import find_run, read_run

    path = find_run(results, run)
    held = Held(path)
    asked = compose.asked_again(read_run(path), *asked_of(predict, need))
    stored = compose.report(compose.reopen_to_report(asked, held))
    if as_json:
        console.show_json(views.run_document(stored))
    else:
        console.show_line(str(path / "report.md"))
        console.show_line(str(path / "report.html"))
        views.show_answers(stored)
