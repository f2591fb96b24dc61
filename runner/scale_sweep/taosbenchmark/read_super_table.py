"""One super table of an insert file of taosBenchmark → SuperTable."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from scale_sweep.base.errors import UsageError
from scale_sweep.server.targets.tdengine.dialect import UNITS_PER_MS
from scale_sweep.taosbenchmark.flags import METHODS
from scale_sweep.taosbenchmark.job import SampleRows, SuperTable, TableColumn
from scale_sweep.taosbenchmark.keys import FILL_BACK, RETRIES, RULE, SAMPLE
from scale_sweep.taosbenchmark.limits import (
    PACE,
    PARTIAL,
    PREFIX_MAX,
    check_table,
    kind_of,
    make_column,
    pace,
    written_columns,
)
from scale_sweep.taosbenchmark.objects import Invocation, ObjectReader
from scale_sweep.taosbenchmark.samples import read_rows_file, read_sample, read_tags

START_MS_MAX = 9_000_000_000_000
_OF_VALUES = ("min", "max", "values", "gen", "fun", "scalingFactor")
_LINES = {"line": "sml-line", "telnet": "sml-telnet", "json": "sml-json", "taosjson": "sml-json"}
_WHERE = {"normal": "tags", "rows_each": "insert_rows"}
_WHERE |= {"prefix": "childtable_prefix", "disorder_range_ms": "disorder_range"}
_WHERE |= {name: name for name in ("interlace_rows", "columns", "tags")}
_UNIT_MS = {"a": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_TERM = re.compile(r"([+-])\s*([0-9]{1,9})([asmhdw])\b", re.IGNORECASE)
_NOW = re.compile(rf"now(\(\))?(\s*{_TERM.pattern})*\s*", re.IGNORECASE)
T = TypeVar("T")


def read_table(
    keys: ObjectReader, precision: str, common: dict[str, Any], around: Invocation, *, dropped: bool
) -> SuperTable:
    """common: the values of the file for all super tables, which this one may change. dropped: the database is."""
    values = keys.read("super_table")
    exists = values["child_table_exists"] and not dropped
    if values["child_table_exists"] and dropped:
        keys.unused("child_table_exists", "the database is dropped (drop), as in taosBenchmark")
    first, count = _range(keys, values, exists=exists)
    method = _LINES[values["line_protocol"]] if values["insert_mode"] == "sml" else METHODS[values["insert_mode"]]
    columns = _columns(keys, "columns", "c", around, tag=False)
    tags = _columns(keys, "tags", "t", around, tag=True)
    has_tags = bool(tags) and not exists and method not in _LINES.values()
    sample = _sample(keys, values, columns, precision, common["prepared_rand"])
    if sample and sample.has_times:
        keys.unused("insert_rows", "use_sample_ts is yes: a table has as many rows as sample_file")
    rows_each = sample.lines if sample and sample.has_times else values["insert_rows"]
    if not (rows_each and count):
        keys.remarks.notes.append(f"{keys.path} gets no rows: {'insert_rows' if count else 'childtable_count'} is 0")
    makes_tables = values["auto_create_table"] and _may_make_tables(keys, has_tags=has_tags)
    one_table = makes_tables and method == "stmt"
    request, interlace = _pace(keys, common, rows_each, values, one_table=one_table)
    retries = keys.number("keep_trying", 0, "retries") or common["keep_trying"]
    keys.read("super_table_if", without=_lacks(keys, values, method, interlace, retries, exists=exists))
    partial_columns, partial_from = _written(keys, values, len(columns), method)
    keep_case = common["escape_character"]
    table = SuperTable(
        name=keys.plain_name("name", 192, "d", keep_case=keep_case),
        tables=count,
        first=first,
        prefix=keys.plain_name("childtable_prefix", PREFIX_MAX, "d", keep_case=keep_case),
        normal=not tags and method not in _LINES.values(),
        exists=exists,
        makes_tables=makes_tables,
        method=method,
        text="chinese" if common["chinese"] else "random",
        sample=sample,
        tag_lines=_tag_lines(keys, values["tags_file"], tags, precision, has_tags=has_tags),
        columns=columns,
        tags=tags,
        rows_each=rows_each,
        rows_per_request=request,
        interlace_rows=interlace,
        start_ms=_start_ms(keys, precision, around.now),
        step=values["timestamp_step"],
        disorder_ratio=values["disorder_ratio"],
        disorder_range_ms=max(1, values["disorder_range"] // UNITS_PER_MS[precision]),
        interval_ms=keys.number("insert_interval", common["insert_interval"], "interval_ms"),
        partial_columns=partial_columns,
        partial_from=partial_from,
        retries=retries,
        keep_going=values["continue_if_fail"] == "yes",
    )
    _note_others(keys, table)
    check_table(table, precision, {name: keys.name(key) for name, key in _WHERE.items()}, keys.remarks)
    keys.finish()
    return table


def _pace(
    keys: ObjectReader, common: dict[str, Any], rows_each: int, values: dict[str, Any], *, one_table: bool
) -> tuple[int, int]:
    """The rows in a request and the interlaced rows. Lowers the former in `common`, for the super tables after this
    one, as taosBenchmark does. one_table: a request has one table."""
    most, by = common["num_of_records_per_req"], common.get("lowered_by")
    request, interlace = pace(most, rows_each, values["interlace_rows"])
    if by and request == most != rows_each and rows_each:
        why = f"as the rows of a table of {by}: taosBenchmark lowers it for all that follow"
        keys.remarks.notes.append(f"{keys.path}: num_of_records_per_req is taken as {most}, {why}")
    if 0 < request < most:
        common |= {"num_of_records_per_req": request, "lowered_by": keys.path}
    if one_table and interlace:
        keys.unused("interlace_rows", "with stmt and auto_create_table a request has one table, as in taosBenchmark")
        return min(request, rows_each), 0
    keys.remarks.taken(keys.name("interlace_rows"), values["interlace_rows"], interlace, PACE)
    return request, interlace


def _written(keys: ObjectReader, values: dict[str, Any], columns: int, method: str) -> tuple[int, int]:
    names = ("partial_col_num", "partial_col_from")
    number, first = (values[name] for name in names)
    taken = written_columns(number, first, columns, method)
    for name, value in zip(names, taken, strict=True):
        keys.remarks.taken(keys.name(name), values[name], value, PARTIAL)
    return taken


def _lacks(
    keys: ObjectReader, values: dict[str, Any], method: str, interlace: int, retries: int, *, exists: bool
) -> set[str]:
    """Those of NEEDS that this super table does not have."""
    fills_back = interlace and _is_now(keys) and (exists or keys.value("start_fillback_time") != "auto")
    has = {RULE: method == "sql" and not interlace, RETRIES: retries, FILL_BACK: fills_back}
    has[SAMPLE] = values["data_source"] == "sample"
    return {need for need, is_there in has.items() if not is_there}


def _note_others(keys: ObjectReader, table: SuperTable) -> None:
    """Notes names and times that are others than taosBenchmark's."""
    if _is_now(keys) and table.interlace_rows == 1 and table.method in ("sql", "rest"):
        why = "timestamp_step apart; taosBenchmark leaves them to the server if interlace_rows is 1"
        keys.remarks.notes.append(f"{keys.name('start_timestamp')}: the times of rows are {why}")
    if table.normal and table.tables == 1:
        why = f"is named {table.prefix}{table.first}; taosBenchmark names it {table.name}"
        keys.remarks.notes.append(f"{keys.path}: the only table without tags {why}")


