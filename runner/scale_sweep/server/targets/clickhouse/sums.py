"""How ClickHouse spells sums of the stored rows."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import NS_PER_MS
from scale_sweep.server.targets.sql_dialect import SumsDialect

SUMS = ("rows", "first", "last", "times", "values", "sum", "least", "greatest", "timed")
DIALECT = SumsDialect(
    column=lambda name, kind: f"`{name}`",
    double=lambda what: f"toFloat64({what})",
    ns=NS_PER_MS,
    added_as_double=("float", "double", "bigint", "ubigint", "timestamp"),
)
