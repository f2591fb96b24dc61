"""Parts that PromQL and MetricsQL share: paths with marks, aggregates, rows of answers, a session."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from scale_sweep.base.errors import CannotAsk, TargetError
from scale_sweep.model.declared import Workload
from scale_sweep.model.questions import Cells, Drawn, Query
from scale_sweep.server.targets.base import WITHIN_S
from scale_sweep.server.targets.series import DEVICE, MEASUREMENT, WHOLE, label, rows_joined
from scale_sweep.server.targets.sql_dialect import spelled
from scale_sweep.server.targets.web import WebSession

_THOUSANDTHS = re.compile(r"(\d+)(\d{3})e-3")
API = "/api/v1/"
PLAIN = "?&="  # what stands between the parts of a path
EVER_MS = 5 * 365 * 86_400_000  # from the first row on
NAME = "__name__"
COLUMN = "scale_column"  # a label for the name of a series, where functions drop it

# Samples are doubles: a whole number above 2^53 would be read back as another.
TYPES = ("bool", *(kind for kind in WHOLE if kind != "bigint"), "float", "double")


def metric(column: str) -> str:
    return f"{MEASUREMENT}_{column}"


def names_condition(columns: Sequence[str]) -> str:
    return f'{NAME}=~"{"|".join(map(metric, columns))}"'


def end_of_time(data: Workload) -> str:
    """A window of EVER_MS that ends there begins with the first row. In seconds."""
    return in_seconds(f"{data.start_ms - 1 + EVER_MS}e-3")


def in_seconds(text: str) -> str:
    """1500000000001e-3 as 1500000000.001, as the load generator writes it: VictoriaMetrics 1.131 reads no other."""
    return _THOUSANDTHS.sub(r"\1.\2", text)


def bounds_of(query: Query) -> list[tuple[str, str, str]]:
    """Column, sign and number of each condition on values."""
    drawn = [(column, "<" if query.is_below else ">", "{value}") for column in query.bounds]
    return drawn + [(one.column, one.sign, spelled(one.value)) for one in query.conditions]


def chosen_labels(query: Query) -> tuple[str, ...]:
    """By which a query chooses its devices. Raises CannotAsk for several of all groups."""
    if query.groups > 1:
        raise CannotAsk("PromQL compares labels as texts only", remedy="fraction = 1, or one group")
    if query.groups:
        return (f'{query.tag}="{{value}}"',)
    if query.with_tag:
        return (f'{query.with_tag[0]}="{query.with_tag[1]}"',)
    if query.devices > 1:
        return (f'{DEVICE}=~"{"|".join(["{device}"] * query.devices)}"',)
    return (f'{DEVICE}="{{device}}"',) if query.devices else ()


def samples(query: Query, data: Workload) -> str:
    """The rows themselves. A window begins and ends a millisecond before its range."""
    rows = f"{{{{{','.join((names_condition(query.columns), *chosen_labels(query)))}}}}}"
    if query.when == "always":
        return f"query?query={rows}[{EVER_MS}ms]&time={end_of_time(data)}"
    if query.when == "at":
        return f"query?query={rows}[1ms]&time={{at}}e-3"
    return f"query?query={rows}[{query.span_ms}ms] offset 1ms&time={{to}}e-3"


def at_end(data: Workload, query: Query) -> str:
    return "{to}e-3" if query.when == "range" else end_of_time(data)


# Aggregates over a window W of one series, and of several series together.
OF_ONE = {
    **{name: f"{name}_over_time(W)" for name in ("count", "avg", "sum", "max", "min", "last")},
    "spread": "(max_over_time(W) - min_over_time(W))",
    "stddev": "stddev_over_time(W)",
}
OF_MANY = {
    "count": "sum BY (count_over_time(W))",
    "avg": "sum BY (sum_over_time(W)) / sum BY (count_over_time(W))",
    "sum": "sum BY (sum_over_time(W))",
    "max": "max BY (max_over_time(W))",
    "min": "min BY (min_over_time(W))",
    "spread": "max BY (max_over_time(W)) - min BY (min_over_time(W))",
}


Series = Mapping[str, Any]  # its labels as "metric", its samples as "values"
_COLUMNS, _TAG, _BUCKET = re.compile(r'__name__=~"([^"]*)"'), re.compile(r" by \((\w+)\)"), re.compile(r"&step=\d+ms")

_LABELLED = re.compile(rf',"{COLUMN}","([^"]*)","",""')  # a column whose series have lost their names
_TOGETHER, _AT_ONCE = re.compile(r"by \((__name__)?\)"), "&step=1&"  # all devices; aggregates of all time together


def rows_of(text: str, series: Sequence[Series]) -> list[Cells]:
    """text: the query."""
    tag, columns = _TAG.search(text), _COLUMNS.search(text)
    names = columns.group(1).split("|") if columns else list(dict.fromkeys(_LABELLED.findall(text)))
    if names:
        tells_device = f'{DEVICE}="' not in text and not _TOGETHER.search(text)
        rows = _joined(names, series, tells_device=tells_device)
        return [row[1:] for row in rows] if _AT_ONCE in text and "union(" not in text else rows
    if tag:
        name = tag.group(1)
        labelled = [(label(str(one["metric"].get(name, ""))), *pair) for one in series for pair in one["values"]]
        groups = [(_ms(time), group, _number(value)) for group, time, value in labelled]
        return sorted(groups) if _BUCKET.search(text) else sorted(row[1:] for row in groups)
    samples = [(_ms(time), _number(value)) for one in series for time, value in one["values"]]
    return list(samples) if _BUCKET.search(text) else [(value,) for _, value in samples]


def _joined(names: Sequence[str], series: Sequence[Series], *, tells_device: bool) -> list[Cells]:
    newest = {_device(one): _ms(float(one["values"][0][1])) for one in series if _name(one) == "time"}
    samples = (
        (device, _name(one), [(newest.get(device, _ms(time)), _number(value)) for time, value in one["values"]])
        for one, device in zip(series, map(_device, series), strict=True)
        if _name(one) != "time"
    )
    return rows_joined(samples, names, tells_device=tells_device)


def _name(one: Series) -> str:
    return str(one["metric"].get("__name__", ""))


def _device(one: Series) -> str:
    return str(one["metric"].get(DEVICE, ""))


def _ms(seconds: float) -> Any:
    """A whole number, if it is one but for what a double cannot hold."""
    ms = seconds * 1000
    return round(ms) if abs(ms - round(ms)) < 5e-4 else ms


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


class PromqlSession(WebSession):
    reading: Mapping[str, str] = {
        "query_path": API,
        "query_plain": PLAIN,
        "answer_rows": "values",
        "answer_column": NAME,
    }

    def _filled(self, text: str, drawn: Drawn, names: Sequence[str]) -> str:
        return in_seconds(super()._filled(text, drawn, names))

    def _reply(self, statement: str, **more: Any) -> Any:
        self.asking = statement[:60]
        return self._web.get_json(API + quote(statement, safe=PLAIN), self.left_s(WITHIN_S))

    def _cells(self, statement: str, answer: Any) -> Sequence[Cells]:
        return rows_of(statement, self._result(statement, answer))

    def _at(self, query: str, time: str) -> list[Mapping[str, Any]]:
        """The series at one moment, in seconds since 1970."""
        return self._result(query, self._posted(query[:60], f"{API}query", query=query, time=time))

    def _result(self, query: str, answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if answer.get("status") != "success":
            raise TargetError(f"{self.who} refused {query[:60]!r}: {answer}")
        series: list[Mapping[str, Any]] = answer["data"]["result"]
        return series
