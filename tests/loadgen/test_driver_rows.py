"""Every driver sends each row as it was made: read back by servers of our own making, beside the null driver's rows."""

from __future__ import annotations

import json
import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cql_server import CqlServer
from driver_ways import WAYS, marks_of, spec_of
from iotdb_server import STRING, IotdbServer, Reader
from line_server import CrateServer, LineServer
from loadgen_program import float32
from pgarrays_server import ArraysServer
from pgwire_server import PgwireServer
from prometheus_series import series_in
from third_request import TYPES, assert_acked

from tests.loadgen.listening import closing

Columns = list[list[str]]  # name and type of each
Cell = tuple[int, int, str, Any]  # table, time, column and value; of NULLs there is none
COLUMNS = {  # the types that a driver has
    "cassandra": f"{TYPES},text:binary(20)",
    "cratedb": f"{TYPES},text:binary(9)",
    "iotdb": f"{TYPES},text:binary(20)",
    "lines": f"{TYPES},text:binary(20),uni:nchar(8)",
    "pgarrays": f"{TYPES},text:binary(9)",
    "pgwire": f"{TYPES},text:binary(8),uni:nchar(4)",
    "points": TYPES,
    "samples": "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,ut:utinyint,us:usmallint,u:uint",
}
KEEPS_FIRST = ("iotdb", "lines", "points", "samples")  # the first value of a row of NULLs, which would be no row
FORMS = {"bool": "b", "tinyint": "b", "smallint": "h", "int": "i", "bigint": "q", "utinyint": "h", "usmallint": "i"}
FORMS |= {"uint": "q", "float": "f", "double": "d", "timestamp": "q"}


def of_values(table: int, at: int, columns: Columns, values: list[Any]) -> Iterator[Cell]:
    pairs = zip(columns, values, strict=True)
    return ((table, at, name, value) for (name, _), value in pairs if value is not None)


def of_batches(server: CqlServer, columns: Columns) -> Iterator[Cell]:
    for device, at, *cells in (row for batch in server.batches for row in batch):
        values = [cell if cell is None else of_cql(cell, kind) for (_, kind), cell in zip(columns, cells, strict=True)]
        yield from of_values(int(device[1:]), struct.unpack(">q", at)[0], columns, values)


def of_cql(cell: bytes, kind: str) -> Any:
    return struct.unpack(f">{FORMS[kind]}", cell)[0] if kind in FORMS else cell.decode()


def of_arguments(server: CrateServer, columns: Columns) -> Iterator[Cell]:
    for body in map(json.loads, server.bodies):
        for table, at, *values in zip(*body["args"], strict=True) if "args" in body else body["bulk_args"]:
            yield from of_values(table, at, columns, values)


def of_arrays(server: ArraysServer, columns: Columns) -> Iterator[Cell]:
    for table, at, *values in server.stored:
        yield from of_values(table, at, columns, values)


def of_inserts(server: PgwireServer, columns: Columns) -> Iterator[Cell]:
    """Times in us."""
    for table, rows in server.rows.items():
        for device, *values, at in rows:
            assert table in ("measurement", f"measurement_p{int(device[1:]) % 3}")
            yield from of_values(int(device[1:]), at, columns, values)


def of_lines(server: LineServer, columns: Columns) -> Iterator[Cell]:
    line_of = re.compile(r"measurement,device=d(\d+) (.*) (-?\d+)")
    for line in server.lines:
        found = line_of.fullmatch(line)
        assert found, line
        fields = dict(re.findall(r'(\w+)=("(?:\\.|[^"\\])*"|[^,]*)', found[2]))
        assert fields, "a line without a value is no row"
        values = [of_field(fields[name], kind) if name in fields else None for name, kind in columns]
        yield from of_values(int(found[1]), int(found[3]), columns, values)


def of_field(text: str, kind: str) -> Any:
    """Refuses a number without the mark of its type."""
    if "(" in kind:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if kind == "bool":
        return {"t": 1, "f": 0}[text]
    assert kind in ("float", "double") or text.endswith("i")
    return float(text) if kind in ("float", "double") else int(text[:-1])


