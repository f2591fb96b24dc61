"""Reads a published table for comparison with a run: a CSV file by its path, else one of `results/reference/` by its
name."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import bundled
from scale_sweep.base.texts import did_you_mean
from scale_sweep.experiment.axes import AXES

BYTES_MAX = 1 << 20
_RATES = {"rows_per_s", "requests_per_s"}
_READS = {"operation", "target", "response_s"}


def read_reference(name: str) -> Sequence[Mapping[str, str]] | None:
    """The rows by column; None for "". Raises UsageError that lists the bundled tables."""
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
    columns = set(rows[0]) if rows else set()
    if not (set(AXES.names()) & columns and _RATES & columns or columns >= _READS):
        raise UsageError(
            f"--reference: {path} needs the columns cores (or disks) and rows_per_s (or requests_per_s); of reads: "
            "operation, target and response_s"
        )
    return rows


def bundled_tables() -> dict[str, Path]:
    return bundled("results/reference", ".csv")


def find_reference(name: str) -> Path:
    if os.path.isfile(name):
        return Path(name)
    tables = bundled_tables()
    if name not in tables:
        raise UsageError(
            f"--reference: no table {name!r}{did_you_mean(name, tables)}",
            remedy=f"bundled are {', '.join(tables)}; or give a CSV file",
        )
    return tables[name]
