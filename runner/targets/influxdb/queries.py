"""Queries in InfluxQL, with marks where each request has values of its own, and its answers as rows. Pure.

A device is a tag, and so is a group: tags are texts, which InfluxQL compares for being equal only. Refuses operations
that it has no words for: sets, and a part of the groups that is more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runner.errors import CannotAsk
from runner.model import Cells, Query, Workload
from runner.targets.series import DEVICE, MEASUREMENT

_AGGREGATES = {
    "count": "count",
    "avg": "mean",
    "sum": "sum",
    "max": "max",
    "min": "min",
    "spread": "spread",
    "first": "first",
    "last": "last",
}
_BY_DEVICE, _BY_TIME = f' GROUP BY "{DEVICE}"', " GROUP BY time("
_AGGREGATED = tuple(f"SELECT {name}(" for name in _AGGREGATES.values())


def rendered(query: Query, data: Workload, method: str) -> str:
    """One statement. Raises CannotAsk."""
    if query.text:
        return query.text
    if query.sets:
        raise CannotAsk(f"InfluxQL has no {query.sets.upper()}")
    where, order = _where(query), " ORDER BY time DESC" if query.newest_first else ""
    if query.function:
        value = ", ".join(f'{_AGGREGATES[query.function]}("{column}")' for column in query.columns)
        if query.by_tag:
            return f'SELECT {value} FROM "{MEASUREMENT}"{where} GROUP BY "{query.tag}"'
        bucket = f"{_BY_TIME}{query.bucket_ms}ms) fill(none){order}" if query.bucket_ms else ""
        return f'SELECT {value} FROM "{MEASUREMENT}"{where}{bucket}'
    columns = ", ".join(f'"{column}"' for column in query.columns)
    if query.latest:
        groups = _BY_DEVICE if query.devices > 1 else ""
        return f'SELECT {columns} FROM "{MEASUREMENT}"{where}{groups} ORDER BY time DESC LIMIT 1'
    device = f'"{DEVICE}", ' if query.tells_device else ""
    return f'SELECT {device}{columns} FROM "{MEASUREMENT}"{where}{order}'


def rows_of(text: str, series: Iterable[Mapping[str, Any]]) -> list[Cells]:
    """The rows of an answer in epoch=ms. Series come in the order of their tags as texts, and groups are numbers; a
    count of nothing comes as nothing."""
    found: list[Cells] = []
    for one in series:
        tags = tuple(one.get("tags", {}).values())
        for time, *cells in one["values"]:
            if not text.startswith(_AGGREGATED):
                found.append((time, *tags, *cells))
            elif _BY_TIME in text:
                found.append((time, *cells))
            else:
                found.append((*(int(tag) for tag in tags), *cells))
    return found if _BY_TIME in text or not text.startswith(_AGGREGATED) else sorted(found)


def _where(query: Query) -> str:
    found = []
    if query.tag and query.groups > 1:
        raise CannotAsk("InfluxQL compares tags for being equal only", remedy="fraction = 1, or one group")
    if query.tag and query.groups:
        found.append(f"\"{query.tag}\" = '{{value}}'")
    if query.devices:
        devices = " OR ".join([f"\"{DEVICE}\" = '{{device}}'"] * query.devices)
        found.append(f"({devices})" if query.devices > 1 else devices)
    if query.when == "at":
        found.append("time = {at}ms")
    elif query.when == "range":
        found.append("time >= {from}ms AND time < {to}ms")
    found += [f'"{column}" > {{value}}' for column in query.bounds]
    return f" WHERE {' AND '.join(found)}" if found else ""
