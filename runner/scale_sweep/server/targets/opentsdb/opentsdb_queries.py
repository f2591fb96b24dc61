"""Queries of OpenTSDB's /api/query, as JSON with placeholders; answers as rows.

A range includes its end, which must be after its start, so it ends with the last moment before `to`. Stretches are
multiples of their length since 1970: one that begins before the range is left out, one that ends after it is completed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Cells, Query
from scale_sweep.server.targets.placeholders import marked
from scale_sweep.server.targets.series import DEVICE, MEASUREMENT, begins_with_bucket, rows_joined

ASKED, QUERY_PATH = "/api/query", "/api/query?arrays"
POINTS, NAME = "dps", "metric"  # of an answer
FIRST_MS = 86_400_000  # before the first row
END_MS = 4_000_000_000_000  # in the year 2096
_ALL = "0all"
_NONE = "none"  # each series by itself
_OF_ONE = {
    **{name: name for name in ("count", "avg", "sum", "max", "min", "first", "last")},
    "stddev": "dev",
    "median": "ep50r7",
}
# Of several series, without values between their points.
_OF_MANY = {"count": "zimsum", "sum": "zimsum", "max": "mimmax", "min": "mimmin"}
_EXACT = ("first", "last")  # whose value is one that was written
_LONG = ("bigint", "timestamp")


def rendered(query: Query, data: Workload, method: str) -> str:
    """In JSON. Raises CannotAsk."""
    if query.text:
        return query.text
    if query.sets:
        raise CannotAsk(f"OpenTSDB has no {query.sets.upper()} of points")
    if query.bound_column:
        raise CannotAsk("OpenTSDB has no condition on values")
    if query.newest_first:
        raise CannotAsk("OpenTSDB answers in the order of time, oldest first")
    if query.latest:
        raise CannotAsk("OpenTSDB finds a last point by the time of its writing, not by its timestamp")
    if query.devices > 1 and len(query.columns) > 1:
        raise CannotAsk("OpenTSDB needs the devices again for each column", remedy="one column, or one device")
    request = {
        **_times(query, data),
        "msResolution": True,
        "queries": [_series(column, query, data) for column in query.columns],
    }
    return marked(request, query.devices)


def rows_of(text: str, series: Sequence[Mapping[str, Any]]) -> tuple[Cells, ...]:
    """text: the query."""
    queries = json.loads(text)["queries"]
    chosen = queries[0]["filters"][0]
    series = [one for one in series if one[POINTS]]
    if downsample := queries[0].get("downsample"):
        samples = [(int(time), _number(value)) for one in series for time, value in one[POINTS]]
        if not chosen["groupBy"]:
            return tuple((value,) for _, value in samples) if downsample.startswith(_ALL) else tuple(samples)
        groups = [int(one["tags"][chosen["tagk"]]) for one in series]
        return tuple(sorted((group, value) for group, (_, value) in zip(groups, samples, strict=True)))
    names = [one["metric"] for one in queries]
    many = chosen["tagk"] != DEVICE or "|" in chosen["filter"]
    points = ((one["tags"][DEVICE], one[NAME], [(int(time), value) for time, value in one[POINTS]]) for one in series)
    return tuple(rows_joined(points, names, tells_device=many))


def metric(column: str) -> str:
    return f"{MEASUREMENT}_{column}"


def _number(value: float | None) -> float | None:
    """A downsample is a double: without a fraction a whole number. None: filled in."""
    return int(value) if value is not None and float(value).is_integer() else value


def _times(query: Query, data: Workload) -> dict[str, Any]:
    if query.when == "always":
        start = data.start_ms - FIRST_MS
        return {"start": start - start % (query.bucket_ms or 1), "end": END_MS}
    if query.function and not query.bucket_ms:
        return {"start": "<from>", "end": "<to>"}
    if (data.step_ms if query.when == "at" else query.span_ms) < 2:
        sentence = "a range of OpenTSDB ends at least a millisecond after its start, and includes its end"
        raise CannotAsk(sentence, remedy="--step-ms 2 or more, and a span of 2 ms or more")
    return {"start": "<at>" if query.when == "at" else "<from>", "end": "<until>"}


def _series(column: str, query: Query, data: Workload) -> dict[str, Any]:
    query_of_column = {"aggregator": _NONE, "metric": metric(column), "filters": [_chosen(query)]}
    if not query.function:
        return query_of_column
    if query.devices != 1:
        if query.function not in _OF_MANY:
            sentence = f"OpenTSDB has no {query.function} of the points of several devices"
            raise CannotAsk(sentence, remedy=f"function = {', '.join(_OF_MANY)}, or one device")
        query_of_column["aggregator"] = _OF_MANY[query.function]
    if query.function not in _OF_ONE:
        raise CannotAsk(f"OpenTSDB has no {query.function}", remedy=f"function = {', '.join(_OF_ONE)}")
    if query.function in _EXACT and column_types(data)[column] in _LONG:
        raise CannotAsk("OpenTSDB aggregates values as doubles", remedy="another column, or another function")
    if query.when == "range" and query.bucket_ms and not begins_with_bucket(query, data):
        sentence = "OpenTSDB answers with whole stretches of time, so ranges must begin and end with one"
        raise CannotAsk(sentence, remedy="step and span as multiples of bucket")
    if query.fill and query.devices != 1:
        raise CannotAsk("OpenTSDB fills the points of each device before it adds them", remedy="devices = 1")
    stretch = f"{query.bucket_ms}ms" if query.bucket_ms else _ALL
    return {
        **query_of_column,
        "downsample": f"{stretch}-{_OF_ONE[query.function]}{f'-{query.fill}' if query.fill else ''}",
    }


def _chosen(query: Query) -> dict[str, Any]:
    if query.groups > 1:
        raise CannotAsk("OpenTSDB compares tags as texts only", remedy="fraction = 1, or one group")
    if query.tag:
        kind, value = ("literal_or", "<value>") if query.groups else ("wildcard", "*")
        return {"type": kind, "tagk": query.tag, "filter": value, "groupBy": query.by_tag}
    devices = "|".join(["<device>"] * query.devices)
    return {"type": "literal_or", "tagk": DEVICE, "filter": devices, "groupBy": False}
