"""Stored runs for Python programs and notebooks: data frames, the fit, and pictures in the report's style."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scale_sweep.base.registry import require_extra
from scale_sweep.model.fitted import FitReport, StoredRun
from scale_sweep.report.curve import curve_svg_bytes
from scale_sweep.report.figures import fit_of
from scale_sweep.report.sections import html
from scale_sweep.results.formats import columns_of
from scale_sweep.results.store.reader import find_run, read_run

_DTYPES = {"integer": "Int64", "number": "float64", "text": "string"}


@dataclass(frozen=True)
class Picture:
    """A picture as SVG. A notebook shows it."""

    svg: bytes

    def _repr_svg_(self) -> str:
        return self.svg.decode()

    def save(self, path: str | Path) -> None:
        """Writes the SVG into a file."""
        Path(path).write_bytes(self.svg)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A stored run. Its data frames are those of pandas.

    The columns, their units, and their empty cells are those of points.csv and timeseries.csv (docs/results.md).
    """

    stored: StoredRun

    @property
    def name(self) -> str:
        return Path(self.stored.path).name

    @cached_property
    def points(self) -> Any:
        """A data frame with one row for each trial."""
        return self._frame("points")

    @cached_property
    def seconds(self) -> Any:
        """A data frame with one row for each sample of each trial, about one a second; t_s: seconds since its start."""
        return self._frame("timeseries")

    @cached_property
    def fit(self) -> FitReport:
        return fit_of(self.stored)

    @cached_property
    def curve(self) -> Picture:
        return Picture(curve_svg_bytes(self.stored))

    def report(self) -> str:
        return html(self.stored)

    def _frame(self, what: str) -> Any:
        table = columns_of(self.stored, what)
        cells = {name: [row[at] for row in table.rows] for at, name in enumerate(table.kinds)}
        import pandas

        return pandas.DataFrame(
            {name: pandas.array(cells[name], dtype=_DTYPES[kind]) for name, kind in table.kinds.items()}
        )


def load(run: str = "last", results: str | Path = "results") -> Run:
    """A stored run, by its name, a part of it, its path, or "last".

    Raises UsageError if there is no such run or pandas is not installed, and StoreError if a file of the run cannot be
    read.
    """
    require_extra("pandas", "a data frame")
    return Run(stored=read_run(find_run(Path(results), run)))