def of_points(server: LineServer, columns: Columns) -> Iterator[Cell]:
    kinds = dict(columns)
    for one in (one for body in server.bodies for one in json.loads(body)):
        name = one.get("name", one.get("metric")).removeprefix("measurement_")
        points = one.get("datapoints", [(one.get("timestamp"), one.get("value"))])
        assert points, "a series without points is refused by servers"
        for at, value in points:
            assert isinstance(value, float) == (kinds[name] in ("float", "double")), "a fraction has its point"
            yield int(one["tags"]["device"][1:]), at, name, value


def of_series(server: LineServer, columns: Columns) -> Iterator[Cell]:
    kinds = dict(columns)
    for one in series_in(server):
        labels = dict(one.labels)
        name = labels["__name__"].removeprefix("measurement_")
        for at, value in one.samples:
            assert kinds[name] != "float" or value == round(value, 12), "the double of its decimal"
            yield int(labels["device"][1:]), at, name, value


INT32, TEXT = 1, 5
KINDS = {"bool": 0, "bigint": 2, "uint": 2, "float": 3, "double": 4, "timestamp": 8, "binary": TEXT}
TABLET = {0: "?", INT32: "i", 2: "q", 3: "f", 4: "d", 8: "q"}


def of_type(reader: Reader, kind: int) -> Any:
    return reader.value(STRING).decode() if kind == TEXT else reader.number(f">{TABLET[kind]}")


