"""The table, and the tags of each device: static columns of its partition, written once before the clock starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from scale_sweep.loadgen.rows import Tables
from scale_sweep.model import Workload
from scale_sweep.server.targets import series
from scale_sweep.server.targets.cassandra.queries import TABLE
from scale_sweep.server.targets.cassandra.types import TYPES, stored_tags

DEVICES = 500  # whose tags are written by one statement
_WHOLE = ("tinyint", "smallint", "int", "bigint")


def table(data: Workload) -> str:
    """The statement that makes the table: a device is a partition, its rows ordered by time."""
    tags = "".join(f', "{name}" {kind} STATIC' for name, kind in stored_tags(data.tags).items())
    columns = "".join(f', "{name}" {TYPES[kind]}' for name, kind in series.columns_of(data).items())
    return f"CREATE TABLE {TABLE} (device text, ts timestamp{tags}{columns}, PRIMARY KEY (device, ts))"


def indexes(data: Workload) -> Iterator[str]:
    """Statements that make an index on each tag that can say a group."""
    for name, kind in stored_tags(data.tags).items():
        if kind in _WHOLE:
            yield f"CREATE INDEX ON {TABLE} (\"{name}\") USING 'sai'"


def tag_batches(tags: Sequence[str], tables: Tables) -> Iterator[str]:
    """Statements that write the tags of all devices, many devices in each."""
    stored = stored_tags(tags)
    names = "".join(f', "{name}"' for name in stored)
    values = zip(*(tables.tags[name] for name in stored), strict=True)
    rows = iter(zip(tables.names, values, strict=True))
    while part := list(islice(rows, DEVICES)):
        inserts = (
            f"INSERT INTO {TABLE} (device{names}) VALUES ('{device}', {_literals(stored.values(), cells)});"
            for device, cells in part
        )
        yield f"BEGIN UNLOGGED BATCH {' '.join(inserts)} APPLY BATCH"


def _literals(kinds: Iterable[str], cells: Sequence[str]) -> str:
    return ", ".join(
        "'{}'".format(cell.replace("'", "''")) if kind == "text" else cell
        for kind, cell in zip(kinds, cells, strict=True)
    )
