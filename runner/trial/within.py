"""Compares an answer that came while the load ran with the right one: its number of rows, and its content if the load
generator's driver handed it over. Pure.

Refuses to compare content that the writes of the load change.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from runner.loadgen.protocol import Asked
from runner.model import Cells, Query
from runner.work.answers import difference, grows, is_nothing

NS_PER_MS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Within:
    """An answer, and the right one to its draw. names: of the tables. written: rows that the load sent, which an answer
    may contain. has_writes: the load sends rows."""

    query: Query
    answer: Asked
    right: Sequence[Cells]
    names: Sequence[str]
    written: int
    has_writes: bool

    @property
    def is_compared(self) -> bool:
        """Whether its content is known and no write of the load may change it."""
        return bool(self.answer.content) and (self.query.when != "always" or not self.has_writes)

    def wrong(self) -> str:
        """What is wrong, in a few words; "" if nothing is."""
        least, more = len(self.right), self.written if grows(self.query) else 0
        if not 0 <= self.answer.rows - least <= more and not is_nothing(self.query, self.right):
            return f"{self.answer.rows:,} rows came while the load ran, {_right_count(least, more)}"
        if not self.is_compared:
            return ""
        came = [tuple(row) for row in json.loads(self.answer.content)]
        right = self.right[: len(came)] if len(came) < self.answer.rows else self.right
        why = difference(self.query, right, numbered(self.query, in_ms(self.query, came), self.names))
        return f"{why} (while the load ran)" if why else ""


def numbered(query: Query, came: Sequence[Cells], names: Sequence[str]) -> Sequence[Cells]:
    """The rows with the numbers of their devices in place of the names, if they tell the device."""
    if not query.tells_device:
        return came
    numbers = {text: number for number, text in enumerate(names)}
    return [(row[0], numbers.get(str(row[1]), row[1]), *row[2:]) for row in came]


def in_ms(query: Query, content: Sequence[Cells]) -> Sequence[Cells]:
    """The rows with their times in ms, exactly. Aggregates without stretches of time have none."""
    if query.function and not query.bucket_ms:
        return content
    return [(_ms(row[0]), *row[1:]) for row in content]


def _ms(time_ns: Any) -> Any:
    if not isinstance(time_ns, int):
        return time_ns
    return time_ns // NS_PER_MS if time_ns % NS_PER_MS == 0 else Fraction(time_ns, NS_PER_MS)


def _right_count(least: int, more: int) -> str:
    """The right number of rows: with writes, at least those before the load, at most also all that were sent."""
    return f"{least:,} to {least + more:,} are right" if more else f"{least:,} are right"
