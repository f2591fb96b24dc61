"""`scale export`: a run in other formats; `scale import`: one from elsewhere; `scale site`: runs as a static site."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.base.registry import require_extra
from scale_sweep.base.units import counted
from scale_sweep.cli.arguments import NEW_RESULTS, RESULTS, RUN, from_flags

if TYPE_CHECKING:
    from scale_sweep.model.fitted import StoredRun
    from scale_sweep.results.store.stored import Folder

NEWLINE = b"\n"


class ExportTable(StrEnum):
    POINTS = "points"
    TIMESERIES = "timeseries"
    HISTOGRAMS = "histograms"


def register(app: typer.Typer) -> None:
    app.command("export", epilog="Example: scale export last --what timeseries --csv seconds.csv")(from_flags(export))
    app.command("import", epilog="Example: scale import 20260102T030405Z-cores-postgres-1a2b3c.tar.gz")(import_run)
    app.command("site", epilog="Example: scale site results --out public")(site)


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    run: RUN
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write CSV.")] = None
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JSON: a list of rows.")] = None
    parquet: Annotated[Path | None, typer.Option(metavar="FILE", help="Write Parquet.")] = None
    openmetrics: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the run's Prometheus metrics, with times.")
    ] = None
    hlog: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the response times as an HdrHistogram log.")
    ] = None
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Write the run into tables of an SQL database, like sqlite:///runs.db or postgresql://user@host/db. "
            "The password comes from SCALE_SQL_PASSWORD.",
        ),
    ] = None
    what: Annotated[
        ExportTable,
        typer.Option(help="points: a row for each trial; timeseries: a row for each tick; histograms: for --hlog."),
    ] = ExportTable.POINTS
    redacted: Annotated[
        bool,
        typer.Option(
            "--redacted", help="Write the whole run as one archive for `scale import`, without names, paths and logs."
        ),
    ] = False
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --redacted: the archive. [default: RUN.tar.gz]")
    ] = None
    results: RESULTS = Path("results")


def export(request: ExportRequest) -> None:
    """Write a stored run in another format: CSV, JSON, Parquet, OpenMetrics, HdrHistogram, SQL.

    Give one FILE or several; - is standard output.
    """
    from scale_sweep.cli import console
    from scale_sweep.results import formats, sqlexport
    from scale_sweep.results.store.reader import find_run, read_run
    from scale_sweep.watch.exporter.openmetrics import openmetrics

    wanted = [
        (file, encode)
        for file, encode in (
            (request.csv, formats.as_csv),
            (request.json, formats.as_json),
            (request.parquet, formats.as_parquet),
        )
        if file is not None
    ]
    if request.what is ExportTable.HISTOGRAMS and (wanted or request.hlog is None):
        raise UsageError("--what histograms: is written as an HdrHistogram log, no table", remedy="give --hlog FILE")
    if request.out is not None and not request.redacted:
        raise UsageError("--out: is the file of --redacted", remedy="give --redacted, or leave it out")
    others = (request.openmetrics, request.sql, request.hlog)
    if not (wanted or request.redacted) and all(one is None for one in others):
        formats_words = "--csv, --json, --parquet, --openmetrics or --hlog FILE, --sql URL, or --redacted"
        raise UsageError("scale export needs a format", remedy=f"give {formats_words}")
    for chosen, extra, flag in ((request.parquet, "parquet", "--parquet"), (request.sql, "sql", "--sql")):
        if chosen is not None:
            require_extra(extra, flag)
    run = find_run(request.results, request.run)
    if request.redacted:
        from scale_sweep.cli.carried import export_redacted

        export_redacted(run, request.out)
    stored = read_run(run)
    if request.hlog is not None:
        from scale_sweep.results.histogram_log import histogram_log

        content = histogram_log(run, stored)
        _write(request.hlog, content, counted(content.count(b"Tag="), "histogram"))
    table = request.what if request.what is not ExportTable.HISTOGRAMS else ExportTable.POINTS
    columns = formats.columns_of(stored, table.value)
    for file, encode in wanted:
        _write(file, encode(columns), counted(len(columns.rows), "row"))
    if request.openmetrics is not None:
        content = openmetrics(run, stored)
        _write(request.openmetrics, content, f"{content.count(NEWLINE)} lines")
    if request.sql is not None:
        password = os.environ.get(sqlexport.PASSWORD_VARIABLE, "")
        written = sqlexport.write(columns.run, sqlexport.tables_of(stored), request.sql, password)
        tables = ", ".join(f"{name} {rows}" for name, rows in written.rows.items())
        console.say(f"rows of {columns.run} in {written.where}: {tables}")


def _write(file: Path, content: bytes, what: str) -> None:
    from scale_sweep.cli import console
    from scale_sweep.results.store.outside import write_outside

    if str(file) == "-":
        console.show_bytes(content)
    else:
        write_outside(file, content)
        console.say(f"{what} in {file}")


def import_run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `scale export --redacted` wrote.")],
    results: NEW_RESULTS = Path("results"),
) -> None:
    """Store a run that `scale export --redacted` wrote elsewhere, after it was verified.

    Nothing of it is executed, and it cannot be resumed.
    """
    from scale_sweep.cli.carried import import_redacted

    import_redacted(file, results)


MARK = ".scale-site"  # a folder with this file was made here, and its pages may be replaced


def site(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Folders with runs, or runs.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The site's folder: new, empty, or a site.")],
    title: Annotated[str, typer.Option(metavar="TEXT", help="The heading.")] = "Scaling curves",
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
    from scale_sweep.results.store.reader import run_paths
    from scale_sweep.results.store.stored import is_run

    if not folder.is_dir():
        raise UsageError(f"RESULTS: {folder} {'is not a folder' if folder.exists() else 'does not exist'}")
    return [folder] if is_run(folder) else run_paths(folder)


def _prepared(out: Path) -> Folder:
    """The folder, without an earlier site's runs."""
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
