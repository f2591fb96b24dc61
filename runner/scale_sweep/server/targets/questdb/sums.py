"""Sums of the stored rows as statements of QuestDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scale_sweep.model import Trial
from scale_sweep.server.targets.series import DEVICE, part_names
from scale_sweep.server.targets.sql_dialect import SumsDialect, expressions

SUMS = ("rows", "first", "last", "times", "values", "sum", "least", "greatest", "timed")
FIGURES_MAX = 40  # of one statement: it is in the address of a request, whose length QuestDB limits
DEVICES_MAX = 200  # that a statement names
_LONG = ("bigint", "uint")  # their columns are LONG


def _column(name: str, kind: str) -> str:
    return f'"{name}"::int' if kind == "bool" else f'"{name}"'


DIALECT = SumsDialect(
    column=_column,
    double=lambda what: f"({what})::double",
    ns=1000,
    added_as_double=("float", "double", *_LONG),
)


def statements(trial: Trial, devices: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Figures and the statement that returns them behind the device, for each table; of all rows together, with "" as
    the device, if there are no devices. Of more than DEVICES_MAX devices, all of a table are returned."""
    by_name = expressions(trial.work.data, SUMS, DIALECT)
    names, sources = tuple(by_name), [_source(trial, table, devices) for table in part_names(trial)]
    together = f"({' UNION ALL '.join(sources)})"
    for first in range(0, len(names), FIGURES_MAX):
        some = names[first : first + FIGURES_MAX]
        figures = ", ".join(by_name[name] for name in some)
        if not devices:
            yield some, f"SELECT '' AS {DEVICE}, {figures} FROM {together}"
        for source in sources if devices else ():
            yield some, f"SELECT {DEVICE}, {figures} FROM ({source}) GROUP BY {DEVICE}"


def _source(trial: Trial, table: str, devices: Sequence[str]) -> str:
    since = f"timestamp::long - {trial.work.data.start_ms * 1000} AS since_first"
    quoted = ", ".join(f"'{device}'" for device in devices)
    only = f" WHERE {DEVICE} IN ({quoted})" if 0 < len(devices) <= DEVICES_MAX else ""
    return f"SELECT *, {since} FROM '{table}'{only}"
