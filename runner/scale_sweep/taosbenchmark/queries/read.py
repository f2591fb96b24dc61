"""taosBenchmark's query JSON file → QueryJob."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark.connecting import notes_of_idle, read_connection
from scale_sweep.taosbenchmark.job import Refusals
from scale_sweep.taosbenchmark.keys import ObjectReader
from scale_sweep.taosbenchmark.limits import plain_name
from scale_sweep.taosbenchmark.queries.job import Asking, FileQuery, QueryJob
from scale_sweep.taosbenchmark.version2 import mapped

TABLE_MARK = "xxxx"
SUPER_QUERIES_MAX = 100
SPECIFIED_QUERIES_MAX = 10_000
SQL_BYTES_MAX = 900_000  # TDengine takes 1 MiB, with the names of tables
ADAPTER_ABOVE = 11  # taosAdapter's port, counted from the server's
_MODES = {"taosc": "sql", "rest": "rest", "restful": "rest"}
_SUBSCRIPTIONS = ("subscribe_interval", "subscribe_times", "interval", "restart", "keepProgress")
_CONSUMED = ("endAfterConsume", "resubAfterConsume")
_IDLE = {
    "response_buffer": "an answer may have any length",
    "telnet_tcp_port": "queries do not use it",
    "kill_slow_query_interval": "no query is killed",
    "connection_pool_size": "taosBenchmark 3.3 does not read it",
}
_KILLS = "no query is killed; taosBenchmark 3.3 hangs before its first query when this is set"

ReadText = Callable[[str], str]


def read_queries(
    document: Mapping[str, Any],
    options: Mapping[str, str],
    client: Mapping[str, str],
    password: str,
    read_text: ReadText,
    refusals: Refusals,
) -> QueryJob:
    """The job of a file. Mistakes go into `refusals`; the job is then not to be used. read_text raises UsageError."""
    keys = ObjectReader("", document, refusals)
    keys.choice("filetype", "query", ("query",))
    notes: list[str] = []
    mode = keys.choice("query_mode", "taosc", tuple(_MODES))
    if mode not in ("taosc", "rest"):
        notes.append(mapped("rest", f"query_mode {mode}"))
    reached = read_connection(keys, options, client, password, int(client.get("port") or 6030))
    times = keys.number("query_times", 1, "times")
    keys.is_yes("confirm_parameter_prompt", "yes")
    for key, why in _IDLE.items():
        keys.unused(key, why)
    if keys.value("kill_slow_query_threshold", 0) != 0:
        keys.unused("kill_slow_query_threshold", _KILLS)
    idle: list[tuple[str, str]] = []
    specified = _specified(keys, times, read_text, idle) if keys.has("specified_table_query") else None
    of_subtables = _of_subtables(keys, times, idle) if keys.has("super_table_query") else None
    if not specified and not of_subtables:
        refusals.add("specified_table_query", "there is no query, here or in super_table_query")
    job = QueryJob(
        host=reached.host,
        port=reached.port + (ADAPTER_ABOVE if _MODES[mode] == "rest" else 0),
        user=reached.user,
        password=reached.password,
        database=_database(keys),
        method=_MODES[mode],
        specified=specified,
        of_subtables=of_subtables,
        before="RESET QUERY CACHE" if keys.is_yes("reset_query_cache", "no") else "",
        keep_going=keys.choice("continue_if_fail", "no", ("no", "yes")) == "yes",
        result_file=options.get("output") or keys.text("result_file", "./output.txt"),
        notes=(*notes, *notes_of_idle((*keys.idle, *idle))),
    )
    keys.finish()
    return job


def _database(keys: ObjectReader) -> str:
    try:
        return plain_name(keys.text("databases", ""), 64, keep_case=False)
    except ValueError as error:
        keys.refuse("databases", str(error))
        return "test"


def _specified(keys: ObjectReader, times: int, read_text: ReadText, idle: list[tuple[str, str]]) -> Asking | None:
    part = keys.object("specified_table_query")
    mixed = part.is_yes("mixed_query", "no")
    queries = _of_file(part, read_text) if part.has("sql_file") else []
    queries += _queries(part, SPECIFIED_QUERIES_MAX)
    asking = _asking(part, tuple(queries), times, idle, mixed=mixed)
    if mixed:
        if asking.interval_s:
            part.refuse("query_interval", "has no meaning with mixed_query")
        for query in queries:
            if query.result:
                idle.append((f"{query.key}.result", "with mixed_query the answers are counted and not kept"))
    part.finish()
    return asking if queries else None


def _of_subtables(keys: ObjectReader, times: int, idle: list[tuple[str, str]]) -> Asking | None:
    part = keys.object("super_table_query")
    queries = _queries(part, SUPER_QUERIES_MAX)
    for query in queries:
        if TABLE_MARK not in query.text:
            part.refusals.add(f"{query.key}.sql", f"has no {TABLE_MARK}, which stands for a subtable")
    supertable = "stb"
    try:
        supertable = plain_name(part.text("stblname", ""), 192, keep_case=False)
    except ValueError as error:
        if queries:
            part.refuse("stblname", str(error))
    asking = _asking(part, tuple(queries), times, idle, supertable=supertable)
    part.finish()
    return asking if queries else None


def _asking(
    part: ObjectReader,
    queries: tuple[FileQuery, ...],
    times: int,
    idle: list[tuple[str, str]],
    *,
    supertable: str = "",
    mixed: bool = False,
) -> Asking:
    """Reads the keys that both parts have. threads: as there, it overrules `concurrent`."""
    for key in _SUBSCRIPTIONS + _CONSUMED:
        part.unused(key, "belongs to subscriptions of version 2")
    part.unused("mode", "a thread waits for each answer, as in taosBenchmark 3.3")
    idle.extend(part.idle)
    concurrent = part.number("concurrent", 1, "threads")
    return Asking(
        queries=queries,
        threads=part.number("threads", concurrent, "threads"),
        times=part.number("query_times", times, "times"),
        interval_s=part.number("query_interval", 0, "interval_s"),
        supertable=supertable,
        mixed=mixed,
    )


def _queries(part: ObjectReader, most: int) -> list[FileQuery]:
    queries = []
    for entry in part.objects("sqls"):
        queries.append(_query(entry, entry.text("sql", ""), entry.text("result", "")))
        for key in _CONSUMED:
            entry.unused(key, "belongs to subscriptions of version 2")
        entry.finish()
    if len(queries) > most:
        part.refuse("sqls", f"{len(queries)} statements are more than {most}")
    return queries


def _query(entry: ObjectReader, text: str, result: str) -> FileQuery:
    statement = one_line(text)
    if not statement:
        entry.refuse("sql", "is needed")
    elif len(statement.encode()) > SQL_BYTES_MAX:
        entry.refuse("sql", f"is longer than {SQL_BYTES_MAX} bytes")
    return FileQuery(text=statement, result=result, key=entry.path)


def _of_file(part: ObjectReader, read_text: ReadText) -> list[FileQuery]:
    """One statement a line."""
    path = part.text("sql_file", "")
    try:
        lines = [one_line(line) for line in read_text(path).splitlines()]
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
    """A statement without the blanks around it and the semicolon at its end, on one line."""
    return " ".join(text.split("\n")).replace("\r", " ").strip().rstrip("; \t")
