"""`scale fit`: the curve of any data."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import require_extra
from scale_sweep.cli.arguments import JSON, NEED, PREDICT, asked_of, from_flags

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scale_sweep.analysis.fit.models import Floats
    from scale_sweep.analysis.fit.table import CsvColumns
    from scale_sweep.analysis.fit.words import Terms
    from scale_sweep.model.fitted import FitReport

_EXAMPLE = "Example: scale fit tdengine-cpu --n cores --x rows_per_s --predict 16,24 --need 7M"


def register(app: typer.Typer) -> None:
    app.command("fit", epilog=_EXAMPLE)(from_flags(fit))


@dataclass(frozen=True, kw_only=True)
class FitRequest:
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.csv", help="CSV with a header, or the name of a bundled table; - is standard input."
        ),
    ]
    n: Annotated[str, typer.Option(metavar="COLUMN", help="The level: cores, threads, disks, ...")]
    x: Annotated[str, typer.Option(metavar="COLUMN", help="The rate that was measured at the level.")]
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Fit one curve for each value of this column.")
    ] = None
    predict: PREDICT = None
    need: NEED = None
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture of the curves.")] = None
    as_json: JSON = False


def fit(request: FitRequest) -> None:
    """Fit the curve of any data: a CSV file with a level and a rate in each row.

    Several rows for a level are replicates. Linear, affine, Amdahl, USL, knee and power are fitted by least squares.
    """
    from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows
    from scale_sweep.analysis.fit.table import CsvColumns
    from scale_sweep.analysis.fit.words import Terms
    from scale_sweep.cli import console
    from scale_sweep.report.anydata import fit_document
    from scale_sweep.results.store.outside import write_outside

    if request.png is not None:
        require_extra("png", "--png")
    levels, rates = asked_of(request.predict, request.need)
    rows = _read(request.file, CsvColumns(n=request.n, x=request.x, group=request.group))
    terms = Terms(axis=request.n, rate="rows/s" if request.x == "rows_per_s" else request.x, row="row")
    questions = FitQuestions(predict=levels, need=rates, next_level=True)
    fits = {name: fit_rows(own, terms, questions=questions) for name, own in rows.items()}
    if request.as_json:
        documents = {name: fit_document(report) for name, report in fits.items()}
        about = {"file": request.file, "n": request.n, "x": request.x, "group": request.group}
        console.show_json({**about, "groups": documents} if request.group is not None else {**about, **documents[""]})
    else:
        for name, report in fits.items():
            _show(report, f"{request.group} = {name}" if request.group is not None else "", terms)
    if request.png is not None:
        from scale_sweep.report.plots import rows_png  # here, because matplotlib is an extra

        write_outside(request.png, rows_png(fits, rows, terms.axis, terms.rate))
        console.say(f"picture in {request.png}")


def _read(file: str, columns: CsvColumns) -> Mapping[str, Floats]:
    from scale_sweep.analysis.fit.table import read_table
    from scale_sweep.base.input_file import open_input
    from scale_sweep.results.store.outside import bundled_tables

    if not os.path.exists(file):
        file = str(bundled_tables().get(file, file))
    try:
        if file == "-":
            return read_table(sys.stdin.buffer, columns)
        with open_input(file, "FILE.csv") as stream:
            return read_table(stream, columns)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None


def _show(report: FitReport, title: str, terms: Terms) -> None:
    from scale_sweep.cli import console
    from scale_sweep.report.anydata import levels_table
    from scale_sweep.report.fitted import asked_table, derived_table, interval_words, models_table

    if title:
        console.show_line(title, "bold")
    console.show_report_table(levels_table(report, terms), "  ")
    console.show_line(f"  {interval_words(report, 'rows')}", "dim")
    console.show_line("")
    console.show_line(report.sentence, "bold")
    for caution in report.cautions:
        console.show_line(f"  but: {caution}", "yellow")
    for table in (models_table(report), derived_table(report), asked_table(report)):
        if table.rows:
            console.show_line("")
        console.show_report_table(table, "  ")
    console.show_line("")
