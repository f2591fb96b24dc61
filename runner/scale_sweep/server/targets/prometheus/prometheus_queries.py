"""Queries in PromQL, as paths with placeholders.

Windows end a millisecond before `to` and begin a millisecond before `from`, where no row is: so versions 2 and 3 answer
alike, and rows must be more than a millisecond apart.
"""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.base.errors import CannotAsk
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Query, percent_of
from scale_sweep.server.targets.promql import (
    COLUMN,
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
from scale_sweep.server.targets.series import begins_with_bucket

MOMENTS_MAX = 11_000  # of one query
_APART_MS = 2


def rendered(query: Query, data: Workload, method: str) -> str:
    """The path behind /api/v1/. Raises CannotAsk."""
    if query.text:
        return query.text
    if data.step_ms < _APART_MS:
        sentence = (
            "windows of Prometheus 2 and 3 differ by a millisecond at their left end, and so far apart are the rows"
        )
        raise CannotAsk(sentence, remedy=f"--step-ms {_APART_MS} or more")
    if query.sets:
        raise CannotAsk(f"PromQL has no {query.sets.upper()} of rows")
    if query.newest_first:
        raise CannotAsk("PromQL has no samples in the order of time, newest first")
    return _named_once(query, _aggregate(query, data) if query.function else _rows(query, data))


def _named_once(query: Query, text: str) -> str:
    """Each placeholder {device} stands for another device, so that the same one again is another placeholder."""
    mark = "{device}"
    if text.count(mark) > query.devices > 1:
        raise CannotAsk("PromQL names several devices once only", remedy="one column, devices = 1, or all devices")
    first, *others = text.split(mark)
    return mark.join((first, "{again}".join(others))) if query.devices == 1 else text


def _rows(query: Query, data: Workload) -> str:
    if query.latest:
        raise CannotAsk("PromQL has no time of the last sample of a series")
    if query.bound_column:
        series = f"{{{{{','.join((names_condition(query.columns), *chosen_labels(query)))}}}}}"
        of = query if query.devices == 1 else replace(query, devices=0)  # `and` chooses the devices too
        bounded = (f"({_selected(column, of)} {sign} {number})" for column, sign, number in bounds_of(query))
        return _moments(" and ".join((series, *bounded)), query, data.step_ms)
    return samples(query, data)


def _aggregate(query: Query, data: Workload) -> str:
    if query.bucket_ms:
        if query.when != "range" or not begins_with_bucket(query, data):
            sentence = "PromQL's stretches of time have one length, so ranges must begin and end with one"
            raise CannotAsk(sentence, remedy="step and span as multiples of bucket")
        return _moments(
            _of_columns(query, f"[{query.bucket_ms}ms] offset -{query.bucket_ms - 1}ms"), query, query.bucket_ms
        )
    is_ranged = query.when == "range"
    window = f"[{query.span_ms}ms] offset 1ms" if is_ranged else f"[{EVER_MS}ms]"
    if query.bound_column:
        return _bounded(query, data, window)
    return _at_once(_of_columns(query, window), query, data)


def _bounded(query: Query, data: Workload, window: str) -> str:
    """Samples are compared at the moments of the rows."""
    bounds = bounds_of(query)
    if {column for column, _, _ in bounds} != {*query.columns} or len(query.columns) > 1:
        sentence = "a bound of PromQL applies only to the column of the aggregate"
        raise CannotAsk(sentence, remedy="bound_column = column")
    is_extreme = len(bounds) == 1 and (query.function, bounds[0][1]) in (("max", ">"), ("min", "<"))
    if is_extreme:
        return _at_once(f"{_of_columns(query, window)} {bounds[0][1]} {bounds[0][2]}", query, data)
    if query.when != "range":
        sentence = "PromQL bounds samples at single moments, and all time has too many"
        raise CannotAsk(sentence, remedy="function = max")
    if data.start_ms % data.step_ms:
        raise CannotAsk("PromQL bounds samples at multiples of the step, and the rows lie between them")
    compared = " ".join((_selected(query.columns[0], query), *(f"{sign} {number}" for _, sign, number in bounds)))
    subquery = f"({compared})[{query.span_ms}ms:{data.step_ms}ms] offset 1ms"
    return _at_once(_form(query).replace("W", subquery), query, data)


def _of_columns(query: Query, window: str) -> str:
    forms = {column: _form(query).replace("W", f"{_selected(column, query)}{window}") for column in query.columns}
    if len(query.columns) == 1 and not query.by_device:
        return forms[query.columns[0]]
    if query.each_tag:
        raise CannotAsk("Prometheus is asked for one column of each value of a tag", remedy="one column")
    labelled = " or ".join(
        f'label_replace({form},"{COLUMN}","{metric(column)}","","")' for column, form in forms.items()
    )
    return f'label_replace({labelled},"{NAME}","$1","{COLUMN}","(.+)")'


def _form(query: Query) -> str:
    """The aggregate of a window W. Raises CannotAsk."""
    function = query.function
    if query.devices == 1 or query.by_device:
        percent = percent_of(function)
        if percent is not None:
            return f"quantile_over_time({percent / 100:g}, W)"
        if function not in OF_ONE:
            raise CannotAsk(f"PromQL has no {function} of samples")
        return OF_ONE[function]
    if function not in OF_MANY:
        raise CannotAsk(f"PromQL has {function} of the samples of one series only", remedy="devices = 1")
    tag = query.tag if query.by_tag else query.each_tag
    form = OF_MANY[function]
    return (f"({form})" if form.count(" BY") > 1 else form).replace(" BY", f" by ({tag})")


def _selected(column: str, query: Query) -> str:
    labels = ",".join(chosen_labels(query))
    return f"{metric(column)}{{{{{labels}}}}}" if labels else metric(column)


def _moments(expression: str, query: Query, apart_ms: int) -> str:
    if query.span_ms // apart_ms >= MOMENTS_MAX:
        raise CannotAsk(f"Prometheus answers for {MOMENTS_MAX:,} moments at most", remedy="a shorter span")
    return f"query_range?query={expression}&start={{from}}e-3&end={{until}}e-3&step={apart_ms}ms&timeout=1h"


def _at_once(expression: str, query: Query, data: Workload) -> str:
    end = at_end(data, query)
    return f"query_range?query={expression}&start={end}&end={end}&step=1&timeout=1h"
