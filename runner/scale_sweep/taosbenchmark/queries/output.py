"""The queries' times → the lines that scripts written for taosBenchmark read, and the JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scale_sweep.model import LoadSummary, OperationSummary
from scale_sweep.taosbenchmark.output import Delays, delays
from scale_sweep.taosbenchmark.queries.job import FileQuery, QueryJob
from scale_sweep.taosbenchmark.queries.spec import QueryLoad

_NONE = Delays(min_ms=0, avg_ms=0, p90_ms=0, p95_ms=0, p99_ms=0, max_ms=0)


@dataclass(frozen=True, kw_only=True)
class QueriesDone:
    """One load of queries, finished or not."""

    load: QueryLoad
    summary: LoadSummary
    of_subtables: bool  # it asked of each subtable
    troubles: tuple[str, ...]

    @property
    def answered(self) -> int:
        return self.summary.service.count

    @property
    def failed(self) -> int:
        """Queries that had none."""
        return sum(one.errors for one in self.summary.operations)


def delay_lines(queried: QueriesDone) -> tuple[str, ...]:
    """For each statement that had answers its delays, in seconds; of mixed statements one line for all."""
    if queried.load.spec["order"] == "progressive":
        return (_mixed_line(queried),) if queried.answered else ()
    return tuple(
        _query_line(queried.load, query, one)
        for one in queried.summary.operations
        if (query := queried.load.queries.get(one.name)) is not None and _service(queried, one).count
    )


def _service(queried: QueriesDone, one: OperationSummary) -> Any:
    return one.service or queried.summary.service


def _query_line(load: QueryLoad, query: FileQuery, one: OperationSummary) -> str:
    d = (delays(one.service) if one.service else None) or _NONE
    return (
        f"complete query with {load.threads} threads and {load.times} query delay "
        f"avg: \t{d.avg_ms / 1e3:.6f}s min: \t{d.min_ms / 1e3:.6f}s max: \t{d.max_ms / 1e3:.6f}s "
        f"p90: \t{d.p90_ms / 1e3:.6f}s p95: \t{d.p95_ms / 1e3:.6f}s p99: \t{d.p99_ms / 1e3:.6f}s "
        f"SQL command: {query.text}"
    )


def _mixed_line(queried: QueriesDone) -> str:
    d = delays(queried.summary.service) or _NONE
    return (
        f"spend {queried.summary.window_s:.6f}s using {queried.load.threads} threads complete query {queried.answered} "
        f"times,cd  min delay: {d.min_ms / 1e3:.6f}s, avg delay: {d.avg_ms / 1e3:.6f}s, p90: {d.p90_ms / 1e3:.6f}s, "
        f"p95: {d.p95_ms / 1e3:.6f}s, p99: {d.p99_ms / 1e3:.6f}s, max: {d.max_ms / 1e3:.6f}s"
    )


def total_lines(done: Sequence[QueriesDone]) -> tuple[str, ...]:
    """Queries of both kinds, and all of them in a second. The seconds are those in which queries were asked."""
    totals = {"specified": 0, "super": 0}
    for queried in done:
        totals["super" if queried.of_subtables else "specified"] += queried.answered
    seconds, queries = sum(queried.summary.window_s for queried in done), sum(totals.values())
    rate = queries / seconds if seconds > 0 else 0.0
    return (
        *(f"Total {kind} queries: {count}" for kind, count in totals.items() if count),
        f"Spend {seconds:.4f} second completed total queries: {queries}, the QPS of all threads: {rate:10.3f}",
    )


def settings_lines(job: QueryJob) -> tuple[str, ...]:
    """The lines that say what will be done, without the password."""
    lines = [f"host: {job.host}:{job.port}, user: {job.user}, database: {job.database}, output: {job.result_file}"]
    lines += [query.text for query in job.queries()]
    return tuple(lines)


def document(job: QueryJob, done: Sequence[QueriesDone], *, interrupted: bool) -> dict[str, Any]:
    """For --json. What could not be measured is null."""
    return {
        "schema": 1,
        "host": job.host,
        "port": job.port,
        "database": job.database,
        "method": job.method,
        "interrupted": interrupted,
        "notes": list(job.notes),
        "queries": [part for queried in done for part in _documents(queried)],
    }


def _documents(queried: QueriesDone) -> list[dict[str, Any]]:
    documents = []
    for one in queried.summary.operations:
        measured = delays(_service(queried, one))
        documents.append(
            {
                "sql": queried.load.queries[one.name].text,
                "of_subtables": queried.of_subtables,
                "threads": queried.load.threads,
                "answered": _service(queried, one).count,
                "failed": one.errors,
                "rows": one.rows_window,
                "bytes": one.bytes_window,
                "spent_s": queried.summary.window_s,
                "generator_cpu_s": queried.summary.cpu_window_s,
                "delay": None if measured is None else {n: getattr(measured, n) for n in Delays.__dataclass_fields__},
                "error_kinds": list(queried.troubles),
            }
        )
    return documents
