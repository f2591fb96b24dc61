"""An insert file of taosBenchmark → Job: everything outside the super tables."""

from __future__ import annotations

import re
from typing import Any

from scale_sweep.server.targets.tdengine.dialect import DATABASE_OPTIONS
from scale_sweep.taosbenchmark.flags import CREATE_THREADS, REST_PORT
from scale_sweep.taosbenchmark.job import Database, Job
from scale_sweep.taosbenchmark.limits import check_vgroups
from scale_sweep.taosbenchmark.objects import Invocation, ObjectReader, read_connection
from scale_sweep.taosbenchmark.read_super_table import read_table
from scale_sweep.taosbenchmark.version2 import OLD, database_options, mapped

_DURATIONS, _WORDS = {"duration", "keep"}, {"cachemodel"}
_COUNTS = DATABASE_OPTIONS - _DURATIONS - _WORDS | {"keep_time_offset", "vgroups"}
_COUNT = re.compile(r"-?[0-9]{1,10}")
_DURATION = re.compile(r"[0-9]{1,9}[mhd]?(,[0-9]{1,9}[mhd]?){0,2}")
_WORD = re.compile(r"'?([A-Za-z_]{1,32})'?")


def read_inserts(keys: ObjectReader, around: Invocation) -> Job:
    """An option that the file also has is refused."""
    values = keys.read("insert")
    create_threads = _create_threads(keys)
    databases = tuple(_database(entry, values, around) for entry in keys.objects("databases"))
    if not databases:
        keys.refuse("databases", "at least one is needed")
    uses_rest = any(t.method == "rest" for d in databases for t in d.tables)
    reached = read_connection(keys, around, REST_PORT if uses_rest else int(around.client.get("port") or 6030))
    keys.finish()
    asks = values["confirm_parameter_prompt"] and "answer-yes" not in around.options
    return Job(
        **(vars(reached) | {"ask": asks and any(d.drop for d in databases)}),
        threads=values["thread_count"],
        create_threads=create_threads,
        vgroups_auto=False,
        databases=databases,
    )


def _create_threads(keys: ObjectReader) -> int:
    old, name = "thread_count_create_tbl", "create_table_thread_count"
    if keys.has(old) and keys.has(name):
        keys.refuse(old, f"is of version 2, and {name} is in the file too; give it once")
    elif keys.has(old):
        keys.remarks.notes.append(mapped(name, old))
        return keys.number(old, CREATE_THREADS, "threads")
    return keys.number(name, CREATE_THREADS, "threads")


def _database(entry: ObjectReader, common: dict[str, Any], around: Invocation) -> Database:
    info = entry.object("dbinfo")
    name = info.plain_name("name", 64, "test", keep_case=common["escape_character"])
    values = info.read("dbinfo")
    precision = values["precision"].strip("'").lower()
    if precision not in ("ms", "us", "ns"):
        info.refuse("precision", f"{precision!r} is none of ms, us, ns")
        precision = "ms"
    keys = info.rest()
    options = tuple(o for key in keys if key not in OLD and (o := _option(info, key)) is not None)
    options += database_options(info, keys, [name for name, _ in options])
    tables = tuple(read_table(keys, precision, common, around) for keys in entry.objects("super_tables"))
    if not tables:
        entry.refuse("super_tables", "at least one is needed")
    entry.finish()
    database = Database(
        name=name,
        written=info.text("name"),
        drop=values["drop"],
        create=True,
        precision=precision,
        options=options,
        tables=tables,
    )
    check_vgroups(database, info.name("vgroups"), info.remarks)
    return database


def _option(info: ObjectReader, name: str) -> tuple[str, str] | None:
    """With its value as SQL; None after a refusal. taosBenchmark accepts any option."""
    value = info.value(name)
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    word = _WORD.fullmatch(text)
    if name not in _COUNTS | _DURATIONS | _WORDS:
        info.refuse(name, "is not an option of CREATE DATABASE in TDengine 3.3")
    elif name in _COUNTS and _COUNT.fullmatch(text) or name in _DURATIONS and _DURATION.fullmatch(text):
        return name, text
    elif name in _WORDS and word:
        return name, f"'{word.group(1)}'"
    else:
        info.refuse(name, f"{text[:40]!r} is not a value for {name}")
    return None
