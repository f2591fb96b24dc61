"""How CrateDB spells sums of the stored rows."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import NS_PER_MS
from scale_sweep.server.targets.sql_dialect import SumsDialect

SUMS = ("rows", "first", "last", "times", "values", "sum", "least", "greatest", "timed")


def _column(name: str, kind: str) -> str:
    return f'CASE "{name}" WHEN true THEN 1 WHEN false THEN 0 END' if kind == "bool" else f'"{name}"'


DIALECT = SumsDialect(
    column=_column,
    double=lambda what: f"({what})::double precision",
    ns=NS_PER_MS,
    added_as_double=("float", "double", "bigint", "uint", "timestamp"),
)
