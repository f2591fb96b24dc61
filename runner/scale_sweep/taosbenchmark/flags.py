"""Options of taosBenchmark → Job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from scale_sweep.taosbenchmark.job import Database, Job, Remarks, SuperTable, TableColumn
from scale_sweep.taosbenchmark.limits import (
    BOUNDS,
    PACE,
    PARTIAL,
    PREFIX_MAX,
    check_table,
    check_vgroups,
    pace,
    plain_name,
    read_types,
    whole,
    written_columns,
)
from scale_sweep.taosbenchmark.options import OPTIONS, default_of, name_of

METHODS: Mapping[str, str] = {
    "taosc": "sql",
    "stmt": "stmt",
    "rest": "rest",
    "sml": "sml-line",
    "sml-line": "sml-line",
    "sml-telnet": "sml-telnet",
    "sml-json": "sml-json",
    "sml-taosjson": "sml-json",
}
REST_PORT = 6041
CREATE_THREADS = 8
T = TypeVar("T")
_DEMO_COLUMNS: tuple[TableColumn, ...] = (
    TableColumn(name="current", kind="float"),
    TableColumn(name="voltage", kind="int"),
    TableColumn(name="phase", kind="float"),
)
_DEMO_TAGS: tuple[TableColumn, ...] = (
    TableColumn(name="groupid", kind="int"),
    TableColumn(name="location", kind="binary", length=24),
)
_NUMBERS = {
    "threads": "threads", "insert-interval": "interval_ms", "time-step": "step", "start-timestamp": "start",
    "interlace-rows": "interlace_rows", "rec-per-req": "rows_per_request", "tables": "tables", "records": "rows_each",
    "binwidth": "width", "disorder-range": "disorder_range_ms", "disorder": "disorder_ratio",
    "prepared_rand": "prepared", "keep-trying": "retries",
}  # fmt: skip
_SAME_NAMES = ("tables", "rows_each", "step", "disorder_ratio", "disorder_range_ms", "interval_ms")
_WHERE = {
    "interlace_rows": "interlace-rows", "disorder_range_ms": "disorder-range", "rows_each": "records",
    "columns": "data-type", "tags": "tag-type", "normal": "normal-table",
    "vgroups": "vgroups", "prefix": "table-prefix",
}  # fmt: skip
_NAMED = {key: name_of(long) for key, long in _WHERE.items()}


def read_flags(values: Mapping[str, str], client: Mapping[str, str], password: str, remarks: Remarks) -> Job:
    """The Job, which must not be used if there are mistakes."""
    options = _Values(values, remarks)
    numbers: dict[str, Any] = {key: options.number(long, key) for long, key in _NUMBERS.items()}
    interface = options.text("interface")
    if interface not in METHODS:
        remarks.refuse(name_of("interface"), f"{interface!r} is none of {', '.join(METHODS)}")
    method = METHODS.get(interface, "sql")
    columns, tags, is_demo = _schema(options, numbers["width"])
    normal, exists = "normal-table" in values, "supplement-insert" in values
    rows_per_request, interlace = pace(numbers["rows_per_request"], numbers["rows_each"], numbers["interlace_rows"])
    first_columns = options.number("partial-col-num", "partial")
    partial, _ = written_columns(first_columns, 0, len(columns), method)
    remarks.taken(name_of("interlace-rows"), numbers["interlace_rows"], interlace, PACE)
    remarks.taken(name_of("partial-col-num"), first_columns, partial, PARTIAL)
    table = SuperTable(
        name="meters",
        prefix=options.plain_name("table-prefix", PREFIX_MAX),
        normal=normal,
        exists=exists,
        method=method,
        columns=columns,
        tags=() if normal else tags,
        rows_per_request=min(rows_per_request, numbers["prepared"]) if method == "stmt" else rows_per_request,
        interlace_rows=interlace,
        start_ms=numbers["start"],
        **{name: numbers[name] for name in (*_SAME_NAMES, "retries")},
        partial_columns=partial,
        values="walk" if is_demo else "random",
        text="chinese" if "chinese" in values else "random",
    )
    check_table(table, "ms", _NAMED, remarks)
    database = Database(
        name=options.plain_name("database", 64),
        written=options.text("database"),
        drop="nodrop" not in values and not exists,
        create=not exists,
        precision="ms",
        options=tuple((name, str(options.number(name, name))) for name in ("vgroups", "replica") if name in values),
        tables=(table,),
    )
    check_vgroups(database, _NAMED["vgroups"], remarks)
    usual_port = REST_PORT if interface == "rest" else int(client.get("port") or default_of("port"))
    remarks.notes += [f"{name_of(o.long)} has no effect: {o.note}" for o in OPTIONS if o.note and o.long in values]
    if "prepared_rand" in values and method != "stmt":
        remarks.notes.append(f"{name_of('prepared_rand')} has no effect: every row is made fresh")
    return Job(
        host=values.get("host") or client.get("host") or "localhost",
        port=options.number("port", "port") if "port" in values else usual_port,
        user=options.text("user"),
        password=password,
        threads=numbers["threads"],
        create_threads=CREATE_THREADS,
        result_file=options.text("output"),
        vgroups_auto=interface != "rest" and not {"threads", "host", "vgroups", "supplement-insert"} & set(values),
        ask="answer-yes" not in values and database.drop,
        aggregates="aggr-func" in values,
        databases=(database,),
        notes=remarks.all_notes(),
    )


class _Values:
    """By their long names, each with its default."""

    def __init__(self, values: Mapping[str, str], remarks: Remarks) -> None:
        self.values, self._remarks = values, remarks

    def text(self, long: str) -> str:
        return self.values.get(long, default_of(long))

    def read(self, long: str, read: Callable[[str], T], otherwise: T) -> T:
        try:
            return read(self.text(long))
        except ValueError as error:
            self._remarks.refuse(name_of(long), str(error))
            return otherwise

    def number(self, long: str, bounds: str) -> int:
        return self.read(long, lambda text: whole(text, bounds), BOUNDS[bounds][0] or 1)

    def plain_name(self, long: str, most: int) -> str:
        keep_case = "escape-character" in self.values
        return self.read(long, lambda text: plain_name(text, most, keep_case=keep_case), default_of(long))


def _schema(options: _Values, width: int) -> tuple[tuple[TableColumn, ...], tuple[TableColumn, ...], bool]:
    """And whether their names are those of the demo, which any option about columns drops."""
    if not {"data-type", "tag-type", "columns", "partial-col-num", "normal-table"} & set(options.values):
        return _DEMO_COLUMNS, _DEMO_TAGS, True
    columns = options.read("data-type", lambda text: read_types(text, "c", width, tag=False), _DEMO_COLUMNS)
    tags = options.read("tag-type", lambda text: read_types(text, "t", width, tag=True), _DEMO_TAGS)
    if options.values.get("columns", "0") != "0":
        wanted = options.number("columns", "columns")
        columns += tuple(TableColumn(name=f"c{i}", kind="int") for i in range(len(columns), wanted))
    return columns, tags, False
