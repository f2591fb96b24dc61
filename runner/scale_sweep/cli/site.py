"""`scale site`: the stored runs as a static site. It writes pages; the site's package is scale_sweep/report/site.py."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import StoreError, UsageError

if TYPE_CHECKING:
    from scale_sweep.model import StoredRun
    from scale_sweep.results.store.stored import Folder

MARK = ".scale-site"  # a folder with this file was made here, and its pages may be replaced


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("site", epilog="Example: scale site results --out public")(site)


def site(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Folders with runs, or runs.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The site's folder: new, empty, or a site.")],
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="The heading.")] = "Scaling curves",
) -> None:
    """Write a static site of stored runs: an index with filters and curves, and the report of each run.

    Any web server can publish the folder; it can also be opened from the disk. Runs without a finished trial are left
    out.
    """
    from scale_sweep.cli import console
    from scale_sweep.report.site import INDEX
    from scale_sweep.report.site import site as pages_of_site
    from scale_sweep.results.store.stored import make_folder, write

    paths = [path for folder in results for path in _runs_of(folder)]
    if doubled := {path.name for path in paths if sum(other.name == path.name for other in paths) > 1}:
        raise UsageError(f"RESULTS: several folders have a run {min(doubled)}")
    if not paths:
        raise UsageError(f"no runs in {', '.join(map(str, results))}", remedy="scale sweep makes one")
    count = 0
    try:
        folder = _prepared(out)
        for name, text in pages_of_site(_read(paths), title):
            if "/" in name:
                make_folder(folder, name.rpartition("/")[0])
            write(folder, name, text.encode())
            count += 1
    except OSError as error:
        raise StoreError(f"--out {out} cannot be written: {error.strerror}") from None
    console.say(f"{count} pages of {len(paths)} {'run' if len(paths) == 1 else 'runs'}")
    console.show_line(str(out / INDEX))
    console.say(f"open it in a browser; to publish it, copy the folder {out} to any web server")


def _runs_of(folder: Path) -> list[Path]:
    """Raises UsageError for a folder that does not exist."""
    from scale_sweep.results.store.reader import run_paths
    from scale_sweep.results.store.stored import is_run

    if not folder.is_dir():
        raise UsageError(f"RESULTS: {folder} {'is not a folder' if folder.exists() else 'does not exist'}")
    return [folder] if is_run(folder) else run_paths(folder)


def _prepared(out: Path) -> Folder:
    """The folder, made if it is missing, without an earlier site's pages of runs. Raises UsageError for a folder with
    other files, OSError if it cannot be written."""
    from scale_sweep.results.store.stored import is_there, own_folder, remove_folder, write

    folder = own_folder(out, makes=True)
    if os.listdir(folder.fd) and not is_there(folder, MARK):
        raise UsageError(
            f"--out {out} has files that do not belong to a site",
            remedy="name a new or an empty folder, or remove them",
        )
    write(folder, MARK, b"")
    remove_folder(folder, "runs")
    return folder


def _read(paths: list[Path]) -> Iterator[StoredRun]:
    """The runs with at least one finished trial. A run that cannot be read is named and left out."""
    from scale_sweep.cli import console
    from scale_sweep.results.store.reader import read_run

    for path in paths:
        try:
            run = read_run(path)
        except StoreError as error:
            console.show_error(error)
            continue
        if run.results:
            yield run
        else:
            console.say(f"{path.name} has no finished trial and is left out")
