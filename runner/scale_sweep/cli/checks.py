"""`scale verify`: is a stored run what its raw files give? Wiring only; see scale_sweep/verify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scale_sweep.base.errors import EXIT_DISAGREES
from scale_sweep.cli.arguments import JSON, RESULTS, RUN

if TYPE_CHECKING:
    from scale_sweep import verify

SHOWN_PER_FILE = 4


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("verify", epilog="Example: scale verify last")(verify_command)


def verify_command(run: RUN, results: RESULTS = Path("results"), as_json: JSON = False) -> None:
    """Compute a run again from its raw files, and name every file that differs.

    This covers points, time series, verdicts, fit and reports. The exit code is 12 if anything differs.
    """
    from scale_sweep import verify
    from scale_sweep.cli import console
    from scale_sweep.results.store.reader import find_run

    checked = verify.verify_run(find_run(results, run))
    if as_json:
        console.show_json({**asdict(checked), "agrees": checked.agrees})
    else:
        _show(checked)
    if not checked.agrees:
        raise typer.Exit(EXIT_DISAGREES)


def _show(checked: verify.Verification) -> None:
    from scale_sweep.cli import console

    console.show_line(
        f"{checked.run}: {checked.files} files against their digests, {checked.trials} trials made again from raw "
        f"files, {checked.figures} figures compared"
    )
    by_file: dict[str, list[verify.Disagreement]] = {}
    for found in checked.disagreements:
        by_file.setdefault(found.file, []).append(found)
    for file, of_file in by_file.items():
        console.show_line(file, "bold red")
        _show_some(of_file)
    for note in checked.notes:
        console.show_line(f"note: {note}")
    verdict = "it agrees" if checked.agrees else f"{len(by_file)} files disagree"
    console.show_line(f"{verdict}; fingerprint {checked.fingerprint or 'none'}", "green" if checked.agrees else "red")


def _show_some(found: Sequence[verify.Disagreement]) -> None:
    from scale_sweep.cli import console

    for one in found[:SHOWN_PER_FILE]:
        console.show_line(f"  {one.sentence}")
    if len(found) > SHOWN_PER_FILE:
        console.show_line(f"  and {len(found) - SHOWN_PER_FILE} more figures (--json lists them)")
