"""A read with the user's own text: sent as it is written, counted, and not checked, because its right answer is
unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scale_sweep.experiment.work.read import RANGE, Parameters, Read
from scale_sweep.model import Operation, Query, Work

_MARK = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
MARKS = ("device", "from", "to", "at", "value", "again")


class _Sql(Read):
    name, title = "sql", "a text of yours, in the database's own language"
    answers = "unchecked"

    @property
    def parameters(self) -> Mapping[str, str]:
        """The text, and the ranges of its placeholders."""
        return {
            "text": "one statement; each request fills in {device}, {from}, {to}, {at} and {value}. "
            "{again} repeats the last device",
            **RANGE,
            "bound": "the range of {value}: a number, or LOW..HIGH",
        }

    def query(self, work: Work, operation: Operation) -> Query:
        """The text unchanged, with a range if it has one."""
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


SQL = _Sql()
