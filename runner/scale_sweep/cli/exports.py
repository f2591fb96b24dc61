"""`scale export`: a stored run in other programs' formats. Wiring only; see scale_sweep/results/formats."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import require_extra
from scale_sweep.base.units import counted
from scale_sweep.cli.arguments import RESULTS, RUN, from_flags

NEWLINE = b"\n"


class ExportTable(StrEnum):
    """The tables that `scale export` can write."""

    POINTS = "points"
    TIMESERIES = "timeseries"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("export", epilog="Example: scale export last --what timeseries --csv seconds.csv")(from_flags(export))


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """The run, the formats with their files, and the table to write."""

    run: RUN
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write CSV.")] = None
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write JSON: a list of rows.")] = None
    parquet: Annotated[Path | None, typer.Option("--parquet", metavar="FILE", help="Write Parquet.")] = None
    openmetrics: Annotated[
        Path | None,
        typer.Option("--openmetrics", metavar="FILE", help="Write the run's Prometheus metrics, with times."),
    ] = None
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql",
            metavar="URL",
            help="Write the run into tables of an SQL database, like sqlite:///runs.db or postgresql://user@host/db. "
            "The password comes from SCALE_SQL_PASSWORD.",
        ),
    ] = None
    what: Annotated[
        ExportTable, typer.Option(help="points: a row for each trial; timeseries: a row for each tick.")
    ] = ExportTable.POINTS
    results: RESULTS = Path("results")


def export(request: ExportRequest) -> None:
    """Write a stored run in another format: CSV, JSON, Parquet, OpenMetrics, SQL tables.

    Give one FILE or several; - is standard output.
    """
    from scale_sweep.cli import console
    from scale_sweep.results import formats, sqlexport
    from scale_sweep.results.store.reader import find_run, read_run
    from scale_sweep.watch import exporter

    wanted = [
        (file, encode)
        for file, encode in (
            (request.csv, formats.as_csv),
            (request.json, formats.as_json),
            (request.parquet, formats.as_parquet),
        )
        if file is not None
    ]
    if not wanted and request.openmetrics is None and request.sql is None:
        raise UsageError(
            "scale export needs a format", remedy="give --csv, --json, --parquet or --openmetrics FILE, or --sql URL"
        )
    for chosen, extra, flag in ((request.parquet, "parquet", "--parquet"), (request.sql, "sql", "--sql")):
        if chosen is not None:
            require_extra(extra, flag)
    run = find_run(request.results, request.run)
    stored = read_run(run)
    columns = formats.columns_of(stored, request.what.value)
    for file, encode in wanted:
        _write(file, encode(columns), counted(len(columns.rows), "row"))
    if request.openmetrics is not None:
        content = exporter.openmetrics(run, stored)
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
