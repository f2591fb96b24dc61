"""Options → Job."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.taosbenchmark import options
from scale_sweep.taosbenchmark.job import Database, Job, Refusals, SuperTable, TableColumn
from scale_sweep.taosbenchmark.limits import (
    BOUNDS,
    PREFIX_MAX,
    check_table,
    check_vgroups,
    clamp_request,
    plain_name,
    whole,
)
from scale_sweep.taosbenchmark.types import DEMO_COLUMNS, DEMO_TAGS, read_types

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
BESIDE_FILE = frozenset(
    ("file", "config-dir", "host", "port", "user", "password", "output", "answer-yes", "debug", "performance")
)
_NUMBERS = {
    "threads": "threads", "insert-interval": "interval_ms", "time-step": "step", "start-timestamp": "start",
    "interlace-rows": "interlace_rows", "rec-per-req": "rows_per_request", "tables": "tables", "records": "rows_each",
    "binwidth": "width", "disorder-range": "disorder_range_ms", "disorder": "disorder_ratio",
    "prepared_rand": "prepared", "keep-trying": "retries",
}  # fmt: skip
_SAME_NAMES = ("interlace_rows", "step", "disorder_ratio", "disorder_range_ms", "interval_ms", "retries")
_WHERE = {
    "interlace_rows": "interlace-rows", "disorder_range_ms": "disorder-range", "rows_each": "records",
    "partial_columns": "partial-col-num", "columns": "data-type", "tags": "tag-type", "normal": "normal-table",
    "vgroups": "vgroups",
    "prefix": "table-prefix",
}  # fmt: skip

_NAMED = {key: options.name_of(long) for key, long in _WHERE.items()}


def read_flags(values: Mapping[str, str], client: Mapping[str, str], password: str, refusals: Refusals) -> Job:
    """The Job. Mistakes go into `refusals`; if there are any, the Job must not be used."""
    numbers = {key: _number(values, long, key, refusals) for long, key in _NUMBERS.items()}
    interface = values.get("interface", options.default_of("interface"))
    if interface not in METHODS:
        refusals.add(options.name_of("interface"), f"{interface!r} is none of {', '.join(METHODS)}")
    method = METHODS.get(interface, "sql")
    columns, tags, is_demo = _schema(values, numbers["width"], refusals)
    keep_case = "escape-character" in values
    partial = _number(values, "partial-col-num", "columns", refusals) if "partial-col-num" in values else 0
    table = SuperTable(
        name="meters",
        tables=numbers["tables"],
        prefix=_name(values, "table-prefix", PREFIX_MAX, keep_case, refusals),
        normal="normal-table" in values,
        exists="supplement-insert" in values,
        method=method,
        columns=columns,
        tags=() if "normal-table" in values else tags,
        rows_each=numbers["rows_each"],
        rows_per_request=clamp_request(
            numbers["rows_per_request"], numbers["rows_each"], numbers["interlace_rows"],
            method=method, prepared=numbers["prepared"],
        ),
        start_ms=numbers["start"],
        **{name: numbers[name] for name in _SAME_NAMES},
        partial_columns=partial,
        partial_from=0,
        keep_going=False,
        values="walk" if is_demo else "random",
        first=0, makes_tables=False, sample=None, tag_lines=b"", files={},
        text="chinese" if "chinese" in values else "random",
    )  # fmt: skip
    check_table(table, "ms", _NAMED, refusals)
    database = Database(
        name=_name(values, "database", 64, keep_case, refusals),
        written=values.get("database", options.default_of("database")),
        drop="nodrop" not in values and "supplement-insert" not in values,
        create="supplement-insert" not in values,
        precision="ms",
        options=_database_options(values, refusals),
        tables=(table,),
    )
    check_vgroups(database, _NAMED["vgroups"], refusals)
    return Job(
        host=values.get("host") or client.get("host") or "localhost",
        port=port_of(values, client, interface == "rest", refusals),
        user=values.get("user", options.default_of("user")),
        password=password,
        threads=numbers["threads"],
        create_threads=CREATE_THREADS,
        result_file=values.get("output", options.default_of("output")),
        vgroups_auto=interface != "rest" and not {"threads", "host", "vgroups", "supplement-insert"} & set(values),
        ask="answer-yes" not in values and "supplement-insert" not in values and "nodrop" not in values,
        aggregates="aggr-func" in values,
        databases=(database,),
        notes=(*options.notes_of(values), *_notes(values, method)),
    )


def port_of(values: Mapping[str, str], client: Mapping[str, str], rest: bool, refusals: Refusals) -> int:
    """The port: -P, else the client's configuration, else 6030; for REST the adapter's 6041."""
    if "port" in values:
        return _number(values, "port", "port", refusals)
    return REST_PORT if rest else int(client.get("port") or options.default_of("port"))


def _number(values: Mapping[str, str], long: str, key: str, refusals: Refusals) -> int:
    try:
        return whole(values.get(long, options.default_of(long)), key)
    except ValueError as error:
        refusals.add(options.name_of(long), str(error))
        return BOUNDS[key].least or 1


def _name(values: Mapping[str, str], long: str, most: int, keep_case: bool, refusals: Refusals) -> str:
    text = values.get(long, options.default_of(long))
    try:
        return plain_name(text, most, keep_case=keep_case)
    except ValueError as error:
        refusals.add(options.name_of(long), str(error))
        return options.default_of(long)


def _schema(
    values: Mapping[str, str], width: int, refusals: Refusals
) -> tuple[tuple[TableColumn, ...], tuple[TableColumn, ...], bool]:
    """Columns, tags, and whether their names are those of the demo. Any option about columns drops the demo's names."""
    if not {"data-type", "tag-type", "columns", "partial-col-num", "normal-table"} & set(values):
        return DEMO_COLUMNS, DEMO_TAGS, True
    columns: tuple[TableColumn, ...] = DEMO_COLUMNS
    tags: tuple[TableColumn, ...] = DEMO_TAGS
    try:
        columns = read_types(values.get("data-type", options.default_of("data-type")), "c", width, tag=False)
    except ValueError as error:
        refusals.add(options.name_of("data-type"), str(error))
    try:
        tags = read_types(values.get("tag-type", options.default_of("tag-type")), "t", width, tag=True)
    except ValueError as error:
        refusals.add(options.name_of("tag-type"), str(error))
    if values.get("columns", "0") != "0":
        wanted = _number(values, "columns", "columns", refusals)
        columns += tuple(TableColumn(name=f"c{i}", kind="int") for i in range(len(columns), wanted))
    return columns, tags, False


def _database_options(values: Mapping[str, str], refusals: Refusals) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, str(_number(values, name, name, refusals))) for name in ("vgroups", "replica") if name in values
    )


def _notes(values: Mapping[str, str], method: str) -> tuple[str, ...]:
    if "prepared_rand" in values and method != "stmt":
        return (f"{options.name_of('prepared_rand')} has no effect: every row is made fresh",)
    return ()
