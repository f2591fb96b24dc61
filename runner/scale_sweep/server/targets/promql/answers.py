"""The rows of an answer of series, which are columns of devices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.model import Cells
from scale_sweep.server.targets.promql.selectors import COLUMN
from scale_sweep.server.targets.series import DEVICE, joined_in_order

Series = Mapping[str, Any]  # its labels as "metric", its samples as "values"
_COLUMNS, _TAG, _BUCKET = re.compile(r'__name__=~"([^"]*)"'), re.compile(r" by \((\w+)\)"), re.compile(r"&step=\d+ms")

_LABELLED = re.compile(rf',"{COLUMN}","([^"]*)","",""')  # a column whose series have lost their names
_TOGETHER, _AT_ONCE = re.compile(r"by \((__name__)?\)"), "&step=1&"  # all devices; aggregates of all time together


def rows_of(text: str, series: Sequence[Series]) -> list[Cells]:
    tag, columns = _TAG.search(text), _COLUMNS.search(text)
    names = columns.group(1).split("|") if columns else list(dict.fromkeys(_LABELLED.findall(text)))
    if names:
        tells_device = f'{DEVICE}="' not in text and not _TOGETHER.search(text)
        rows = _joined(names, series, tells_device=tells_device)
        return [row[1:] for row in rows] if _AT_ONCE in text and "union(" not in text else rows
    if tag:
        groups = [(_ms(time), _label(one, tag.group(1)), _number(v)) for one in series for time, v in one["values"]]
        return sorted(groups) if _BUCKET.search(text) else sorted(row[1:] for row in groups)
    samples = [(_ms(time), _number(value)) for one in series for time, value in one["values"]]
    return list(samples) if _BUCKET.search(text) else [(value,) for _, value in samples]


def _joined(names: Sequence[str], series: Sequence[Series], *, tells_device: bool) -> list[Cells]:
    rows: dict[tuple[Any, str], dict[str, Any]] = {}
    newest = {_device(one): _ms(float(one["values"][0][1])) for one in series if _name(one) == "time"}
    for one in series:
        for time, value in one["values"] if _name(one) != "time" else ():
            rows.setdefault((newest.get(_device(one), _ms(time)), _device(one)), {})[_name(one)] = _number(value)
    return [
        (time, *((device,) if tells_device else ()), *(cells.get(name) for name in names))
        for (time, device), cells in joined_in_order(rows, [[time for time, _ in one["values"]] for one in series])
    ]


def _label(one: Series, tag: str) -> int | str:
    text = str(one["metric"].get(tag, ""))
    return int(text) if text.isdecimal() else text


def _name(one: Series) -> str:
    return str(one["metric"].get("__name__", ""))


def _device(one: Series) -> str:
    return str(one["metric"].get(DEVICE, ""))


def _ms(seconds: float) -> Any:
    """A whole number, unless the time is not of a whole millisecond; a double holds microseconds of these times."""
    ms = seconds * 1000
    return round(ms) if abs(ms - round(ms)) < 5e-4 else ms


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value
