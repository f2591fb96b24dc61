"""An insert file of taosBenchmark → Job: everything outside the super tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.server.targets.tdengine.dialect import DATABASE_OPTIONS
from scale_sweep.taosbenchmark.flags import CREATE_THREADS, REST_PORT
from scale_sweep.taosbenchmark.job import Database, Job
from scale_sweep.taosbenchmark.keys import RETRIES, SHARING
from scale_sweep.taosbenchmark.limits import check_vgroups
from scale_sweep.taosbenchmark.objects import Invocation, ObjectReader, mapped, read_connection
from scale_sweep.taosbenchmark.read_super_table import read_table

_MODELS = ("none", "last_row", "last_value", "both")
_CACHE_MB, _BLOCKS = 16, 6  # TDengine 2's own defaults
_BUFFER_LEAST, _BUFFER_MOST = 3, 16_384
# The option of version 3; least and greatest value of that of version 2.
SUCCESSORS: Mapping[str, tuple[str, int, int]] = {
    "days": ("duration", 1, 3_650),
    "fsync": ("wal_fsync_period", 0, 180_000),
    "wallevel": ("wal_level", 0, 2),
    "cachelast": ("cachemodel", 0, 3),
}
BUFFER = ("cache", "blocks")  # one option together
GONE: Mapping[str, str] = {
    "quorum": "TDengine 3 has no such option",
    "update": "in TDengine 3 a row replaces another one with its timestamp",
    "ctime": "TDengine 3 has no such option",
}
OLD = frozenset((*SUCCESSORS, *BUFFER, *GONE))


def database_options(info: ObjectReader, keys: Sequence[str], newer: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """For those of version 2 among `keys`. newer: options that the file has already."""
    options = []
    for old, (name, least, most) in SUCCESSORS.items():
        number = _whole(info, old, least, most) if old in keys else None
        if number is None or _is_twice(info, old, name, newer):
            continue
        if old == "wallevel" and not number:
            info.unused(old, f"{number} is of version 2 and has no successor; {name} keeps its default")
            continue
        value = f"'{_MODELS[number]}'" if old == "cachelast" else str(number)
        info.remarks.notes.append(mapped(f"{name} {value}", info.name(old)))
        options.append((name, value))
    if buffers := [old for old in BUFFER if old in keys]:
        options += _buffer(info, buffers, newer)
    for old, why in GONE.items():
        info.unused(old, why)
    return tuple(options)


def _buffer(info: ObjectReader, buffers: Sequence[str], newer: Sequence[str]) -> list[tuple[str, str]]:
    """Blocks of so many MB then, one number of MB now."""
    values = {old: _whole(info, old, 1, 100_000) for old in buffers}
    if None in values.values() or _is_twice(info, buffers[0], "buffer", newer):
        return []
    mb = (values.get("cache") or _CACHE_MB) * (values.get("blocks") or _BLOCKS)
    value = str(min(max(mb, _BUFFER_LEAST), _BUFFER_MOST))
    info.remarks.notes.append(mapped(f"buffer {value}", *map(info.name, buffers)))
    return [("buffer", value)]


def _is_twice(info: ObjectReader, old: str, name: str, newer: Sequence[str]) -> bool:
    if name in newer:
        info.refuse(old, f"is of version 2, and {name} is in the file too; give it once")
    return name in newer


def _whole(info: ObjectReader, key: str, least: int, most: int) -> int | None:
    value = info.value(key)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    info.refuse(key, f"{str(value)[:40]!r} is not a whole number of {least}..{most}")
    return None


_DURATIONS, _WORDS = {"duration", "keep", "s3_keeplocal"}, {"cachemodel"}
_COUNTS = DATABASE_OPTIONS - _DURATIONS - _WORDS | {"keep_time_offset", "vgroups", "s3_chunksize", "s3_compact"}
_COUNT = re.compile(r"-?[0-9]{1,10}")
_DURATION = re.compile(r"[0-9]{1,9}[mhd]?(,[0-9]{1,9}[mhd]?){0,2}")
_WORD = re.compile(r"""(['"]?)([A-Za-z_]{1,32})\1""")


def read_inserts(keys: ObjectReader, around: Invocation) -> Job:
    """An option that the file also has is refused."""
    entries = [(entry, entry.objects("super_tables")) for entry in keys.objects("databases")]
    every = [table for _, tables in entries for table in tables]
    retries = any(table.value("keep_trying") for table in (keys, *every))
    has = {RETRIES: retries, SHARING: around.own.placement != "owned"}
    values = keys.read("insert", without=[need for need, is_there in has.items() if not is_there])
    if any(table.value("data_source") == "sample" for table in every):
        values["prepared_rand"] = max(values["prepared_rand"], _stmt_rows(every, values))
    else:
        keys.unused("prepared_rand", "every row is made fresh")
    create_threads = _create_threads(keys)
    databases = tuple(_database(entry, tables, values, around) for entry, tables in entries)
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


def _stmt_rows(tables: Sequence[ObjectReader], values: dict[str, Any]) -> int:
    """Which taosBenchmark prepares at least if a super table is written by stmt."""
    uses_stmt = any(str(table.value("insert_mode")).lower() == "stmt" for table in tables)
    return int(values["num_of_records_per_req"]) if uses_stmt else 0


def _create_threads(keys: ObjectReader) -> int:
    old, name = "thread_count_create_tbl", "create_table_thread_count"
    if keys.has(old) and keys.has(name):
        keys.refuse(old, f"is of version 2, and {name} is in the file too; give it once")
    elif keys.has(old):
        keys.remarks.notes.append(mapped(name, old))
        return keys.number(old, CREATE_THREADS, "threads")
    return keys.number(name, CREATE_THREADS, "threads")


def _database(
    entry: ObjectReader, supertables: Sequence[ObjectReader], common: dict[str, Any], around: Invocation
) -> Database:
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
    tables = tuple(read_table(keys, precision, common, around, dropped=values["drop"]) for keys in supertables)
    if not tables:
        entry.remarks.notes.append(f"{entry.path} has no super table: only the database is made")
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
    value, name = info.value(name), name.strip()
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    word = _WORD.fullmatch(text)
    if name not in _COUNTS | _DURATIONS | _WORDS:
        info.refuse(name, "is not an option of CREATE DATABASE in TDengine 3.3")
    elif name in _COUNTS and _COUNT.fullmatch(text) or name in _DURATIONS and _DURATION.fullmatch(text):
        return name, text
    elif name in _WORDS and word:
        return name, f"'{word.group(2)}'"
    else:
        info.refuse(name, f"{text[:40]!r} is not a value for {name}")
    return None
