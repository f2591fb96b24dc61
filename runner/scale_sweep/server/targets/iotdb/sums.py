"""Sums of the stored rows as statements of IoTDB, for each device; those of all together are added by the caller."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scale_sweep.experiment.work.sums import ALL, NS_PER_MS, column_types, figures_of
from scale_sweep.model import Workload

SUMS = ALL
FIGURES_MAX = 30  # of one statement
DEVICES_MAX = 200  # that a statement names
_EXTREMES, _FLOAT = (".least", ".greatest"), struct.Struct("f")
_OF_COLUMN = {
    "values": "count({column})",
    "sum": "sum({number})",
    "least": "min_value({column})",
    "greatest": "max_value({column})",
    "timed": "sum({number} * (time - {start}))",
}
# There is no sum of times alone: each is added to a value times 0, of the first column that has a sum.
_OF_ROWS = {
    "rows": "count({column})",
    "first": "min_time({column})",
    "last": "max_time({column})",
    "times": "sum({number} * 0 + (time - {start}) / {step})",
}


def statements(data: Workload, devices: Sequence[str], database: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Figures, and the statement that returns them behind each device: all of the database, if devices are none or more
    than DEVICES_MAX."""
    kinds = column_types(data)
    names = [name for name in figures_of(data, SUMS) if name != "times" or _adding(data)]
    source = ", ".join(devices) if 0 < len(devices) <= DEVICES_MAX else f"{database}.*"
    for at in range(0, len(names), FIGURES_MAX):
        some = tuple(names[at : at + FIGURES_MAX])
        expressions = ", ".join(_expression(name, kinds, data) for name in some)
        yield some, f"SELECT {expressions} FROM {source} ALIGN BY DEVICE"


def figures_found(names: Sequence[str], row: Sequence[Any], data: Workload) -> dict[str, Any]:
    """The figures of one device, from its row; times in ns since the first timestamp. A float came as 9 digits, which
    say exactly which one it is."""
    figures, kinds = dict(zip(names, row, strict=True)), column_types(data)
    for name, value in figures.items():
        if value is not None and name in ("first", "last"):
            figures[name] = (int(value) - data.start_ms) * NS_PER_MS
        elif value is not None and name == "times":
            figures[name] = round(float(value) * data.step_ms * NS_PER_MS)
        elif value is not None and name.endswith(_EXTREMES) and kinds[name.rpartition(".")[0]] == "float":
            (figures[name],) = _FLOAT.unpack(_FLOAT.pack(float(value)))
    return figures


def _expression(figure: str, kinds: Mapping[str, str], data: Workload) -> str:
    name, _, what = figure.rpartition(".")
    column = name or _adding(data) or next(iter(kinds))
    number = f"CAST({column} AS INT32)" if kinds[column] == "bool" else column
    form = _OF_COLUMN[what] if name else _OF_ROWS[what]
    return form.format(column=column, number=number, start=data.start_ms, step=data.step_ms)


def _adding(data: Workload) -> str:
    """The first column that has a sum; "" if there is none."""
    return next(iter(figures_of(data, ("sum",))), "").removesuffix(".sum")