def _tag_lines(
    keys: ObjectReader, path: str, tags: tuple[TableColumn, ...], precision: str, *, has_tags: bool
) -> bytes:
    if path and not has_tags:
        keys.unused("tags_file", "no table with tags is made")
    if not path or not has_tags:
        return b""
    return _from_file(keys, "tags_file", path, lambda raw: read_tags(raw, tags, precision)) or b""


def _range(keys: ObjectReader, values: dict[str, Any], *, exists: bool) -> tuple[int, int]:
    """The first of the tables, and their number: by childtable_from and _to, or, if the tables exist, by _limit and
    _offset."""
    first, end, offset = (values[f"childtable_{name}"] for name in ("from", "to", "offset"))
    count, limit = values["childtable_count"], keys.value("childtable_limit", -1)
    if not isinstance(limit, int) or isinstance(limit, bool):
        keys.refuse("childtable_limit", "should be a number of tables, or 0 or -1 for all")
        limit = -1
    why_unused = ""
    if (end or first) and not first < end <= count:
        keys.refuse("childtable_to", f"{end}: more than childtable_from and at most childtable_count are taken")
        return 0, count
    if end:
        why_unused = "childtable_from and childtable_to say which tables"
    elif not exists:
        why_unused = "the tables are made"
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


def _may_make_tables(keys: ObjectReader, *, has_tags: bool) -> bool:
    if not has_tags:
        keys.unused("auto_create_table", "the tables exist, have no tags, or are made by schemaless rows")
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


def _is_now(keys: ObjectReader) -> bool:
    return str(keys.value("start_timestamp", "now")).lower() == "now"


def _start_ms(keys: ObjectReader, precision: str, now: datetime) -> int:
    """From "now", "now-7d", a date in local time, or a number in units of the precision."""
    value, ms = keys.value("start_timestamp", "now"), -1
    if isinstance(value, str):
        try:
            moment = now if _NOW.fullmatch(value) else datetime.fromisoformat(value)
            ms = round(moment.timestamp() * 1000) + sum(
                int(sign + digits) * _UNIT_MS[unit.lower()] for sign, digits, unit in _TERM.findall(value)
            )
        except (ValueError, OverflowError, OSError):
            ms = -1
    elif isinstance(value, int) and not isinstance(value, bool) and value % UNITS_PER_MS[precision] == 0:
        ms = value // UNITS_PER_MS[precision]
    if not 0 <= ms <= START_MS_MAX:
        keys.refuse(
            "start_timestamp", '"now", "now-7d", "2020-10-01 00:00:00.000" or whole milliseconds since 1970 are taken'
        )
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
