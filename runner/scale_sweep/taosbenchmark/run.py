"""Runs `scale load`: reads options and file, prepares the server, loads the super tables in turn, and makes the
lines."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import LoadError, UsageError
from scale_sweep.base.input_file import open_input, read_input
from scale_sweep.loadgen.binary import refuse_wrong
from scale_sweep.loadgen.handle import Every
from scale_sweep.model import Interval
from scale_sweep.taosbenchmark import output, spec
from scale_sweep.taosbenchmark.aggregates import Took, ask_aggregates
from scale_sweep.taosbenchmark.flags import BESIDE_FILE, read_flags
from scale_sweep.taosbenchmark.job import Database, Job, Refusals, ScaleOptions, SuperTable
from scale_sweep.taosbenchmark.jsonfile import Invocation, read_json
from scale_sweep.taosbenchmark.keys import BYTES_MAX, load_document
from scale_sweep.taosbenchmark.loading import Say, run_load, saying
from scale_sweep.taosbenchmark.options import name_of, parse
from scale_sweep.taosbenchmark.server import TdengineServer

REPORT_EVERY_S = 30.0
CLIENT_FILE = "taos.cfg"
ROWS_FILE_BYTES_MAX = 256 * 2**20


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """All loads."""

    loads: tuple[output.TableLoad, ...]
    interrupted: bool
    failure: LoadError | None  # why it ended early; the caller raises it after the lines were shown
    took: tuple[Took, ...] = ()  # of -x


def read_given(arguments: Sequence[str]) -> tuple[Mapping[str, str], Refusals]:
    """The parsed options, and the mistakes so far. `read_job` reports them together with its own."""
    refusals = Refusals()
    return parse(arguments, refusals), refusals


def read_job(
    options: Mapping[str, str], refusals: Refusals, own: ScaleOptions, environment: Mapping[str, str], now: datetime
) -> Job:
    """Options and file → Job. Raises UsageError with all mistakes."""
    password = options.get("password") or environment.get("SCALE_PASSWORD", "")
    folder = options.get("config-dir", "")
    if "file" not in options:
        job = read_flags(options, _client(folder), password or "taosdata", refusals)
    else:
        document = read_document(options["file"])
        folder, client = beside_file(options, document, refusals)
        now_ms = round(now.timestamp() * 1000)
        invocation = Invocation(
            options=options, client=client, own=own, now_ms=now_ms, password=password, read=read_rows_file
        )
        job = read_json(document, invocation, refusals)
    refusals.raise_any()
    return replace(job, client_config=client_folder(folder))


def beside_file(
    options: Mapping[str, str], document: Mapping[str, Any], refusals: Refusals
) -> tuple[str, Mapping[str, str]]:
    """The directory of the client's configuration, and the host and port that it says where the file does not.

    Refuses options that the file has the say of.
    """
    for long in options:
        if long not in BESIDE_FILE:
            refusals.add(name_of(long), "cannot be joined with -f: the file says it")
    folder = options.get("config-dir", "")
    client = {} if "host" in document and not folder else _client(folder or str(document.get("cfgdir") or ""))
    return folder or str(document.get("cfgdir") or ""), client


def client_folder(folder: str) -> str:
    """The directory from which libtaos reads its configuration, if it exists."""
    path = Path(folder).resolve() if folder else None
    if path is None or not os.path.exists(path):
        return ""
    return str(path if path.is_dir() else path.parent)


def read_document(path: str) -> dict[str, Any]:
    """The JSON object of a file. Raises UsageError."""
    try:
        return load_document(read_input(path, "-f", BYTES_MAX))
    except ValueError as error:
        raise UsageError(f"-f {path}: {error}") from None


def read_rows_file(path: str) -> bytes:
    """A regular file of rows or tags. Raises UsageError."""
    with open_input(path, "") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UsageError(f"{path}: is not a regular file")
        raw = file.read(ROWS_FILE_BYTES_MAX + 1)
    if len(raw) > ROWS_FILE_BYTES_MAX:
        raise UsageError(f"{path}: has more than {ROWS_FILE_BYTES_MAX:,} bytes")
    return raw


def _client(folder: str) -> Mapping[str, str]:
    """Host and port in the client's taos.cfg; {} if no directory was given, or one without this file: libtaos then has
    its own defaults."""
    if not folder:
        return {}
    path = Path(folder) / CLIENT_FILE if os.path.isdir(folder) else Path(folder)
    if os.path.isdir(folder) and not os.path.lexists(path):
        return {}
    lines = read_input(path, "-c", BYTES_MAX).decode("utf-8", errors="replace").splitlines()
    items = {w[0].lower(): w[1] for w in (line.split("#")[0].split() for line in lines) if len(w) >= 2}
    host, _, port = items.get("firstep", items.get("fqdn", "")).partition(":")
    port = port or items.get("serverport", "")
    if port and not (port.isdecimal() and 1 <= int(port) <= 65_535):
        raise UsageError(f"-c {folder}: {path}: {port!r} is not a port")
    return {key: value for key, value in {"host": host, "port": port}.items() if value}


def run_job(job: Job, own: ScaleOptions, program: str, say: Say) -> JobResult:
    """Runs all loads. Raises UsageError before the start if the load generator would refuse one, TargetError if the
    server refuses, StoreError if the result file cannot be written."""
    with ExitStack() as stack:
        job = replace(job, databases=tuple(_with_files(database, stack) for database in job.databases))
        for database in job.databases:
            for table in database.tables:  # with one vgroup, which no mistake depends on
                refuse_wrong(program, spec.load_spec(job, own, database, table, 1), f"table {table.name}")
        return _run(job, own, program, stack.enter_context(saying(job.result_file, say)))


def _with_files(database: Database, stack: ExitStack) -> Database:
    return replace(database, tables=tuple(_with_own_files(table, stack) for table in database.tables))


def _with_own_files(table: SuperTable, stack: ExitStack) -> SuperTable:
    files = {}
    contents = {spec.SAMPLE_FILE: table.sample.content if table.sample else b"", spec.TAGS_FILE: table.tag_lines}
    for key, content in contents.items():
        if content:
            file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="scale-", suffix=f".{key}"))
            file.write(content)
            file.flush()
            files[key] = file.name
    return replace(table, files=files)


def _run(job: Job, own: ScaleOptions, program: str, say: Say) -> JobResult:
    loads: list[output.TableLoad] = []
    server, vgroups = TdengineServer(program, job, own), {}
    for note in job.notes:
        say("INFO", note)
    for database in job.databases:
        vgroups[database.name] = server.prepare(database)
        if database.drop:
            say("SUCC", f"created database ({database.written})")
    _make_tables(job, server, vgroups, say)
    for database in job.databases:
        for table in database.tables:
            loaded, failure, interrupted = _load(job, own, program, database, table, vgroups[database.name], say)
            if loaded is not None:
                loads.append(loaded)
                say("SUCC", output.spent_line(loaded))
                say("SUCC", output.delay_line(loaded))
            if failure is not None or interrupted:
                return JobResult(loads=tuple(loads), interrupted=interrupted, failure=failure)
    took, failure = ask_aggregates(job, own, program, say) if job.aggregates else ((), None)
    return JobResult(loads=tuple(loads), interrupted=False, failure=failure, took=took)


def _make_tables(job: Job, server: TdengineServer, vgroups: Mapping[str, int], say: Say) -> None:
    wanted = sum(t.tables for d in job.databases for t in d.tables if not t.exists)
    if not wanted:
        return
    say("INFO", f"start creating {wanted} table(s) with {job.create_threads} thread(s)")
    start = time.monotonic()
    made = sum(server.make_tables(d, t, vgroups[d.name]) for d in job.databases for t in d.tables)
    say("SUCC", output.created_line(wanted, made, job.create_threads, time.monotonic() - start))


def _load(
    job: Job, own: ScaleOptions, program: str, database: Database, table: SuperTable, vgroups: int, say: Say
) -> tuple[output.TableLoad | None, LoadError | None, bool]:
    """Runs one load. Returns what was measured, why it failed, and whether it was interrupted."""
    threads = vgroups if job.vgroups_auto else job.threads
    job = replace(job, threads=threads)
    lines = spec.load_spec(job, own, database, table, vgroups)
    load = run_load(program, lines, job.password, _reports(say))
    if load.summary is None:
        return None, load.failure, load.interrupted
    loaded = output.TableLoad(
        database=database,
        table=table,
        threads=int(lines["threads"]),
        vgroups=vgroups,
        summary=load.summary,
        troubles=load.troubles,
    )
    return loaded, load.failure or _failure(loaded, interrupted=load.interrupted), load.interrupted


def _reports(say: Say) -> Callable[[Interval], None]:
    due = Every(REPORT_EVERY_S)

    def report(second: Interval) -> None:
        if due.elapsed_s() is not None:
            rate = f"insert rate: {second.rows} rows in a second"
            say("INFO", f"has currently inserted rows: {second.rows_total}, {rate}")

    return report


def _failure(loaded: output.TableLoad, *, interrupted: bool) -> LoadError | None:
    """Rows that the server did not acknowledge are a failure, unless the load continues after failed requests."""
    summary = loaded.summary
    if interrupted or summary.outcome == "ok" or loaded.table.keep_going and summary.outcome == "errors":
        return None
    return LoadError(
        f"{summary.rows_failed} rows were not acknowledged: {'; '.join(loaded.troubles[:3]) or summary.outcome}",
        remedy="see the server's log",
    )
