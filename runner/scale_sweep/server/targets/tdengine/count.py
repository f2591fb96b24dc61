"""Asks the database for its rows: how many there are, and in which tables some are missing."""

from __future__ import annotations

from scale_sweep.model import Trial
from scale_sweep.server.targets.tdengine.config import precision
from scale_sweep.server.targets.tdengine.dialect import UNITS_PER_MS

SHOWN = 3


def per_table(database: str, table: str, time: str) -> str:
    """A subquery with one row for each table: its name, its count, and the first and last value of the column
    `time`."""
    return (
        f"SELECT TBNAME t, COUNT(*) n, CAST(FIRST({time}) AS BIGINT) a, CAST(LAST({time}) AS BIGINT) b "
        f"FROM {database}.{table} GROUP BY TBNAME"
    )


def total(database: str, table: str, time: str) -> str:
    """The number of tables that have rows, and the number of their rows."""
    return f"SELECT COUNT(*), SUM(n) FROM ({per_table(database, table, time)})"


def not_consecutive(trial: Trial, database: str, table: str, time: str) -> str:
    """Tables whose rows do not begin with the first timestamp, or whose number does not fit their times."""
    units = UNITS_PER_MS[precision(trial)]
    step, start = trial.work.data.step_ms * units, trial.work.data.start_ms * units
    return (
        f"SELECT t, n, b - a + {step} FROM ({per_table(database, table, time)}) "
        f"WHERE a <> {start} OR b - a + {step} <> n * {step}"
    )
