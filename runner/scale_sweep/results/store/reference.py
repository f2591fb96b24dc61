"""Reads published tables for comparison with a run: CSV files of `results/reference/`, by name, or any CSV file by
path."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import AXES

SHIPPED = Path(__file__).resolve().parents[2] / "references"
CHECKOUT = Path(__file__).resolve().parents[4] / "results" / "reference"
BYTES_MAX = 1 << 20
_RATES = {"rows_per_s", "requests_per_s"}


def read_reference(name: str) -> Sequence[Mapping[str, str]] | None:
    """The rows by column; None for "". Raises UsageError that lists the included tables."""
    if not name:
        return None
    path = find_reference(name)
    try:
        if path.stat().st_size > BYTES_MAX:
            raise UsageError(f"--reference: {path} has more than {BYTES_MAX} bytes")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"--reference: {path} cannot be read: {error}") from None
    if not rows or not set(AXES.names()) & set(rows[0]) or not _RATES & set(rows[0]):
        raise UsageError(f"--reference: {path} needs the columns cores (or disks) and rows_per_s (or requests_per_s)")
    return rows


def find_reference(name: str) -> Path:
    """The path of an included table by its name, else the given path."""
    places = [folder / f"{name}.csv" for folder in (SHIPPED, CHECKOUT)]
    table = next((p for p in (*places, Path(name)) if os.path.isfile(p)), None)
    if table is None:
        shipped = sorted({p.stem for folder in (SHIPPED, CHECKOUT) for p in folder.glob("*.csv")})
        raise UsageError(
            f"--reference: no table {name!r}", remedy=f"included are {', '.join(shipped)}; or give a CSV file"
        )
    return table
