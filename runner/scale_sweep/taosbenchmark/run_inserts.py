"""Prepares the server, loads the super tables in turn, and makes the lines; -x then asks aggregates."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.binary import refuse_wrong
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.model.loads import Interval, LoadSummary
from scale_sweep.taosbenchmark import spec
from scale_sweep.taosbenchmark.job import Database, Job, ScaleOptions, SuperTable
from scale_sweep.taosbenchmark.loading import (
    RESULT,
    LoadsDone,
    OneLoad,
    Say,
    TableLoad,
    created_line,
    delay_line,
    delays,
    head,
    load_document,
    reporting,
    run_load,
    saying,
    spent_line,
    temporary_file,
)
from scale_sweep.taosbenchmark.server import TdengineServer
from scale_sweep.taosbenchmark.spec import GO_ON, door_spec

REPORT_EVERY_S = 30.0
FUNCTIONS = ("*", "count(*)", "avg({0})", "sum({0})", "max({0})", "min({0})", "first({0})", "last({0})")
GROUPS_MAX = 10
LIMIT_S = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Took:
    statement: str  # or the function of normal tables
    seconds: float | None  # None when it failed


@dataclass(kw_only=True)
class JobResult(LoadsDone[TableLoad]):
    took: tuple[Took, ...] = field(default=())  # of -x


def run(job: Job, own: ScaleOptions, program: str, say: Say) -> JobResult:
    """Raises UsageError before the start, TargetError if the server refuses, StoreError for the result file."""
    with ExitStack() as stack:
        job = replace(job, databases=tuple(_with_files(database, stack) for database in job.databases))
        for database in job.databases:
            for table in filter(_is_loaded, database.tables):  # with one vgroup, which no mistake depends on
                refuse_wrong(program, spec.load_spec(job, own, database, table, 1), f"table {table.name}")
        return _run(job, own, program, stack.enter_context(saying(job, say)))


def _is_loaded(table: SuperTable) -> bool:
    return table.is_loaded


def _with_files(database: Database, stack: ExitStack) -> Database:
    tables = []
    for table in database.tables:
        contents = {spec.SAMPLE_FILE: table.sample.content if table.sample else b"", spec.TAGS_FILE: table.tag_lines}
        files = {
            key: stack.enter_context(temporary_file(f".{key}", content)) for key, content in contents.items() if content
        }
        tables.append(replace(table, files=files))
    return replace(database, tables=tuple(tables))


def _run(job: Job, own: ScaleOptions, program: str, say: Say) -> JobResult:
    result = JobResult()
    server, vgroups = TdengineServer(program, job, own), {}
    for database in job.databases:
        vgroups[database.name] = server.prepare(database)
        if database.drop:
            say("SUCC", f"created database ({database.written})")
    _make_tables(job, server, vgroups, say)
    for database in job.databases:
        for table in filter(_is_loaded, database.tables):
            each = vgroups[database.name]
            threads = each if job.vgroups_auto else job.threads
            lines = spec.load_spec(replace(job, threads=threads), own, database, table, each)
            done = run_load(program, lines, job.password, reporting(REPORT_EVERY_S, say, _inserted))
            _add(done, database, table, int(lines["threads"]), each, say, result)
            if result.is_over:
                return result
    if job.aggregates:
        result.took, result.failure = ask_aggregates(job, own, program, say)
    return result


def _make_tables(job: Job, server: TdengineServer, vgroups: Mapping[str, int], say: Say) -> None:
    wanted = sum(t.tables for d in job.databases for t in d.tables if not t.exists)
    if wanted:
        say("INFO", f"start creating {wanted} table(s) with {job.create_threads} thread(s)")
        start = time.monotonic()
        made = sum(server.make_tables(d, t, vgroups[d.name]) for d in job.databases for t in d.tables)
        say("SUCC", created_line(wanted, made, job.create_threads, time.monotonic() - start))


def _add(
    done: OneLoad, database: Database, table: SuperTable, threads: int, vgroups: int, say: Say, result: JobResult
) -> None:
    result.failure, result.interrupted, summary = done.failure, done.interrupted, done.summary
    if summary is None:
        return
    loaded = TableLoad(
        database=database, table=table, threads=threads, vgroups=vgroups, summary=summary, troubles=done.troubles
    )
    result.done.append(loaded)
    say("SUCC", spent_line(loaded))
    say("SUCC", delay_line(loaded))
    goes_on = summary.outcome == "ok" or table.keep_going and summary.outcome == "errors"
    if not result.is_over and not goes_on:
        why = "; ".join(loaded.troubles[:3]) or summary.outcome
        sentence = f"{summary.rows_failed} rows were not acknowledged: {why}"
        result.failure = LoadError(sentence, remedy="see the server's log")


def _inserted(second: Interval) -> str:
    return f"has currently inserted rows: {second.rows_total}, insert rate: {second.rows} rows in a second"


def settings_lines(job: Job) -> tuple[str, ...]:
    """Without the password."""
    lines = [f"host: {job.host}:{job.port}, user: {job.user}, threads: {job.threads}, output: {job.result_file}"]
    for database in job.databases:
        dropped = "is dropped and created anew" if database.drop else "is kept"
        options = "".join(f", {name} {value}" for name, value in database.options)
        lines.append(f"database {database.name}: {dropped}, precision {database.precision}{options}")
        lines += [
            f"  {t.name}: {t.tables} tables{_names(t)}, {t.rows_each} rows each, {t.rows_per_request} rows in a "
            f"request, {t.method}, {len(t.columns)} columns, {len(t.tags)} tags"
            for t in database.tables
        ]
    return tuple(lines)


def _names(table: SuperTable) -> str:
    first, last = (f"{table.prefix}{number}" for number in (table.first, table.first + table.tables - 1))
    return f" {first} to {last}" if table.tables > 1 else f" {first}" if table.tables else ""


def document(job: Job, result: JobResult) -> dict[str, Any]:
    """For --json."""
    return {
        **head(job, interrupted=result.interrupted),
        "loads": [load_document(loaded) for loaded in result.done],
        "aggregates": [asdict(one) for one in result.took],
    }


def ask_aggregates(job: Job, own: ScaleOptions, program: str, say: Say) -> tuple[tuple[Took, ...], LoadError | None]:
    """Asks each of the job's first table once. Returns all with what failed."""
    database, table = job.databases[0], job.databases[0].tables[0]
    texts = statements(database, table)
    say("INFO", f"total Data: {table.tables * table.rows_each}")
    names = "".join(f"`{database.name}`.`{table.prefix}{number}`\n" for number in range(table.tables))
    with temporary_file(".items", names.encode()) as items:
        lines = aggregate_spec(job, own, database, table, texts, items)
        with LoadProcesses(program, [lines], tuple(sorted(os.sched_getaffinity(0))), job.password) as load:
            failure: LoadError | None = None
            try:
                for _ in load.lines(LIMIT_S):
                    pass
            except LoadError as error:
                failure = error
            summary, troubles = load.summary(), load.troubles
    took = _took(texts, summary) if summary else ()
    for one in took:
        if one.seconds is not None:
            say(RESULT, f"{one.statement} took {one.seconds:.6f} second(s)")
    if failure is None and troubles:
        failure = LoadError(f"{troubles[0].code} {troubles[0].message}", remedy="see the server's log")
    return took, failure