def of_tablet(data: bytes, types: list[int], rows: int) -> Iterator[tuple[Any, ...]]:
    """Rows of the values of a tablet, with the bitmaps of NULLs that may follow them."""
    reader = Reader(data)
    columns = [[of_type(reader, kind) for _ in range(rows)] for kind in types]
    for column in columns if reader.at < len(data) else ():
        bits = reader.take(rows // 8 + 1) if reader.take(1)[0] else bytes(rows)
        column[:] = [None if bits[i // 8] >> i % 8 & 1 else value for i, value in enumerate(column)]
    assert reader.at == len(data)
    return zip(*columns, strict=True)


def of_record(data: bytes, names: list[bytes], types: dict[str, int]) -> list[Any]:
    """The values of a record in the order of `types`; None for those that it does not name."""
    reader, found = Reader(data), {}
    for name in names:
        kind = reader.take(1)[0]
        assert kind == types[name.decode()]
        found[name.decode()] = of_type(reader, kind)
    assert reader.at == len(data)
    return [found.get(name) for name in types]


def of_calls(server: IotdbServer, columns: Columns) -> Iterator[Cell]:
    types = {name: KINDS.get(kind.partition("(")[0], INT32) for name, kind in columns}
    for name, request in server.calls:
        if name == "insertRecords":
            records = zip(request[2], request[3], request[4], request[5], strict=True)
            for device, names, data, at in records:
                yield from of_values(number_of(device), at, columns, of_record(data, names, types))
            continue
        fields = [[request[i]] if name == "insertTablet" else request[i] for i in range(2, 8)]
        for device, names, data, times, kinds, rows in zip(*fields, strict=True):
            assert ([n.decode() for n in names], kinds) == (list(types), list(types.values()))
            at = struct.unpack(f">{rows}q", times)
            for time, values in zip(at, of_tablet(data, kinds, rows), strict=True):
                yield from of_values(number_of(device), time, columns, list(values))


def number_of(device: bytes) -> int:
    return int(device.removeprefix(b"root.x.d"))


READS: dict[str, Callable[[Any, Columns], Iterator[Cell]]] = {
    "cassandra": of_batches,
    "cratedb": of_arguments,
    "iotdb": of_calls,
    "lines": of_lines,
    "pgarrays": of_arrays,
    "pgwire": of_inserts,
    "points": of_points,
    "samples": of_series,
}


def cells_in(server: Any, way: str, columns: str) -> list[Cell]:
    return list(READS[way.partition(" ")[0]](server, [column.split(":") for column in columns.split(",")]))


each_way = pytest.mark.parametrize("way", [pytest.param(way, marks=marks_of(way)) for way in WAYS])
MADE = [("walk", 0, 0), ("walk", 0.4, 3), ("random", 0, 3), ("random", 0.4, 0), ("random", 1, 3), ("random", 1, 0)]


@pytest.mark.parametrize(("values", "nulls", "interlaced"), MADE)
@each_way
def test_every_value_arrives_as_it_was_made(run, made, way, values, nulls, interlaced):
    columns = COLUMNS[way.partition(" ")[0]]
    spec = {"columns": columns, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    assert_all_arrive(run, made, way, spec | {"interlace_rows": interlaced})


@pytest.mark.parametrize("precision", ["ms", "us", "ns"])
def test_inserts_have_times_of_each_precision_in_the_tables_of_the_parts(run, made, precision):
    spec = {"columns": COLUMNS["pgwire"], "text": "random", "tables": 7, "rows": 700, "precision": precision}
    assert_all_arrive(run, made, "pgwire", spec | {"partitions": 3}, parted=1)


def assert_all_arrive(run, made, way: str, spec: dict[str, Any], **more: object) -> None:
    with closing(WAYS[way][0]()) as server:
        assert_acked(run(spec_of(way) | spec | more | {"port": server.port}), 700)
    floats = [column.partition(":")[0] for column in spec["columns"].split(",") if column.endswith(":float")]
    found = defaultdict(dict)
    for table, at, name, value in cells_in(server, way, spec["columns"]):
        assert name not in found[table, at]
        found[table, at][name] = float32(value) if name in floats else value
    assert found == wanted_cells(made, way, spec)


def wanted_cells(made, way: str, spec: dict[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    """The values that are not NULL of each row that has some, by its table and time."""
    base = {key: value for key, value in spec_of(way).items() if key != "method"} | spec
    names = [column.partition(":")[0] for column in spec["columns"].split(",")]
    wanted = {}
    for row, whole in zip(made(**base), made(**base | {"null_ratio": 0}), strict=True):
        cells = {name: value for name, value in zip(names, row.values, strict=True) if value is not None}
        if not cells and way.startswith(KEEPS_FIRST):
            cells = {names[0]: whole.values[0]}
        in_us = row.at * {"ms": 1_000_000, "us": 1000, "ns": 1}[spec.get("precision", "ms")] // 1000
        if cells:
            wanted[row.table, in_us if way == "pgwire" else row.at] = cells
    return wanted


@each_way
def test_only_the_columns_of_the_request_are_sent(run, way):
    with closing(WAYS[way][0]()) as server:
        assert_acked(run(spec_of(way) | {"port": server.port, "partial_columns": 1, "partial_from": 1}))
    assert [name for _, _, name, _ in cells_in(server, way, "voltage:int")] == ["voltage"] * 40


LARGE = [
    ("cassandra", 20_000, {"batch_rows": 1}),
    *((f"cratedb {method}", 160_000, more) for method in ("unnest", "bulk") for more in ({}, {"interlace_rows": 1})),
    ("lines http", 400, {"columns": "current:binary(60000)", "text": "random"}),
    ("pgarrays", 400_000, {}),
    *(("points put", 40_000, {}), ("points datapoints", 200_000, {}), ("points gzip", 200_000, {})),
    *((f"samples {method}", 160_000, {}) for method in ("remote-write", "import")),
    *((f"samples {method}", 50_000, {"interlace_rows": 1}) for method in ("remote-write", "import")),
]


@pytest.mark.parametrize(("way", "rows", "more"), [pytest.param(*one, marks=marks_of(one[0])) for one in LARGE])
def test_a_large_request_goes_in_pieces(run, way, rows, more):
    tables = 2 if "interlace_rows" in more else 1
    spec = spec_of(way) | {"rows": rows, "rows_per_request": rows, "tables": tables, **more}
    with closing(WAYS[way][0]()) as server:
        outcome = run(spec | {"port": server.port})
    assert_acked(outcome, rows)
    assert outcome.summary["requests"] == 1
    if isinstance(server, ArraysServer):
        assert server.transactions >= 2
    else:
        assert len(server.batches if isinstance(server, CqlServer) else server.raw) >= 2
    times = defaultdict(list)
    for table, at, name, _ in cells_in(server, way, str(spec["columns"])):
        times[table, name].append(at)
    assert set(times) == {(table, name) for table in range(tables) for name in re.findall(r"(\w+):", spec["columns"])}
    assert all(found == list(range(1500000000000, 1500000000000 + rows // tables)) for found in times.values())
