"""Measured loads → the lines that scripts written for taosBenchmark read, and the JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hdrh.histogram import HdrHistogram

from scale_sweep.model import Latency, LoadSummary
from scale_sweep.taosbenchmark.job import Database, Job, SuperTable

_PERCENTILES = {"p90": 90.0, "p95": 95.0, "p99": 99.0}


@dataclass(frozen=True, kw_only=True)
class Delays:
    """Times of requests from sending to answer, in milliseconds."""

    min_ms: float
    avg_ms: float
    p90_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


@dataclass(frozen=True, kw_only=True)
class TableLoad:
    """The load of one super table, finished or not."""

    database: Database
    table: SuperTable
    threads: int
    vgroups: int
    summary: LoadSummary
    troubles: tuple[str, ...]


def stamped(now: datetime, level: str, text: str) -> str:
    """A line with time and level in taosBenchmark's format."""
    return f"[{now:%m/%d %H:%M:%S.%f}] {level}: {text}"


def delays(latency: Latency) -> Delays | None:
    """None if no request was answered. A percentile of few requests is the nearest of them, as in taosBenchmark."""
    if not latency.count or latency.min_us is None or latency.mean_us is None or latency.max_us is None:
        return None
    histogram = HdrHistogram.decode(latency.hdr)
    ranked = {
        name: min(max(histogram.get_value_at_percentile(q) / 1e6, latency.min_us / 1e3), latency.max_us / 1e3)
        for name, q in _PERCENTILES.items()
    }
    return Delays(
        min_ms=latency.min_us / 1e3,
        avg_ms=latency.mean_us / 1e3,
        p90_ms=ranked["p90"],
        p95_ms=ranked["p95"],
        p99_ms=ranked["p99"],
        max_ms=latency.max_us / 1e3,
    )


def real_seconds(loaded: TableLoad) -> float:
    """Sum of the requests' times / threads, in seconds."""
    service = loaded.summary.service
    return (service.mean_us or 0.0) * service.count / 1e6 / loaded.threads


def _rate(rows: int, seconds: float) -> float:
    return rows / seconds if seconds > 0 else 0.0


def spent_line(loaded: TableLoad) -> str:
    """The line with the two rates. It counts the rows that the server acknowledged."""
    rows, spent, real = loaded.summary.rows_acked, loaded.summary.window_s, real_seconds(loaded)
    return (
        f"Spent {spent:.6f} (real {real:.6f}) seconds to insert rows: {rows} with {loaded.threads} thread(s) "
        f"into {loaded.database.written} {_rate(rows, spent):.2f} (real {_rate(rows, real):.2f}) records/second"
    )


def delay_line(loaded: TableLoad) -> str:
    """The line with the delays; all 0 if no request was answered, as in taosBenchmark."""
    d = delays(loaded.summary.service) or Delays(min_ms=0, avg_ms=0, p90_ms=0, p95_ms=0, p99_ms=0, max_ms=0)
    return (
        f"insert delay, min: {d.min_ms:.4f}ms, avg: {d.avg_ms:.4f}ms, p90: {d.p90_ms:.4f}ms, "
        f"p95: {d.p95_ms:.4f}ms, p99: {d.p99_ms:.4f}ms, max: {d.max_ms:.4f}ms"
    )


def created_line(tables: int, made: int, threads: int, seconds: float) -> str:
    return (
        f"Spent {seconds:.4f} seconds to create {tables} table(s) with {threads} thread(s), already exist 0 table(s), "
        f"actual {made} table(s) pre created, {tables - made} table(s) will be auto created"
    )


def settings_lines(job: Job) -> tuple[str, ...]:
    """The lines that say what will be done, for the confirmation by the user. It never contains the password."""
    lines = [f"host: {job.host}:{job.port}, user: {job.user}, threads: {job.threads}, output: {job.result_file}"]
    for database in job.databases:
        dropped = "is dropped and created anew" if database.drop else "is kept"
        options = "".join(f", {name} {value}" for name, value in database.options)
        lines.append(f"database {database.name}: {dropped}, precision {database.precision}{options}")
        lines += [
            f"  {t.name}: {t.tables} tables {t.prefix}0.., {t.rows_each} rows each, {t.rows_per_request} rows in a "
            f"request, {t.method}, {len(t.columns)} columns, {len(t.tags)} tags"
            for t in database.tables
        ]
    return tuple(lines)


def document(job: Job, done: Sequence[TableLoad], *, interrupted: bool) -> dict[str, Any]:
    """The document of --json. What could not be measured is null."""
    return {
        "schema": 1,
        "host": job.host,
        "port": job.port,
        "interrupted": interrupted,
        "notes": list(job.notes),
        "loads": [_load_document(loaded) for loaded in done],
    }


def _load_document(loaded: TableLoad) -> dict[str, Any]:
    summary, real, measured = loaded.summary, real_seconds(loaded), delays(loaded.summary.service)
    return {
        "database": loaded.database.name,
        "table": loaded.table.name,
        "method": loaded.table.method,
        "tables": loaded.table.tables,
        "vgroups": loaded.vgroups,
        "threads": loaded.threads,
        "outcome": summary.outcome,
        "rows_acked": summary.rows_acked,
        "rows_failed": summary.rows_failed,
        "requests": summary.requests,
        "errors": summary.errors,
        "retries": summary.retries,
        "spent_s": summary.window_s,
        "rows_per_s": summary.rows_per_s,
        "real_s": real,
        "real_rows_per_s": summary.rows_acked / real if real > 0 else None,
        "generator_cpu_s": summary.cpu_window_s,
        "delay": None if measured is None else {name: getattr(measured, name) for name in Delays.__dataclass_fields__},
        "error_kinds": list(loaded.troubles),
    }
