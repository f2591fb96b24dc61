"""Reads that return rows: of a moment, of a time range, within bounds, newest first, the last of each device, a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.experiment.work.read import BOUND, COLUMNS, DEVICES, ORDER, RANGE, Parameters, Read
from scale_sweep.model import Operation, Query, Work

SETS = ("union", "intersect", "except")


class _Point(Read):
    name, title = "point", "rows of devices at one time"

    @property
    def parameters(self) -> Mapping[str, str]:
        """Devices, columns and moments."""
        return {**DEVICES, **COLUMNS, "step": RANGE["step"], "recent": RANGE["recent"]}

    def query(self, work: Work, operation: Operation) -> Query:
        """The row of one moment of each device."""
        parameters = Parameters(work, operation)
        step, recent = parameters.time_ms("step", ""), parameters.time_ms("recent", "")
        query = Query(
            devices=parameters.devices(), columns=parameters.columns(), when="at", step_ms=step, recent_ms=recent
        )
        return parameters.tagged(query)


class _Latest(Read):
    name, title = "latest", "the last row of devices"

    @property
    def parameters(self) -> Mapping[str, str]:
        """Devices and columns."""
        return {**DEVICES, **COLUMNS}

    def query(self, work: Work, operation: Operation) -> Query:
        """The last row of each device."""
        parameters = Parameters(work, operation)
        return parameters.tagged(Query(devices=parameters.devices(), columns=parameters.columns(), latest=True))


@dataclass(frozen=True)
class _Range(Read):
    name: str
    title: str
    is_bound: bool = False
    newest_first: bool = False

    @property
    def parameters(self) -> Mapping[str, str]:
        return {**DEVICES, **COLUMNS, **RANGE, **ORDER, **(BOUND if self.is_bound else {})}

    def query(self, work: Work, operation: Operation) -> Query:
        """The rows of a time range."""
        parameters = Parameters(work, operation)
        query = parameters.over_range(
            Query(devices=parameters.devices(), columns=parameters.columns(), newest_first=self.newest_first)
        )
        query = parameters.ordered(parameters.tagged(query))
        return parameters.bounded(query) if self.is_bound else query


class _Set(Read):
    name, title = "set", "union, intersection or difference of two ranges that overlap"

    @property
    def parameters(self) -> Mapping[str, str]:
        """The operation, and what two ranges of one device are."""
        span = "length of both ranges together, each two thirds of it; default 1h"
        return {"of": f"{', '.join(SETS)}; default union", **COLUMNS, **RANGE, "span": span}

    def query(self, work: Work, operation: Operation) -> Query:
        """The rows of one device."""
        parameters = Parameters(work, operation)
        sets = parameters.text("of", SETS[0])
        if sets not in SETS:
            raise ValueError(f"of = {sets}: not one of {', '.join(SETS)}")
        return parameters.over_range(Query(columns=parameters.columns(), sets=sets))


POINT, LATEST, SET = _Point(), _Latest(), _Set()
RANGE_ROWS = _Range("range", "rows of a time range")
RANGE_VALUE = _Range("range_value", "rows of a time range above a bound", is_bound=True)
RANGE_DESC = _Range("range_desc", "rows of a time range, newest first", newest_first=True)
RANGE_VALUE_DESC = _Range(
    "range_value_desc", "rows of a time range above a bound, newest first", is_bound=True, newest_first=True
)
