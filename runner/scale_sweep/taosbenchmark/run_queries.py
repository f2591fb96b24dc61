"""Asks what a query file says, one load after another; its lines and its JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from scale_sweep.base.errors import LoadError, TargetError
from scale_sweep.loadgen.verbs import run_statements
from scale_sweep.model.loads import Interval, Latency, LoadSummary, OperationSummary
from scale_sweep.taosbenchmark.job import QueryJob, ScaleOptions
from scale_sweep.taosbenchmark.loading import (
    NONE,
    RESULT,
    LoadsDone,
    Say,
    delays,
    head,
    need_library,
    per_second,
    reporting,
    run_load,
    saying,
    temporary_file,
)
from scale_sweep.taosbenchmark.spec import QueryLoad, door_spec, specified_loads, subtable_load, subtables_statement

REPORT_EVERY_S = 30.0


@dataclass(frozen=True, kw_only=True)
class QueriesDone:
    load: QueryLoad
    summary: LoadSummary
    troubles: tuple[str, ...]

    def service(self, one: OperationSummary) -> Latency:
        return one.service or self.summary.service


def run(job: QueryJob, own: ScaleOptions, program: str, say: Say) -> LoadsDone[QueriesDone]:
    """Raises PreflightError without libtaos, TargetError if the server refuses, StoreError for the result file."""
    need_library(program, door_spec(job, own, job.method))
    result: LoadsDone[QueriesDone] = LoadsDone()
    with saying(job, say) as both:
        loads = specified_loads(job, own, job.specified) if job.specified else []
        if job.of_subtables:
            subtables = _subtables(job, own, program, job.of_subtables.supertable)
            both("INFO", f"{job.of_subtables.supertable}'s childTblCount: {len(subtables)}")
            loads.append(subtable_load(job, own, job.of_subtables, subtables))
        for load in loads:
            _ask(job, program, load, result, both)
            if result.is_over:
                break
        if result.done:
            for line in total_lines(result.done):
                both(RESULT, line)
    return result


def _subtables(job: QueryJob, own: ScaleOptions, program: str, name: str) -> list[str]:
    statement = subtables_statement(job, name)
    (answer,) = run_statements(program, door_spec(job, own, job.method), [statement], job.password)
    if not answer.ok:
        raise TargetError(f"TDengine refused {statement!r}: {answer.code} {answer.message}")
    if not answer.rows:
        raise TargetError(f"supertable {job.database}.{name} has no subtable", remedy="correct databases or stblname")
    return [str(row[0]) for row in answer.rows]


def _ask(job: QueryJob, program: str, load: QueryLoad, result: LoadsDone[QueriesDone], say: Say) -> None:
    """A query without an answer is a failure, unless the file says that the others go on."""
    spec = dict(load.spec)
    with ExitStack() as stack:
        if load.items:
            lines = "".join(f"{item}\n" for item in load.items)
            spec["items"] = stack.enter_context(temporary_file(".items", lines.encode()))
        done = run_load(program, spec, job.password, reporting(REPORT_EVERY_S, say, _Completed()))
    result.failure, result.interrupted, summary = done.failure, done.interrupted, done.summary
    if summary is None:
        return
    queried = QueriesDone(load=load, summary=summary, troubles=done.troubles)
    result.done.append(queried)
    for line in delay_lines(queried):
        say(RESULT, line)
    if result.is_over or summary.outcome == "ok":
        return
    failed = sum(one.errors for one in summary.operations)
    what = f"{failed} queries failed: {'; '.join(done.troubles[:3]) or summary.outcome}"
    if job.keep_going and summary.outcome == "errors":
        say("WARN", what)
    else:
        result.failure = LoadError(what, remedy="correct the statement, or give continue_if_fail: yes")


class _Completed:
    def __init__(self) -> None:
        self._queries = 0

    def __call__(self, second: Interval) -> str:
        self._queries += second.requests
        return f"has currently completed queries: {self._queries}, QPS: {second.requests} in a second"


def delay_lines(queried: QueriesDone) -> tuple[str, ...]:
    """In seconds; of mixed statements one line for all."""
    load, summary = queried.load, queried.summary
    if load.spec["order"] != "progressive":
        return tuple(
            _query_line(load, load.queries[one.name].text, one)
            for one in summary.operations
            if one.name in load.queries and queried.service(one).count
        )
    d, answered = delays(summary.service) or NONE, summary.service.count
    line = (
        f"spend {summary.window_s:.6f}s using {load.threads} threads complete query {answered} "
        f"times,cd  min delay: {d.min_ms / 1e3:.6f}s, avg delay: {d.avg_ms / 1e3:.6f}s, p90: {d.p90_ms / 1e3:.6f}s, "
        f"p95: {d.p95_ms / 1e3:.6f}s, p99: {d.p99_ms / 1e3:.6f}s, max: {d.max_ms / 1e3:.6f}s"
    )
    return (line,) if answered else ()


def _query_line(load: QueryLoad, text: str, one: OperationSummary) -> str:
    d = (delays(one.service) if one.service else None) or NONE
    return (
        f"complete query with {load.threads} threads and {load.times} query delay "
        f"avg: \t{d.avg_ms / 1e3:.6f}s min: \t{d.min_ms / 1e3:.6f}s max: \t{d.max_ms / 1e3:.6f}s "
        f"p90: \t{d.p90_ms / 1e3:.6f}s p95: \t{d.p95_ms / 1e3:.6f}s p99: \t{d.p99_ms / 1e3:.6f}s "
        f"SQL command: {text}"
    )


def total_lines(done: Sequence[QueriesDone]) -> tuple[str, ...]:
    totals = {"specified": 0, "super": 0}
    for queried in done:
        totals["super" if queried.load.of_subtables else "specified"] += queried.summary.service.count
    seconds, queries = sum(queried.summary.window_s for queried in done), sum(totals.values())
    rate = per_second(queries, seconds)
    return (
        *(f"Total {kind} queries: {count}" for kind, count in totals.items() if count),
        f"Spend {seconds:.4f} second completed total queries: {queries}, the QPS of all threads: {rate:10.3f}",
    )


def settings_lines(job: QueryJob) -> tuple[str, ...]:
    line = f"host: {job.host}:{job.port}, user: {job.user}, database: {job.database}, output: {job.result_file}"
    return (line, *(query.text for query in job.queries()))


def document(job: QueryJob, result: LoadsDone[QueriesDone]) -> dict[str, Any]:
    """For --json."""
    return {
        **head(job, interrupted=result.interrupted),
        "database": job.database,
        "method": job.method,
        "queries": [_document(queried, one) for queried in result.done for one in queried.summary.operations],
    }


def _document(queried: QueriesDone, one: OperationSummary) -> dict[str, Any]:
    service = queried.service(one)
    measured = delays(service)
    return {
        "sql": queried.load.queries[one.name].text,
        "of_subtables": queried.load.of_subtables,
        "threads": queried.load.threads,
        "answered": service.count,
        "failed": one.errors,
        "rows": one.rows_window,
        "bytes": one.bytes_window,
        "spent_s": queried.summary.window_s,
        "generator_cpu_s": queried.summary.cpu_window_s,
        "delay": asdict(measured) if measured else None,
        "error_kinds": list(queried.troubles),
    }
