"""Queries in MetricsQL, as paths with placeholders, and sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work.sums import NS_PER_MS, STEPS, column_types
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Query, percent_of
from scale_sweep.server.targets.promql import (
    EVER_MS,
    NAME,
    OF_MANY,
    OF_ONE,
    at_end,
    bounds_of,
    chosen_labels,
    metric,
    names_condition,
    samples,
)
from scale_sweep.server.targets.series import DEVICE, GZIP, begins_with_bucket, named

MOMENTS_MAX = 30_000  # of one query (-search.maxPointsPerTimeseries)
_ASKING = ("http", GZIP, "remote-write", "import")
_OF_ONE = {
    **OF_ONE,
    "spread": "range_over_time(W)",
    "first": "first_over_time(W)",
    "count_distinct": "distinct_over_time(W)",
    "rate": "(last_over_time(W) - first_over_time(W)) / (tlast_over_time(W) - tfirst_over_time(W))",
}


def rendered(query: Query, data: Workload, method: str) -> str:
    """The path behind /api/v1/. Raises CannotAsk."""
    if method not in _ASKING:
        raise CannotAsk(f"--method {method} has a separate port, without queries", remedy="--method http")
    if query.text:
        return query.text
    if query.sets:
        raise CannotAsk(f"MetricsQL has no {query.sets.upper()} of rows")
    if query.newest_first:
        raise CannotAsk("MetricsQL has no samples in the order of time, newest first")
    return _aggregate(query, data) if query.function else _rows(query, data)


def _rows(query: Query, data: Workload) -> str:
    named = _several(query)
    if query.latest:
        each = f"last_over_time({named}[{EVER_MS}ms])"
        time = f'alias(tlast_over_time({_series(query.columns[0], query)}[{EVER_MS}ms]),"time")'
        return _at_once(f"union({time}, {each})", query, data)
    if query.bound_column:
        within = " and ".join((named, *(f"({_within([one], query)})" for one in bounds_of(query))))
        return _moments(within, query, data.step_ms)
    return samples(query, data)


def _aggregate(query: Query, data: Workload) -> str:
    form, series = _form(query), _several(query) if _is_named(query) else _series(query.columns[0], query)
    if "rate" in query.functions and (data.start_ms % 1000 or data.step_ms % 1000):
        raise CannotAsk("MetricsQL's times are fractions, and too coarse for a rate", remedy="rows at whole seconds")
    if query.bucket_ms:
        _aligned(query, data)
        window = f"{series}[{query.bucket_ms}ms] offset -{query.bucket_ms - 1}ms"
        expression = form.replace("W", window)
        return _moments(f"keep_last_value({expression})" if query.fill else expression, query, query.bucket_ms)
    is_ranged = query.when == "range"
    shift = " offset 1ms" if is_ranged else ""
    span = query.span_ms if is_ranged else EVER_MS
    window = f"{series}[{span}ms]{shift}"
    if not query.bound_column:
        return _at_once(form.replace("W", window), query, data)
    bounds = bounds_of(query)
    if {column for column, _, _ in bounds} != {*query.columns} or len(query.columns) > 1:
        raise CannotAsk(
            "a bound of MetricsQL applies only to the column of the aggregate", remedy="bound_column = column"
        )
    is_above, is_below = ([sign for _, sign, _ in bounds] == [only] for only in "><")
    if query.function == "count" and is_above:
        form = form.replace("count_over_time(W)", "count_gt_over_time(W, {value})")
    elif query.function == "max" and is_above or query.function == "min" and is_below:
        form += f" {bounds[0][1]} {{value}}"
    elif not is_ranged:
        raise CannotAsk(
            "MetricsQL bounds samples at single moments, and all time has too many", remedy="function = max"
        )
    else:
        _countable(query, data.step_ms)
        window = f"({_within(bounds, query)})[{span}ms:{data.step_ms}ms]{shift}"
        if data.start_ms % data.step_ms:
            raise CannotAsk("MetricsQL bounds samples at multiples of the step, and the rows lie between them")
    return _at_once(form.replace("W", window), query, data)


def _of_one(function: str) -> str:
    percent = percent_of(function)
    return _OF_ONE[function] if percent is None else f"quantile_over_time({percent / 100:g}, W)"


def _of_many(function: str) -> str:
    if function not in OF_MANY:
        raise CannotAsk(f"MetricsQL has {function} of the samples of one series only", remedy="devices = 1")
    return OF_MANY[function]


def _form(query: Query) -> str:
    """The aggregate of a window W; of several columns or devices, series keep their names. Raises CannotAsk."""
    if not _is_named(query):
        tag = query.tag if query.by_tag else query.each_tag
        by = f" by ({tag})" if tag else ""
        return _of_one(query.function) if query.devices == 1 else _of_many(query.function).replace(" BY", by)
    if query.each_tag:
        raise CannotAsk("VictoriaMetrics is asked for one column of each value of a tag", remedy="one column")
    if query.devices == 1 or query.by_device:
        return f"{_of_one(query.function)} keep_metric_names"
    form = _of_many(query.function)
    if form.count("BY") > 1:
        sentence = "MetricsQL divides and subtracts series of one column, because the results have no names"
        raise CannotAsk(sentence, remedy="one column")
    return form.replace("BY", f"by ({NAME})").replace("(W)", "(W) keep_metric_names")


def _is_named(query: Query) -> bool:
    return len(query.columns) > 1 or query.by_device


def _aligned(query: Query, data: Workload) -> None:
    if query.when != "range":
        raise CannotAsk("VictoriaMetrics answers for a range of stretches of time only", remedy="no bucket")
    if not begins_with_bucket(query, data):
        sentence = "MetricsQL's stretches of time have one length, so ranges must begin and end with one"
        raise CannotAsk(sentence, remedy="step and span as multiples of bucket")


def _countable(query: Query, apart_ms: int) -> None:
    if query.span_ms // apart_ms >= MOMENTS_MAX:
        raise CannotAsk(f"VictoriaMetrics answers for {MOMENTS_MAX:,} moments at most", remedy="a shorter span")


def _moments(expression: str, query: Query, apart_ms: int) -> str:
    _countable(query, apart_ms)
    selected = f"{_with(query)}({expression}) if (time() < {{to}}e-3)"
    return f"query_range?query={selected}&start={{from}}e-3&end={{to}}e-3&step={apart_ms}ms&nocache=1"


def _at_once(expression: str, query: Query, data: Workload) -> str:
    end = at_end(data, query)
    return f"query_range?query={_with(query)}{expression}&start={end}&end={end}&step=1&nocache=1"


def _with(query: Query) -> str:
    labels = ",".join(chosen_labels(query))
    return f"WITH (s = {{{{{labels}}}}}) " if labels else ""


def _several(query: Query) -> str:
    return f"{{{{{names_condition(query.columns)}{',s' if chosen_labels(query) else ''}}}}}"


def _series(column: str, query: Query) -> str:
    return f"{metric(column)}{{{{s}}}}" if chosen_labels(query) else metric(column)


def _within(bounds: Sequence[tuple[str, str, str]], query: Query) -> str:
    return " ".join((_series(bounds[0][0], query), *(f"{sign} {number}" for _, sign, number in bounds)))


_ROLLUPS = {
    "values": "count_over_time",
    "sum": "sum_over_time",
    "least": "min_over_time",
    "greatest": "max_over_time",
    "first": "tfirst_over_time",
    "last": "tlast_over_time",
    STEPS: "duration_over_time",
}
_TOGETHER = {"least": "min", "greatest": "max", "first": "min", "last": "max"}  # others are added


@dataclass(frozen=True, kw_only=True)
class SumsQuery:
    figure: str
    column: str
    rollup: str  # over samples
    more: str = ""  # its other arguments
    outer: str = "sum"  # over series
    labels: str = ""
    by_device: bool = True


def questions(data: Workload, devices: Sequence[str]) -> Iterator[SumsQuery]:
    """Without devices for all together."""
    names = list(column_types(data))
    labels = f'{DEVICE}=~"{"|".join(some)}"' if (some := named(devices)) else ""
    for name in names:
        for what, rollup in _ROLLUPS.items():
            if what not in ("first", "last") or name == names[0]:
                yield SumsQuery(
                    figure=f"{name}.{what}",
                    column=name,
                    outer=_TOGETHER.get(what, "sum"),
                    rollup=rollup,
                    more=f", {data.step_ms}ms" if what == STEPS else "",
                    labels=labels,
                    by_device=bool(devices),
                )


def completed(figures: Mapping[str, float], data: Workload) -> dict[str, Any]:
    """figures: of one device. Times of answers are in seconds, which hold microseconds."""
    names = list(column_types(data))
    start_s, own = data.start_ms / 1000, {name: value for name, value in figures.items() if _is_own(name)}
    times = {
        what: figures[f"{names[0]}.{what}"] - start_s for what in ("first", "last") if f"{names[0]}.{what}" in figures
    }
    times[STEPS] = min(figures.get(f"{name}.{STEPS}", 0.0) for name in names)
    in_ns = {what: round(seconds * 1e6) * (NS_PER_MS // 1000) for what, seconds in times.items()}
    return {"rows": max(figures.get(f"{name}.values", 0.0) for name in names), **in_ns, **own}


def _is_own(figure: str) -> bool:
    return figure.rpartition(".")[2] in ("values", "sum", "least", "greatest")
