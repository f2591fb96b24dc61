"""Queries of KairosDB as JSON with placeholders; answers as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Cells, Query
from scale_sweep.server.targets.placeholders import marked
from scale_sweep.server.targets.series import DEVICE, MEASUREMENT, begins_with_bucket, rows_joined

QUERY_PATH = "/api/v1/datapoints/query"
_FUNCTIONS = {name: name for name in ("count", "avg", "sum", "max", "min", "first", "last")} | {"stddev_samp": "dev"}
_GAPS = "gaps"  # adds NULL where a stretch of time has no point
_EVER = {"value": 1000, "unit": "years"}
_FIRST_MS = 86_400_000  # before the first row


def rendered(query: Query, data: Workload, method: str) -> str:
    """In JSON. Raises CannotAsk."""
    if query.text:
        return query.text
    if query.sets:
        raise CannotAsk(f"KairosDB has no {query.sets.upper()} of points")
    if query.tag:
        raise CannotAsk("KairosDB has no groups of numbers here: it compares tags as texts")
    bounds = {*query.bounds, *(one.column for one in query.conditions)}
    if bounds and {*query.columns} != bounds or len(bounds) > 1:
        raise CannotAsk("KairosDB bounds a metric by itself only", remedy="columns or column = bound_column")
    if query.devices > 1 and len(query.columns) > 1:
        raise CannotAsk("KairosDB needs the devices again for each column", remedy="one column, or one device")
    if query.latest and query.devices > 1:
        raise CannotAsk("KairosDB limits the points of all devices together", remedy="devices = 1")
    request = {
        **_times(query, data),
        "cache_time": 0,
        "metrics": [_metric(column, query, data) for column in query.columns],
    }
    return marked(request, query.devices)


def rows_of(text: str, queries: Sequence[Mapping[str, Any]]) -> tuple[Cells, ...]:
    """text: the query."""
    request = json.loads(text)
    names = [metric["name"] for metric in request["metrics"]]
    results = [one for query in queries for one in query["results"] if one["values"]]
    aggregators = [a for a in request["metrics"][0].get("aggregators", ()) if "sampling" in a]
    if aggregators:
        samples = [(int(time), value) for one in results for time, value in one["values"]]
        return tuple(samples) if aggregators[0]["sampling"] != _EVER else tuple((value,) for _, value in samples)
    is_desc = request["metrics"][0].get("order") == "desc"
    many = "group_by" in request["metrics"][0]
    series = ((one["tags"][DEVICE][0], one["name"], one["values"]) for one in results)
    return tuple(rows_joined(series, names, tells_device=many, newest_first=is_desc))


def _times(query: Query, data: Workload) -> dict[str, Any]:
    if query.when == "at":
        return {"start_absolute": "<at>", "end_absolute": "<at>"}
    if query.when == "range":
        return {"start_absolute": "<from>", "end_absolute": "<until>"}
    return {"start_absolute": data.start_ms - _FIRST_MS}


def _metric(column: str, query: Query, data: Workload) -> dict[str, Any]:
    metric: dict[str, Any] = {"name": f"{MEASUREMENT}_{column}", "tags": {DEVICE: ["<device>"] * query.devices}}
    if query.devices > 1 and not query.function:
        metric["group_by"] = [{"name": "tag", "tags": [DEVICE]}]
    if query.newest_first or query.latest:
        metric["order"] = "desc"
    if query.latest:
        metric["limit"] = 1
    aggregators = []
    if query.bound_column:
        aggregators.append(_filter("<" if query.is_below else ">", "<number>"))
    aggregators += [_filter(one.sign, one.value) for one in query.conditions]
    if query.function:
        one = _aggregator(query, data)
        aggregators += [one, {**one, "name": _GAPS}] if query.fill else [one]
    return {**metric, **({"aggregators": aggregators} if aggregators else {})}


def _filter(sign: str, number: Any) -> dict[str, Any]:
    return {"name": "filter", "filter_op": "lte" if sign == ">" else "gte", "threshold": number}


def _aggregator(query: Query, data: Workload) -> dict[str, Any]:
    if query.function not in _FUNCTIONS:
        raise CannotAsk(f"KairosDB has no {query.function}", remedy=f"function = {', '.join(_FUNCTIONS)}")
    name = _FUNCTIONS[query.function]
    if not query.bucket_ms:
        return {"name": name, "sampling": _EVER}
    if query.function == "stddev_samp" and query.bucket_ms < 2 * data.step_ms:
        raise CannotAsk("KairosDB answers 0 for the deviation of one value", remedy="a longer bucket")
    if query.newest_first:
        raise CannotAsk("KairosDB aggregates points in the order of time, oldest first")
    if not begins_with_bucket(query, data):
        sentence = "KairosDB's stretches of time begin with the range, not with a multiple of their length"
        raise CannotAsk(sentence, remedy="step and span as multiples of bucket")
    sampling = {"value": query.bucket_ms, "unit": "milliseconds"}
    return {"name": name, "sampling": sampling, "align_start_time": True, "align_sampling": False}