def statements(database: Database, table: SuperTable) -> Mapping[str, str]:
    """By the name of the operation; {item} is a normal table."""
    functions = [function.format(table.columns[0].name) for function in FUNCTIONS]
    if table.normal:
        texts = [f"SELECT {f} FROM {{item}} WHERE ts >= {table.start_ms}" for f in functions]
    else:
        tag = table.tags[0].name
        conditions = [
            " or ".join(f"{tag} = {group}" for group in range(1, last + 1))
            for last in range(1, min(GROUPS_MAX, table.tables) + 1)
        ]
        texts = [f"SELECT {f} FROM {database.name}.{table.name} WHERE {c}" for f in functions for c in conditions]
    return {f"aggregate{i}": text for i, text in enumerate(texts)}


def aggregate_spec(
    job: Job, own: ScaleOptions, database: Database, table: SuperTable, texts: Mapping[str, str], items: str
) -> dict[str, str]:
    """One thread, each statement once."""
    return {
        **door_spec(job, own, "rest" if table.method == "rest" else "sql"),
        "database": database.name,
        "operations": ",".join(texts),
        "rows_per_request": "1",
        "rounds": "1",
        "check_every": "0",
        "max_errors": str(GO_ON),
        **({"items": items} if table.normal else {}),
        **{f"ask.{name}.text": text for name, text in texts.items()},
    }


def _took(texts: Mapping[str, str], summary: LoadSummary) -> tuple[Took, ...]:
    lines = []
    for one in summary.operations:
        measured = delays(one.service) if one.service else None
        count = one.service.count if one.service else 0
        seconds = None if measured is None or one.errors else measured.avg_ms * count / 1e3
        text = texts[one.name]
        lines.append(Took(statement=text if "{item}" not in text else f"<{text}>", seconds=seconds))
    return tuple(lines)
