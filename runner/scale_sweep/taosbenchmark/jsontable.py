"""One super table of taosBenchmark's insert JSON file → SuperTable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scale_sweep.server.targets.tdengine.dialect import UNITS_PER_MS
from scale_sweep.taosbenchmark.flags import METHODS
from scale_sweep.taosbenchmark.job import SuperTable, TableColumn
from scale_sweep.taosbenchmark.jsonfiles import FromFiles, ReadBytes, read_files
from scale_sweep.taosbenchmark.keys import ObjectReader
from scale_sweep.taosbenchmark.limits import BOUNDS, PREFIX_MAX, check_table, clamp_request, plain_name
from scale_sweep.taosbenchmark.types import kind_of, make_column

WIDTH = 64
START_MS_MAX = 9_000_000_000_000
_ONLY: dict[str, tuple[tuple[Any, ...], str]] = {
    "childtable_sample_file": (("",), "all tables have the rows of sample_file"),
    "tcp_transfer": (("no",), "the load generator has no OpenTSDB socket"),
    "non_stop_mode": (("no",), "a load has an end; use scale sweep with a duration"),
    "start_fillback_time": (("", "auto"), "there is no filling back"),
    "angle_step": ((1,), "the load generator's values have no angle"),
    "trying_interval": ((0,), "the load generator waits 10 ms longer before each further try"),
    "disorder_fill_interval": ((0,), "there is no filling afterwards"),
    "update_ratio": ((0,), "the load generator writes no row twice"),
    "update_fill_interval": ((0,), "the load generator writes no row twice"),
    "delete_ratio": ((0,), "the load generator deletes nothing"),
    "generate_row_rule": ((0,), "there is one rule"),
    "binary_prefix": (("",), "the load generator's texts have no prefix"),
    "nchar_prefix": (("",), "the load generator's texts have no prefix"),
    "random_write_future": (("no",), "rows have the times that start and step give"),
    "check_correct_interval": ((0,), "scale load does not read rows back"),
    "delay": ((0,), "belongs to rollup"),
    "file_factor": ((0,), "belongs to rollup"),
    "rollup": (("",), "scale load makes no rollup"),
    "ttl": ((0,), "tables live for ever"),
    "max_delay": (("",), "belongs to rollup"),
    "watermark": (("",), "belongs to rollup"),
    "primary_key": ((0,), "the timestamp is the only key"),
    "repeat_ts_min": ((0,), "every row has a time of its own"),
    "repeat_ts_max": ((0,), "every row has a time of its own"),
    "sqls": (([],), "statements after the load are yours to run"),
    "tsmas": (([],), "scale load makes no TSMA"),
}
_IDLE = {
    "batch_create_tbl_num": "the load generator chooses its own",
    "batch_create_tbl_numbers": "the load generator chooses its own",
    "batch_create_tbl_intervals": "the load generator does not pause",
    "max_sql_len": "num_of_records_per_req alone says how long a request is",
    "sample_format": "a file of rows is CSV",
    "escape_character": "taosBenchmark 3.3 reads it outside the super tables",
    "insert_threads": "taosBenchmark 3.3 does not read it",
    "connection_pool_size": "taosBenchmark 3.3 does not read it",
}
_OF_VALUES = ("min", "max", "values", "gen", "fun", "scalingFactor")
_LINES = {"line": "sml-line", "telnet": "sml-telnet", "json": "sml-json", "taosjson": "sml-json"}


@dataclass(frozen=True, kw_only=True)
class Common:
    """The settings of a file for all super tables."""

    keep_case: bool
    rows_per_request: int
    prepared: int
    interval_ms: int
    retries: int
    own_values: bool
    text: str
    read: ReadBytes  # the content of a file, or UsageError
    now_ms: int
    idle: list[tuple[str, str]]  # collects keys without effect
    notes: list[str]  # sentences for people


def read_table(keys: ObjectReader, precision: str, common: Common) -> SuperTable:
    """The super table; mistakes go into keys.refusals."""
    for key, (neutral, why) in _ONLY.items():
        keys.only(key, neutral, why)
    for key, why in _IDLE.items():
        keys.unused(key, why)
    exists = keys.is_yes("child_table_exists", "no")
    first, count = _range(keys, _needed(keys, "childtable_count", "tables"), exists=exists)
    method = _method(keys)
    interlace = keys.number("interlace_rows", 0, "interlace_rows")
    columns = _columns(keys, "columns", "c", common, tag=False)
    tags = _columns(keys, "tags", "t", common, tag=True)
    has_tags = bool(tags) and not exists and method not in _LINES.values()
    files = read_files(keys, columns, tags if has_tags else (), precision, common.prepared, common.read)
    rows_each = _rows_each(keys, files)
    common.notes.extend(files.notes)
    table = SuperTable(
        name=_name(keys, "name", 192, common),
        tables=count,
        first=first,
        prefix=_name(keys, "childtable_prefix", PREFIX_MAX, common),
        normal=not tags and method not in _LINES.values(),
        exists=exists,
        makes_tables=_makes_tables(keys, method, has_tags=has_tags, interlace=interlace),
        method=method,
        text=common.text,
        sample=files.sample,
        tag_lines=files.tag_lines,
        files={},
        columns=columns,
        tags=tags,
        rows_each=rows_each,
        rows_per_request=clamp_request(
            common.rows_per_request, rows_each, interlace, method=method, prepared=common.prepared
        ),
        interlace_rows=interlace,
        start_ms=_start_ms(keys, precision, common.now_ms),
        step=keys.number("timestamp_step", 1, "step"),
        disorder_ratio=keys.number("disorder_ratio", 0, "disorder_ratio"),
        disorder_range_ms=_disorder_range_ms(keys, precision),
        interval_ms=keys.number("insert_interval", common.interval_ms, "interval_ms"),
        partial_columns=keys.number("partial_col_num", 0, "columns"),
        partial_from=keys.number("partial_col_from", 0, "interval_ms"),
        retries=keys.number("keep_trying", common.retries, "retries"),
        keep_going=keys.choice("continue_if_fail", "no", ("no", "yes")) == "yes",
        values="random",
    )
    where = {"normal": "tags", "partial_columns": "partial_col_num", "rows_each": "insert_rows"}
    where["prefix"] = "childtable_prefix"
    names = ("interlace_rows", "rows_each", "partial_columns", "columns", "tags", "normal", "prefix")
    check_table(
        table,
        precision,
        {n: keys.name(where.get(n, n)) for n in names} | {"disorder_range_ms": keys.name("disorder_range")},
        keys.refusals,
    )
    keys.finish()
    common.idle.extend(keys.idle)
    return table


def _range(keys: ObjectReader, count: int, *, exists: bool) -> tuple[int, int]:
    """The first of the tables that are loaded, and their number. Several processes share the tables in this way.

    By childtable_from and _to, or by childtable_limit and _offset, which taosBenchmark reads if the tables exist.
    """
    first, end = keys.number("childtable_from", 0, "table_number"), keys.number("childtable_to", 0, "table_number")
    limit, offset = keys.value("childtable_limit", -1), keys.number("childtable_offset", 0, "table_number")
    if not isinstance(limit, int) or isinstance(limit, bool) or not -1 <= limit <= BOUNDS["tables"].most:
        keys.refuse("childtable_limit", f"should be -1, for all, or a number of tables up to {BOUNDS['tables'].most}")
        limit = -1
    if end or first:
        if not first < end <= count:
            keys.refuse("childtable_to", f"{end}: more than childtable_from and at most childtable_count are taken")
            return 0, count
        _unused_range(keys, "childtable_from and childtable_to say which tables")
        return first, end - first
    if not exists:
        _unused_range(keys, "child_table_exists is no")
    elif limit <= 0:
        _unused_range(keys, "childtable_limit leaves all tables")
    elif offset >= count:
        keys.refuse("childtable_offset", f"{offset}: there are {count} tables by childtable_count")
    else:
        return offset, min(limit, count - offset)
    return 0, count


def _unused_range(keys: ObjectReader, why: str) -> None:
    for key in ("childtable_limit", "childtable_offset"):
        keys.unused(key, why)


def _makes_tables(keys: ObjectReader, method: str, *, has_tags: bool, interlace: int) -> bool:
    """Whether each insertion names the supertable and the tags, so that it makes its table."""
    if not keys.is_yes("auto_create_table", "no"):
        return False
    if not has_tags:
        keys.unused("auto_create_table", "the tables exist, have no tags, or are made by schemaless rows")
        return False
    if method == "stmt" and interlace:
        keys.refuse("auto_create_table", "with insert_mode stmt, a statement has one table; leave out interlace_rows")
    return True


def _rows_each(keys: ObjectReader, files: FromFiles) -> int:
    if files.sample is None or not files.sample.has_times:
        return _needed(keys, "insert_rows", "rows_each")
    keys.unused("insert_rows", "use_sample_ts is yes: a table has as many rows as sample_file")
    return files.sample.lines


def _method(keys: ObjectReader) -> str:
    mode = keys.choice("insert_mode", "taosc", ("taosc", "stmt", "rest", "sml"))
    line = keys.choice("line_protocol", "line", tuple(_LINES))
    return _LINES[line] if mode == "sml" else METHODS[mode]


def _needed(keys: ObjectReader, key: str, bounds_name: str) -> int:
    if not keys.has(key):
        keys.refuse(key, "is needed")
        return BOUNDS[bounds_name].least
    return keys.number(key, BOUNDS[bounds_name].least, bounds_name)


def _name(keys: ObjectReader, key: str, most: int, common: Common) -> str:
    try:
        return plain_name(keys.text(key, ""), most, keep_case=common.keep_case)
    except ValueError as error:
        keys.refuse(key, str(error))
        return "d"


def _start_ms(keys: ObjectReader, precision: str, now_ms: int) -> int:
    """The first time, from "now", a date in local time, or a number in units of the precision."""
    value = keys.value("start_timestamp", "now")
    if isinstance(value, str):
        try:
            ms = now_ms if value == "now" else round(datetime.fromisoformat(value).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            ms = -1
    elif isinstance(value, int) and not isinstance(value, bool) and value % UNITS_PER_MS[precision] == 0:
        ms = value // UNITS_PER_MS[precision]
    else:
        ms = -1
    if not 0 <= ms <= START_MS_MAX:
        keys.refuse("start_timestamp", '"now", "2020-10-01 00:00:00.000" or whole milliseconds since 1970 are taken')
        return 0
    return ms


def _disorder_range_ms(keys: ObjectReader, precision: str) -> int:
    """The range in milliseconds; the file counts units of the precision, as for the step."""
    units = keys.number("disorder_range", 1000, "disorder_range_ms")
    return max(1, units // UNITS_PER_MS[precision])


def _columns(keys: ObjectReader, key: str, letter: str, common: Common, *, tag: bool) -> tuple[TableColumn, ...]:
    columns: list[TableColumn] = []
    for entry in keys.objects(key):
        columns.extend(_column(entry, letter, len(columns), common, tag=tag))
        entry.finish()
    if not columns and not tag:
        keys.refuse(key, "at least one is needed")
    names = [c.name.lower() for c in columns]
    for name in sorted({n for n in names if names.count(n) > 1}):
        keys.refusals.add(keys.name(key), f"{name!r} is named twice")
    return tuple(columns)


def _column(entry: ObjectReader, letter: str, first: int, common: Common, *, tag: bool) -> list[TableColumn]:
    _values(entry, common)
    for key, neutral in {"encode": "", "compress": "", "level": "", "sma": "no", "fillNull": "true"}.items():
        entry.only(key, (neutral,), "the load generator has no such column")
    count = entry.number("count", 1, "columns")
    length = entry.number("len", WIDTH, "width")
    name = entry.text("name", "")
    try:
        kind = kind_of(entry.text("type", ""))
        named = [name if i == 0 else f"{name}_{i}" for i in range(count)]
        plain = [f"{letter}{first + i}" for i in range(count)]
        return [make_column(n, kind, length, tag=tag) for n in (named if name else plain)]
    except ValueError as error:
        entry.refusals.add(entry.path, str(error))
        return []


def _values(entry: ObjectReader, common: Common) -> None:
    for key in _OF_VALUES:
        if entry.has(key) and common.own_values:
            entry.unused(key, "the load generator has its own values (--own-values)")
        elif entry.has(key):
            entry.refuse(key, "the load generator has its own values; --own-values accepts that")
    common.idle.extend(entry.idle)
