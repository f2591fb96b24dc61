"""One super table of an insert file of taosBenchmark → SuperTable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from scale_sweep.base.errors import UsageError
from scale_sweep.server.targets.tdengine.dialect import UNITS_PER_MS
from scale_sweep.taosbenchmark.flags import METHODS
from scale_sweep.taosbenchmark.job import SampleRows, SuperTable, TableColumn
from scale_sweep.taosbenchmark.limits import BOUNDS, PREFIX_MAX, check_table, clamp_request, kind_of, make_column
from scale_sweep.taosbenchmark.objects import Invocation, ObjectReader
from scale_sweep.taosbenchmark.samples import read_rows_file, read_sample, read_tags

START_MS_MAX = 9_000_000_000_000
_OF_VALUES = ("min", "max", "values", "gen", "fun", "scalingFactor")
_LINES = {"line": "sml-line", "telnet": "sml-telnet", "json": "sml-json", "taosjson": "sml-json"}
_WHERE = {"normal": "tags", "partial_columns": "partial_col_num", "rows_each": "insert_rows"}
_WHERE |= {"prefix": "childtable_prefix", "disorder_range_ms": "disorder_range"}
_WHERE |= {name: name for name in ("interlace_rows", "columns", "tags")}
T = TypeVar("T")


def read_table(keys: ObjectReader, precision: str, common: dict[str, Any], around: Invocation) -> SuperTable:
    """common: the values of the file for all super tables."""
    values = keys.read("super_table")
    exists, interlace = values["child_table_exists"], values["interlace_rows"]
    first, count = _range(keys, values, _needed(keys, "childtable_count", "tables"))
    method = _LINES[values["line_protocol"]] if values["insert_mode"] == "sml" else METHODS[values["insert_mode"]]
    columns = _columns(keys, "columns", "c", around, tag=False)
    tags = _columns(keys, "tags", "t", around, tag=True)
    has_tags = bool(tags) and not exists and method not in _LINES.values()
    sample = _sample(keys, values, columns, precision, common["prepared_rand"])
    tags_file = values["tags_file"]
    if tags_file and not has_tags:
        keys.unused("tags_file", "no table with tags is made")
    tag_lines = (
        _from_file(keys, "tags_file", tags_file, lambda raw: read_tags(raw, tags, precision))
        if tags_file and has_tags
        else b""
    )
    if sample and sample.has_times:
        keys.unused("insert_rows", "use_sample_ts is yes: a table has as many rows as sample_file")
        rows_each = sample.lines
    else:
        rows_each = _needed(keys, "insert_rows", "rows_each")
    keep_case = common["escape_character"]
    table = SuperTable(
        name=keys.plain_name("name", 192, "d", keep_case=keep_case),
        tables=count,
        first=first,
        prefix=keys.plain_name("childtable_prefix", PREFIX_MAX, "d", keep_case=keep_case),
        normal=not tags and method not in _LINES.values(),
        exists=exists,
        makes_tables=values["auto_create_table"] and _may_make_tables(keys, method, interlace, has_tags=has_tags),
        method=method,
        text="chinese" if common["chinese"] else "random",
        sample=sample,
        tag_lines=tag_lines or b"",
        columns=columns,
        tags=tags,
        rows_each=rows_each,
        rows_per_request=clamp_request(
            common["num_of_records_per_req"], rows_each, interlace, method=method, prepared=common["prepared_rand"]
        ),
        interlace_rows=interlace,
        start_ms=_start_ms(keys, precision, around.now),
        step=values["timestamp_step"],
        disorder_ratio=values["disorder_ratio"],
        disorder_range_ms=max(1, values["disorder_range"] // UNITS_PER_MS[precision]),
        interval_ms=keys.number("insert_interval", common["insert_interval"], "interval_ms"),
        partial_columns=values["partial_col_num"],
        partial_from=values["partial_col_from"],
        retries=keys.number("keep_trying", common["keep_trying"], "retries"),
        keep_going=values["continue_if_fail"] == "yes",
    )
    check_table(table, precision, {name: keys.name(key) for name, key in _WHERE.items()}, keys.remarks)
    keys.finish()
    return table


def _needed(keys: ObjectReader, key: str, bounds: str) -> int:
    if not keys.has(key):
        keys.refuse(key, "is needed")
    return keys.number(key, BOUNDS[bounds][0], bounds)


def _range(keys: ObjectReader, values: dict[str, Any], count: int) -> tuple[int, int]:
    """The first of the tables, and their number: by childtable_from and _to, or, if the tables exist, by _limit and
    _offset."""
    first, end, offset = (values[f"childtable_{name}"] for name in ("from", "to", "offset"))
    limit, most = keys.value("childtable_limit", -1), BOUNDS["tables"][1]
    if not isinstance(limit, int) or isinstance(limit, bool) or not -1 <= limit <= most:
        keys.refuse("childtable_limit", f"should be -1, for all, or a number of tables up to {most}")
        limit = -1
    why_unused = ""
    if (end or first) and not first < end <= count:
        keys.refuse("childtable_to", f"{end}: more than childtable_from and at most childtable_count are taken")
        return 0, count
    if end:
        why_unused = "childtable_from and childtable_to say which tables"
    elif not values["child_table_exists"]:
        why_unused = "child_table_exists is no"
    elif limit <= 0:
        why_unused = "childtable_limit leaves all tables"
    elif offset >= count:
        keys.refuse("childtable_offset", f"{offset}: there are {count} tables by childtable_count")
    else:
        return offset, min(limit, count - offset)
    if why_unused:
        for key in ("childtable_limit", "childtable_offset"):
            keys.unused(key, why_unused)
    return (first, end - first) if end else (0, count)


def _may_make_tables(keys: ObjectReader, method: str, interlace: int, *, has_tags: bool) -> bool:
    if not has_tags:
        keys.unused("auto_create_table", "the tables exist, have no tags, or are made by schemaless rows")
    elif method == "stmt" and interlace:
        keys.refuse("auto_create_table", "with insert_mode stmt, a statement has one table; leave out interlace_rows")
    return has_tags


def _sample(
    keys: ObjectReader, values: dict[str, Any], columns: Sequence[TableColumn], precision: str, prepared: int
) -> SampleRows | None:
    path, has_times = values["sample_file"], values["use_sample_ts"]
    if values["data_source"] == "rand":
        keys.unused("sample_file", "data_source is rand")
        if has_times:
            keys.unused("use_sample_ts", "data_source is rand")
        return None
    if not path:
        keys.refuse("sample_file", "is needed: data_source is sample")
        return None
    sample = _from_file(
        keys,
        "sample_file",
        path,
        lambda raw: read_sample(raw, columns, precision, prepared, has_times=has_times) if columns else None,
    )
    if sample is not None and sample.lines > sample.rows:
        name = keys.name("sample_file")
        keys.remarks.notes.append(f"{name}: the first {sample.rows:,} of {sample.lines:,} rows repeat (prepared_rand)")
    return sample


def _from_file(keys: ObjectReader, key: str, path: str, read: Callable[[bytes], T]) -> T | None:
    try:
        return read(read_rows_file(path))
    except UsageError as error:
        keys.refuse(key, error.message)
    except ValueError as error:
        keys.refuse(key, f"{path}: {error}")
    return None


def _start_ms(keys: ObjectReader, precision: str, now: datetime) -> int:
    """From "now", a date in local time, or a number in units of the precision."""
    value, ms = keys.value("start_timestamp", "now"), -1
    if isinstance(value, str):
        try:
            ms = round((now if value == "now" else datetime.fromisoformat(value)).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            ms = -1
    elif isinstance(value, int) and not isinstance(value, bool) and value % UNITS_PER_MS[precision] == 0:
        ms = value // UNITS_PER_MS[precision]
    if not 0 <= ms <= START_MS_MAX:
        keys.refuse("start_timestamp", '"now", "2020-10-01 00:00:00.000" or whole milliseconds since 1970 are taken')
        return 0
    return ms


def _columns(keys: ObjectReader, key: str, letter: str, around: Invocation, *, tag: bool) -> tuple[TableColumn, ...]:
    columns: list[TableColumn] = []
    for entry in keys.objects(key):
        columns.extend(_column(entry, letter, len(columns), around, tag=tag))
        entry.finish()
    if not columns and not tag:
        keys.refuse(key, "at least one is needed")
    names = [c.name.lower() for c in columns]
    for name in sorted({n for n in names if names.count(n) > 1}):
        keys.refuse(key, f"{name!r} is named twice")
    return tuple(columns)


def _column(entry: ObjectReader, letter: str, first: int, around: Invocation, *, tag: bool) -> list[TableColumn]:
    for key in _OF_VALUES:
        if entry.has(key) and around.own.own_values:
            entry.unused(key, "the load generator has its own values (--own-values)")
        elif entry.has(key):
            entry.refuse(key, "the load generator has its own values; --own-values accepts that")
    values = entry.read("column")
    name, count = values["name"], range(values["count"])
    named = [f"{name}_{i}" if i else name for i in count] if name else [f"{letter}{first + i}" for i in count]
    try:
        kind = kind_of(values["type"])
        return [make_column(n, kind, values["len"], tag=tag) for n in named]
    except ValueError as error:
        entry.remarks.refuse(entry.path, str(error))
        return []
