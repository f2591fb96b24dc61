"""The questions of each operation of a load: its function, range, buckets, bounds, or the user's own text. Pure.

Refuses a default that it does not know: where the parameters do not fit the rows, they are shown as they were written.
"""

from __future__ import annotations

from scale_sweep.base.units import format_number, format_seconds
from scale_sweep.experiment.work import operation_of
from scale_sweep.model import Operation, Query, StoredRun, Work
from scale_sweep.report.table import ABSENT, Table

_HEADERS = ("Operation", "Kind", "Share of requests", "Query", "Devices", "Span", "Bucket", "Bound")
_WHEN = {"always": "all time", "at": "one moment", "before": "all time before a moment"}


def asked_operations_table(run: StoredRun) -> Table:
    """A row for each operation of the mix."""
    work = run.plan.sweep.work
    total = sum(o.weight for o in work.operations if not o.is_apart) or 1.0
    rows = tuple((o.name, o.kind_name, _share(o, total), *_cells_of(work, o)) for o in work.operations)
    note = "Devices, starts of spans and bounds within LOW..HIGH are drawn for each request."
    return Table(title="Queries", headers=_HEADERS, rows=rows, words=(0, 1, 3, 4, 5, 6, 7), notes=(note,))


def _share(operation: Operation, total: float) -> str:
    return "on separate connections" if operation.is_apart else f"{100 * operation.weight / total:.3g} %"


def _cells_of(work: Work, operation: Operation) -> tuple[str, str, str, str, str]:
    try:
        query = operation_of(operation.kind_name).query(work, operation)
    except ValueError:
        written = " ".join(f"{name}={value}" for name, value in operation.parameters.items())
        return (written or ABSENT, ABSENT, ABSENT, ABSENT, ABSENT)
    if query is None:
        return ("writes rows", ABSENT, ABSENT, ABSENT, ABSENT)
    span = f"{format_seconds(query.span_ms / 1000)}" if query.span_ms else _WHEN.get(query.when, ABSENT)
    bucket = format_seconds(query.bucket_ms / 1000) if query.bucket_ms else ABSENT
    filled = f", empty ones: {query.fill}" if query.fill else ""
    return (_wanted(query), _devices(query), span, bucket + filled, _bound(query))


def _wanted(query: Query) -> str:
    if query.text:
        return query.text
    columns = ", ".join(query.columns) or "all columns"
    wanted = f"{', '.join(query.functions)} of {columns}" if query.function else columns
    parts = (
        "the last row of each: " if query.latest else "",
        wanted,
        f", for each value of {query.each_tag}" if query.each_tag else "",
        ", for each device" if query.by_device else "",
        f", the first {query.limit} rows" if query.limit else "",
        f", by {query.by_value}{' descending' if query.largest_first else ''}" if query.by_value else "",
        f"; {query.sets} of two ranges" if query.sets else "",
    )
    return "".join(parts)


def _devices(query: Query) -> str:
    if query.with_tag is not None:
        return "those with {} = {}".format(*query.with_tag)
    if query.tag:
        return f"those of {query.groups or 'all'} values of {query.tag}"
    return format_number(query.devices) if query.devices else ABSENT if query.text else "all"


def _bound(query: Query) -> str:
    drawn = format_number(query.low) if query.low == query.high else f"{query.low:g}..{query.high:g}"
    sign = "<" if query.is_below else ">"
    bounds = [f"{column} {sign} {drawn}" for column in query.bounds]
    bounds += [f"{c.column} {c.sign} {c.value:g}" for c in query.conditions]
    return ", ".join(bounds) or ABSENT
