"""A measured load → the lines that scripts written for taosBenchmark read, and its JSON document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

from scale_sweep.model import Latency, LoadSummary
from scale_sweep.taosbenchmark.job import Connection, Database, SuperTable

_PERCENTILES = {"p90": 90.0, "p95": 95.0, "p99": 99.0}


@dataclass(frozen=True, kw_only=True)
class Delays:
    """From sending to answer."""

    min_ms: float
    avg_ms: float
    p90_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


NONE = Delays(min_ms=0, avg_ms=0, p90_ms=0, p95_ms=0, p99_ms=0, max_ms=0)


@dataclass(frozen=True, kw_only=True)
class TableLoad:
    database: Database
    table: SuperTable
    threads: int
    vgroups: int
    summary: LoadSummary
    troubles: tuple[str, ...]


def delays(latency: Latency) -> Delays | None:
    """None if no request was answered. A percentile of few requests is the nearest of them."""
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


def in_ms(d: Delays) -> str:
    return (
        f"min: {d.min_ms:.4f}ms, avg: {d.avg_ms:.4f}ms, p90: {d.p90_ms:.4f}ms, "
        f"p95: {d.p95_ms:.4f}ms, p99: {d.p99_ms:.4f}ms, max: {d.max_ms:.4f}ms"
    )


def real_seconds(loaded: TableLoad) -> float:
    """Sum of the requests' times / threads."""
    service = loaded.summary.service
    return (service.mean_us or 0.0) * service.count / 1e6 / loaded.threads


def per_second(count: float, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0


def spent_line(loaded: TableLoad) -> str:
    """It counts the rows that the server acknowledged."""
    rows, spent, real = loaded.summary.rows_acked, loaded.summary.window_s, real_seconds(loaded)
    rates = f"{per_second(rows, spent):.2f} (real {per_second(rows, real):.2f})"
    return (
        f"Spent {spent:.6f} (real {real:.6f}) seconds to insert rows: {rows} with {loaded.threads} thread(s) "
        f"into {loaded.database.written} {rates} records/second"
    )


def delay_line(loaded: TableLoad) -> str:
    """All 0 if no request was answered."""
    return f"insert delay, {in_ms(delays(loaded.summary.service) or NONE)}"


def created_line(tables: int, made: int, threads: int, seconds: float) -> str:
    return (
        f"Spent {seconds:.4f} seconds to create {tables} table(s) with {threads} thread(s), already exist 0 table(s), "
        f"actual {made} table(s) pre created, {tables - made} table(s) will be auto created"
    )


def head(job: Connection, *, interrupted: bool) -> dict[str, Any]:
    """The begin of each document, in which null could not be measured."""
    return {
        "schema": 1,
        "host": job.host,
        "port": job.port,
        "interrupted": interrupted,
        "notes": list(job.notes),
    }


def load_document(loaded: TableLoad) -> dict[str, Any]:
    """Figures for --json."""
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
        "delay": asdict(measured) if measured else None,
        "error_kinds": list(loaded.troubles),
    }
