"""taosBenchmark's insert JSON file → Job: everything outside the super tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scale_sweep.taosbenchmark.connecting import notes_of_idle, read_connection
from scale_sweep.taosbenchmark.flags import CREATE_THREADS, REST_PORT
from scale_sweep.taosbenchmark.job import Database, Job, Refusals, ScaleOptions
from scale_sweep.taosbenchmark.jsonfiles import ReadBytes
from scale_sweep.taosbenchmark.jsontable import Common, read_table
from scale_sweep.taosbenchmark.keys import ObjectReader
from scale_sweep.taosbenchmark.limits import check_vgroups, plain_name
from scale_sweep.taosbenchmark.version2 import OLD, database_options, mapped

_COUNTS = frozenset(
    (
        "buffer",
        "cachesize",
        "comp",
        "keep_time_offset",
        "maxrows",
        "minrows",
        "pages",
        "pagesize",
        "replica",
        "schemaless",
        "single_stable",
        "stt_trigger",
        "table_prefix",
        "table_suffix",
        "tsdb_pagesize",
        "vgroups",
        "wal_fsync_period",
        "wal_level",
        "wal_retention_period",
        "wal_retention_size",
        "wal_roll_period",
        "wal_segment_size",
    )
)
_DURATIONS = frozenset(("duration", "keep"))
_WORDS = frozenset(("cachemodel",))
_COUNT = re.compile(r"-?[0-9]{1,10}")
_DURATION = re.compile(r"[0-9]{1,9}[mhd]?(,[0-9]{1,9}[mhd]?){0,2}")
_WORD = re.compile(r"'?([A-Za-z_]{1,32})'?")
_IDLE_KEYS = {
    "connection_pool_size": "taosBenchmark 3.3 does not read it",
    "sample_format": "taosBenchmark 3.3 does not read it",
    "interlace_rows": "taosBenchmark 3.3 reads it inside a super table only",
    "insert_mode": "taosBenchmark 3.3 reads it inside a super table only",
}


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """The surroundings of a file."""

    options: Mapping[str, str]  # the options beside -f
    client: Mapping[str, str]  # host and port of the client's configuration
    own: ScaleOptions
    now_ms: int  # the time of the first row if the file says none
    password: str
    read: ReadBytes  # returns the content of a file of rows or tags


def read_json(document: Mapping[str, Any], invocation: Invocation, refusals: Refusals) -> Job:
    """The Job of a file. An option that the file also has is refused."""
    options, client = invocation.options, invocation.client
    keys = ObjectReader("", document, refusals)
    _refuse_other_kinds(keys, refusals)
    common = _common(keys, invocation.own, invocation.now_ms, invocation.read)
    threads, create_threads = keys.number("thread_count", 8, "threads"), _create_threads(keys, common.notes)
    ask = keys.is_yes("confirm_parameter_prompt", "yes")
    result_file = options.get("output") or keys.text("result_file", "./output.txt")
    databases = tuple(_database(entry, common) for entry in keys.objects("databases"))
    if not databases:
        refusals.add("databases", "at least one is needed")
    uses_rest = any(t.method == "rest" for d in databases for t in d.tables)
    usual_port = REST_PORT if uses_rest else int(client.get("port") or 6030)
    reached = read_connection(keys, options, client, invocation.password, usual_port)
    keys.finish()
    return Job(
        host=reached.host,
        port=reached.port,
        user=reached.user,
        password=reached.password,
        threads=threads,
        create_threads=create_threads,
        result_file=result_file,
        vgroups_auto=False,
        ask=ask and "answer-yes" not in options and any(d.drop for d in databases),
        databases=databases,
        notes=(*common.notes, *notes_of_idle((*keys.idle, *common.idle))),
    )


def _refuse_other_kinds(keys: ObjectReader, refusals: Refusals) -> None:
    keys.choice("filetype", "insert", ("insert",))
    for key in ("query_times", "query_mode", "specified_table_query", "super_table_query", "tmq_info"):
        if keys.has(key):
            keys.refuse(key, "belongs to files whose filetype is query or subscribe")
    keys.only("dsn", ("",), "belongs to taosBenchmark built for WebSocket")
    keys.only("streams", ([],), "scale load makes no streams")
    keys.only("check_sql", ("no",), "scale load does not read rows back")
    keys.only("continue_if_fail", ("no",), "is read inside a super table")
    keys.only("trying_interval", (0,), "the load generator waits 10 ms longer before each further try")
    for key, why in _IDLE_KEYS.items():
        keys.unused(key, why)


def _create_threads(keys: ObjectReader, notes: list[str]) -> int:
    old, name = "thread_count_create_tbl", "create_table_thread_count"
    if keys.has(old) and keys.has(name):
        keys.refuse(old, f"is of version 2, and {name} is in the file too; give it once")
    elif keys.has(old):
        notes.append(mapped(name, old))
        return keys.number(old, CREATE_THREADS, "threads")
    return keys.number(name, CREATE_THREADS, "threads")


def _common(keys: ObjectReader, own: ScaleOptions, now_ms: int, read: ReadBytes) -> Common:
    return Common(
        keep_case=keys.is_yes("escape_character", "no"),
        rows_per_request=keys.number("num_of_records_per_req", 30_000, "rows_per_request"),
        prepared=keys.number("prepared_rand", 10_000, "prepared"),
        interval_ms=keys.number("insert_interval", 0, "interval_ms"),
        retries=keys.number("keep_trying", 0, "retries"),
        own_values=own.own_values,
        text="chinese" if keys.is_yes("chinese", "no") else "random",
        read=read,
        now_ms=now_ms,
        idle=[],
        notes=[],
    )


def _database(entry: ObjectReader, common: Common) -> Database:
    info = entry.object("dbinfo")
    name = "test"
    try:
        name = plain_name(info.text("name", ""), 64, keep_case=common.keep_case)
    except ValueError as error:
        info.refuse("name", str(error))
    drop = info.is_yes("drop", "yes")
    info.only("flush_each_batch", ("no",), "the load generator does not flush between requests")
    precision = info.text("precision", "ms").strip("'").lower()
    if precision not in ("ms", "us", "ns"):
        info.refuse("precision", f"{precision!r} is none of ms, us, ns")
        precision = "ms"
    keys = info.rest()
    options = tuple(o for key in keys if key.lower() not in OLD and (o := _option(info, key)) is not None)
    options += database_options(info, keys, [name for name, _ in options], common.notes)
    common.idle.extend(info.idle)
    tables = tuple(read_table(keys, precision, common) for keys in entry.objects("super_tables"))
    if not tables:
        entry.refuse("super_tables", "at least one is needed")
    entry.finish()
    database = Database(
        name=name,
        written=info.text("name", ""),
        drop=drop,
        create=True,
        precision=precision,
        options=options,
        tables=tables,
    )
    check_vgroups(database, info.name("vgroups"), info.refusals)
    return database


def _option(info: ObjectReader, key: str) -> tuple[str, str] | None:
    """An option of CREATE DATABASE, with its value as SQL; None after a refusal. taosBenchmark accepts any option."""
    value, name = info.value(key, ""), key.lower()
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    word = _WORD.fullmatch(text)
    if name not in _COUNTS | _DURATIONS | _WORDS:
        info.refuse(key, "is not an option of CREATE DATABASE in TDengine 3.3")
    elif name in _COUNTS and _COUNT.fullmatch(text) or name in _DURATIONS and _DURATION.fullmatch(text):
        return name, text
    elif name in _WORDS and word:
        return name, f"'{word.group(1)}'"
    else:
        info.refuse(key, f"{text[:40]!r} is not a value for {name}")
    return None
