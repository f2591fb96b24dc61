"""Parts that databases of series share: names of a load, types of columns, counts of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from scale_sweep.base import units
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.declared import Workload
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.questions import Cells, Query
from scale_sweep.server.targets.records import Counted, wrong_input

WHOLE = ("tinyint", "smallint", "int", "bigint", "utinyint", "usmallint", "uint")
POINT_TYPES = ("bool", *WHOLE, "timestamp", "float", "double")
DRIVER, POINTS_DRIVER, SAMPLES_DRIVER = "lines", "points", "samples"
GZIP = "gzip"  # lines over HTTP
TCP, TELNET = "tcp", "telnet"  # methods without answers
DOOR_OFFSET = 1  # of a protocol's own port
DEVICE = "device"  # a tag
MEASUREMENT = "measurement"


DEVICES_MAX = 200
Value = TypeVar("Value")


def named(devices: Sequence[str]) -> Sequence[str]:
    """Those that a question names: of more it asks for all."""
    return devices if len(devices) <= DEVICES_MAX else ()


def in_parts(values: Sequence[Value], most: int) -> Iterator[Sequence[Value]]:
    return (values[at : at + most] for at in range(0, len(values), most))


def part_names(trial: Trial) -> tuple[str, ...]:
    """In the order of the load's partitions."""
    return tuple(f"{MEASUREMENT}_p{i}" for i in range(trial.load.partitions))


def begins_with_bucket(query: Query, data: Workload) -> bool:
    """Whether ranges consist of whole buckets."""
    parts = (query.span_ms, query.step_ms or data.step_ms, data.start_ms)
    return query.when == "range" and not any(part % query.bucket_ms for part in parts)


def refused_columns(title: str, trial: Trial, types: Collection[str]) -> tuple[Finding, ...]:
    return tuple(
        wrong_input("--columns", f"{title} has no type for {name}:{kind}", f"use {', '.join(types)}")
        for name, kind in column_types(trial.work.data).items()
        if kind not in types
    )


def counted(
    rows_by_device: Mapping[str, tuple[int, float, float]], data: Workload, *, is_distinct: bool = False
) -> Counted:
    """Rows must be consecutive from the first timestamp on. rows_by_device: rows, first and last timestamp in ms."""
    faulty = [
        device
        for device, (rows, first, last) in rows_by_device.items()
        if abs(first - data.start_ms) > data.step_ms / 2
        or abs(last - first - (rows - 1) * data.step_ms) > data.step_ms / 2
    ]
    where = f"{units.counted(len(faulty), 'device')}; {min(faulty, default='')} is one"
    sentence = f"rows between the first and the last are missing in {where}"
    rows = sum(rows for rows, _, _ in rows_by_device.values())
    return Counted(rows=rows, is_distinct=is_distinct, gaps=(sentence,) if faulty else ())


def counted_by_column(
    rows_by_device: Mapping[str, tuple[int, float, float]],
    rows_of: Mapping[str, Mapping[str, float]],
    data: Workload,
    *more_gaps: str,
    is_distinct: bool = False,
) -> Counted:
    """The same of rows that are stored by column. rows_of: by column and device."""
    first, *others = rows_of
    unlike = [name for name in others if rows_of[name] != rows_of[first]]
    gaps = (f"columns {', '.join(unlike)} have other rows than {first}",) if unlike else ()
    joined = counted(rows_by_device, data, is_distinct=is_distinct)
    return replace(joined, gaps=(*joined.gaps, *gaps, *more_gaps))


def label(text: str) -> int | str:
    """Groups are numbers."""
    return int(text) if text.isdecimal() else text


Series = tuple[str, str, Sequence[tuple[Any, Any]]]  # device, column, times and values


def rows_joined(
    answer: Iterable[Series], columns: Sequence[str], *, tells_device: bool, newest_first: bool = False
) -> list[Cells]:
    """Rows by time and device. If a series is not in order, they stay as they came, so that the check of the answer
    sees it."""
    rows: dict[tuple[Any, str], dict[str, Any]] = {}
    sign, is_ordered = -1 if newest_first else 1, True
    for device, column, samples in answer:
        is_ordered &= all(sign * a <= sign * b for (a, _), (b, _) in zip(samples, samples[1:], strict=False))
        for time, value in samples:
            rows.setdefault((time, device), {})[column] = value
    order = sorted(rows, reverse=newest_first) if is_ordered else rows
    return [
        (time, *((device,) if tells_device else ()), *(rows[time, device].get(name) for name in columns))
        for time, device in order
    ]
