"""How MariaDB spells sums of the stored rows. Data only."""

from __future__ import annotations

from scale_sweep.experiment.work.sums import NS_PER_MS
from scale_sweep.server.targets.sql_dialect import SumsDialect

SUMS = ("rows", "first", "last", "times", "values", "sum", "least", "greatest", "timed")
# A sum of whole numbers is a decimal, which is exact.
DIALECT = SumsDialect(column=lambda name, kind: f"`{name}`", double=lambda what: f"({what} + 0e0)", ns=NS_PER_MS)
