"""Compares an answer that came while the load ran with the right one: its number of rows, and its content if it is
known. Pure.

Refuses to compare content that the writes of the load change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.experiment.work.answers import difference, grows, is_nothing
from scale_sweep.experiment.work.columns import Right
from scale_sweep.experiment.work.ranked import rows_of
from scale_sweep.loadgen.protocol import Asked
from scale_sweep.model import Cells, Query


@dataclass(frozen=True, kw_only=True)
class Within:
    """An answer, and the right one to its draw. came: the rows of its content; None if it is not compared. names: of
    the tables. written: rows that the load sent, which an answer may contain."""

    query: Query
    answer: Asked
    right: Right
    came: Sequence[Cells] | None
    names: Sequence[str]
    written: int

    def wrong(self) -> str:
        """What is wrong, in a few words; "" if nothing is."""
        more = self.right.optional_rows + (self.written if grows(self.query) else 0)
        least = rows_of(self.query, self.right) - self.right.optional_rows
        if not 0 <= self.answer.rows - least <= more and not is_nothing(self.query, self.right):
            return f"{self.answer.rows:,} rows came while the load ran, {_right_count(least, more)}"
        if self.came is None:
            return ""
        why = difference(self.query, self.right, numbered(self.query, self.came, self.names))
        return f"{why} (while the load ran)" if why else ""


def is_compared(query: Query, answer: Asked, *, has_writes: bool) -> bool:
    """Whether the content is known and no write of the load may change it. has_writes: the load sends rows."""
    return bool(answer.content) and (query.when != "always" or not has_writes)


def numbered(query: Query, came: Sequence[Cells], names: Sequence[str]) -> Sequence[Cells]:
    """The rows with the numbers of their devices in place of the names, if they tell the device; with the values of a
    tag as texts."""
    place = query.keys - 1
    if query.each_tag:
        return [(*row[:place], str(row[place]), *row[place + 1 :]) for row in came]
    if not query.tells_device:
        return came
    numbers = {text: number for number, text in enumerate(names)}
    return [(*row[:place], numbers.get(str(row[place]), row[place]), *row[place + 1 :]) for row in came]


def _right_count(least: int, more: int) -> str:
    """The right number of rows: more of them may come where the load writes, and where rows are optional."""
    return f"{least:,} to {least + more:,} are right" if more else f"{least:,} are right"
