"""Rows of answers in the form that sessions return: times in ms since 1970, exactly, so that what a server adds below a
millisecond stays visible."""

from __future__ import annotations

import datetime
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from scale_sweep.model import Cells, Query

if TYPE_CHECKING:
    from scale_sweep.loadgen.content import Content

Ms = int | Fraction
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def exact_ms(units: int, units_per_ms: int) -> Ms:
    """A time in units since 1970 as ms; a fraction if it is between two of them."""
    return units // units_per_ms if units % units_per_ms == 0 else Fraction(units, units_per_ms)


def moment_ms(moment: datetime.datetime) -> Ms:
    """A moment with its zone, which is exact to a microsecond."""
    return exact_ms((moment - _EPOCH) // datetime.timedelta(microseconds=1), 1000)


NS_PER_MS = 1_000_000


def in_ms(query: Query, rows: Sequence[Cells]) -> Sequence[Cells]:
    """The rows with their times in ms, exactly. Aggregates without stretches of time have none."""
    if query.function and not query.bucket_ms:
        return rows
    return [(_ms(row[0]), *row[1:]) for row in rows]


def parsed(text: Content) -> Any:
    """The text of a server that answers in JSON. Raises ValueError for any other, TypeError for rows."""
    if not isinstance(text, str):
        raise TypeError("rows of a driver are no text of a server")
    return json.loads(text)


def tags_of(rows: Iterable[Sequence[Any]]) -> Mapping[str, Set[tuple[str, ...]]]:
    by_device = defaultdict[str, set[tuple[str, ...]]](set)
    for device, *tags in rows:
        by_device[str(device)].add(tuple("" if tag is None else str(tag) for tag in tags))
    return by_device


def _ms(time_ns: Any) -> Any:
    return exact_ms(time_ns, NS_PER_MS) if isinstance(time_ns, int) else time_ns
