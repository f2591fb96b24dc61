"""A query file of taosBenchmark → QueryJob."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import read_input_text
from scale_sweep.taosbenchmark.job import Asking, FileQuery, QueryJob
from scale_sweep.taosbenchmark.objects import BYTES_MAX, Invocation, ObjectReader, mapped, read_connection

TABLE_MARK = "xxxx"
SUPER_QUERIES_MAX = 100
SPECIFIED_QUERIES_MAX = 10_000
SQL_BYTES_MAX = 900_000  # TDengine takes 1 MiB, with the names of tables
ADAPTER_ABOVE = 11  # taosAdapter's port, counted from the server's


def read_queries(keys: ObjectReader, around: Invocation) -> QueryJob:
    """Not to be used if there are mistakes."""
    values = keys.read("query")
    mode = values["query_mode"]
    if mode == "restful":
        keys.remarks.notes.append(mapped("rest", f"query_mode {mode}"))
    times = values["query_times"]
    specified = _specified(keys.object("specified_table_query"), times) if keys.has("specified_table_query") else None
    of_subtables = _of_subtables(keys.object("super_table_query"), times) if keys.has("super_table_query") else None
    if not specified and not of_subtables:
        keys.refuse("specified_table_query", "there is no query, here or in super_table_query")
    database = keys.plain_name("databases", 64, "test")
    method = "sql" if mode == "taosc" else "rest"
    reached = vars(read_connection(keys, around, int(around.client.get("port") or 6030)))
    job = QueryJob(
        **(reached | {"port": reached["port"] + (ADAPTER_ABOVE if method == "rest" else 0)}),
        database=database,
        method=method,
        specified=specified,
        of_subtables=of_subtables,
        before="RESET QUERY CACHE" if values["reset_query_cache"] else "",
        keep_going=values["continue_if_fail"] == "yes",
    )
    keys.finish()
    for query in job.queries():
        refuse_unwritable(keys, f"{query.key}.result", query.result)
    return job


def refuse_unwritable(keys: ObjectReader, name: str, file: str) -> None:
    folder = Path(file).parent
    if file and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        keys.remarks.refuse(name, f"{file}: {folder} is not a directory that can be written to")


def _specified(part: ObjectReader, times: int) -> Asking | None:
    mixed = part.choice("mixed_query", ("no", "yes")) == "yes"
    queries = _of_file(part, part.text("sql_file")) if part.has("sql_file") else []
    queries += _queries(part, SPECIFIED_QUERIES_MAX)
    asking = _asking(part, queries, times, mixed=mixed)
    if mixed:
        if asking.interval_s:
            part.refuse("query_interval", "has no meaning with mixed_query")
        for query in queries:
            if query.result:
                why = "with mixed_query the answers are counted and not kept"
                part.remarks.idle.append((f"{query.key}.result", why))
    part.finish()
    return asking if queries else None


def _of_subtables(part: ObjectReader, times: int) -> Asking | None:
    queries = _queries(part, SUPER_QUERIES_MAX)
    for query in queries:
        if TABLE_MARK not in query.text:
            part.remarks.refuse(f"{query.key}.sql", f"has no {TABLE_MARK}, which stands for a subtable")
    supertable = part.plain_name("stblname", 192, "stb") if queries else part.text("stblname")
    asking = _asking(part, queries, times, supertable=supertable)
    part.finish()
    return asking if queries else None


def _asking(part: ObjectReader, queries: list[FileQuery], times: int, **more: Any) -> Asking:
    values = part.read("asking")
    return Asking(
        queries=tuple(queries),
        threads=values["threads"] or values["concurrent"],
        times=values["query_times"] or times,
        interval_s=values["query_interval"],
        **more,
    )


def _queries(part: ObjectReader, most: int) -> list[FileQuery]:
    queries = []
    for entry in part.objects("sqls"):
        values = entry.read("statement")
        statement = one_line(values["sql"])
        if not statement:
            entry.refuse("sql", "is needed")
        elif len(statement.encode()) > SQL_BYTES_MAX:
            entry.refuse("sql", f"is longer than {SQL_BYTES_MAX} bytes")
        queries.append(FileQuery(text=statement, result=values["result"], key=entry.path))
        entry.finish()
    if len(queries) > most:
        part.refuse("sqls", f"{len(queries)} statements are more than {most}")
    return queries


def _of_file(part: ObjectReader, path: str) -> list[FileQuery]:
    """One statement a line."""
    try:
        lines = [one_line(line) for line in read_input_text(path, "", BYTES_MAX).splitlines()]
    except UsageError as error:
        part.refuse("sql_file", error.message)
        return []
    queries = [FileQuery(text=line, result="", key=part.name("sql_file")) for line in lines if line]
    if not queries:
        part.refuse("sql_file", f"{path}: has no statement")
    if len(queries) > SPECIFIED_QUERIES_MAX:
        part.refuse("sql_file", f"{len(queries)} statements are more than {SPECIFIED_QUERIES_MAX}")
    return queries


def one_line(text: str) -> str:
    """Without the blanks around it and the semicolon at its end."""
    return " ".join(text.split("\n")).replace("\r", " ").strip().rstrip("; \t")
