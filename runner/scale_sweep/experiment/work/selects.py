"""Reads that return rows: of a moment, a time range, the last ones, a set, a text of the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scale_sweep.experiment.work.read import BOUND, COLUMNS, DEVICES, ORDER, RANGE, Parameters, Read
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.questions import Query

SETS = ("union", "intersect", "except")
_MARK = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
MARKS = ("device", "from", "to", "at", "value", "again")


class _Point(Read):
    name, title = "point", "rows of devices at one time"
    parameters: Mapping[str, str] = {**DEVICES, **COLUMNS, "step": RANGE["step"], "recent": RANGE["recent"]}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        step, recent = parameters.time_ms("step", ""), parameters.time_ms("recent", "")
        devices, columns = parameters.devices(), parameters.columns()
        return parameters.tagged(Query(devices=devices, columns=columns, when="at", step_ms=step, recent_ms=recent))


class _Latest(Read):
    name, title = "latest", "the last row of devices"
    parameters: Mapping[str, str] = {**DEVICES, **COLUMNS}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        return parameters.tagged(Query(devices=parameters.devices(), columns=parameters.columns(), latest=True))


@dataclass(frozen=True)
class _Range(Read):
    name: str
    title: str
    is_bound: bool = False
    newest_first: bool = False

    @property
    def parameters(self) -> Mapping[str, str]:  # type: ignore[override]
        return {**DEVICES, **COLUMNS, **RANGE, **ORDER, **(BOUND if self.is_bound else {})}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        query = Query(devices=parameters.devices(), columns=parameters.columns(), newest_first=self.newest_first)
        query = parameters.ordered(parameters.tagged(parameters.over_range(query)))
        return parameters.bounded(query) if self.is_bound else query


class _Set(Read):
    name, title = "set", "union, intersection or difference of two ranges that overlap"
    _SPAN = "length of both ranges together, each two thirds of it; default 1h"
    parameters: Mapping[str, str] = {"of": f"{', '.join(SETS)}; default union", **COLUMNS, **RANGE, "span": _SPAN}

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        sets = parameters.text("of", SETS[0])
        if sets not in SETS:
            raise ValueError(f"of = {sets}: not one of {', '.join(SETS)}")
        return parameters.over_range(Query(columns=parameters.columns(), sets=sets))


class _Sql(Read):
    """Not checked, because its right answer is unknown."""

    name, title = "sql", "a text of yours, in the database's own language"
    answers: Literal["", "checked", "unchecked"] = "unchecked"
    parameters: Mapping[str, str] = {
        "text": "one statement; each request fills in {device}, {from}, {to}, {at} and {value}. "
        "{again} repeats the last device",
        **RANGE,
        "bound": "the range of {value}: a number, or LOW..HIGH",
    }

    def query(self, work: Work, operation: Operation) -> Query:
        parameters = Parameters(work, operation)
        text = " ".join(parameters.text("text", "").split())
        if not text:
            raise ValueError("text is missing: one statement in the database's own language")
        marks = set()
        for mark in _MARK.finditer(text):
            name = mark.group(1)
            if mark.group(0) in ("{{", "}}"):
                continue
            if name not in MARKS:
                known = ", ".join(f"{{{mark}}}" for mark in MARKS)
                raise ValueError(f"text: {mark.group(0)} is not one of {known}; write a literal brace twice")
            marks.add(name)
        devices = text.count("{device}")
        if devices > work.data.tables:
            raise ValueError(f"text: {devices} times {{device}}, and there are {work.data.tables} devices")
        query = Query(devices=devices, text=text, step_ms=parameters.time_ms("step", ""))
        query = parameters.over_range(query) if marks & {"from", "to"} else query
        return parameters.bounded(query) if "value" in marks else query


POINT, LATEST, SET, SQL = _Point(), _Latest(), _Set(), _Sql()
RANGE_ROWS = _Range("range", "rows of a time range")
RANGE_VALUE = _Range("range_value", "rows of a time range above a bound", is_bound=True)
RANGE_DESC = _Range("range_desc", "rows of a time range, newest first", newest_first=True)
RANGE_VALUE_DESC = _Range(
    "range_value_desc", "rows of a time range above a bound, newest first", is_bound=True, newest_first=True
)
