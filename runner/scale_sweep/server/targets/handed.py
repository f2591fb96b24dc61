"""Rows as drivers of the load generator hand them over, in the form of a session's answers. Pure.

Refuses to say what a server's text means: only the session of its target knows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scale_sweep.model import Cells, Query
from scale_sweep.server.targets.times import exact_ms

if TYPE_CHECKING:
    from scale_sweep.loadgen.content import Content

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


def _ms(time_ns: Any) -> Any:
    return exact_ms(time_ns, NS_PER_MS) if isinstance(time_ns, int) else time_ns
