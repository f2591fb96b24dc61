"""The measured load → IoT-benchmark's two matrices, and the JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

from scale_sweep.iotbenchmark.keys import OPERATIONS
from scale_sweep.iotbenchmark.spec import IotJob
from scale_sweep.model import LoadSummary, OperationSummary

_COUNTS = ("okOperation", "okPoint", "failOperation", "failPoint", "throughput")
_PERCENTILES = {"P10": 10.0, "P25": 25.0, "MEDIAN": 50.0, "P75": 75.0, "P90": 90.0, "P95": 95.0, "P99": 99.0}
_PERCENTILES |= {"P999": 99.9}
LATENCIES = ("AVG", "MIN", *_PERCENTILES, "MAX", "SLOWEST_THREAD")
_WIDE, _NARROW = 25, 12


@dataclass(frozen=True, kw_only=True)
class LoadDone:
    summary: LoadSummary
    schema_s: float  # of creating the schema
    rows_counted: int | None  # by the database, None: not counted
    troubles: tuple[str, ...]  # the first errors
    interrupted: bool


@dataclass(frozen=True, kw_only=True)
class Row:
    operation: str  # here
    name: str  # there. Latencies in ms, 0 where nothing was answered
    counts: Mapping[str, float]
    latencies: Mapping[str, float]


def rows_of(job: IotJob, summary: LoadSummary) -> list[Row]:
    """In the order of OPERATION_PROPORTION; those that were not asked for with zeros."""
    known = {operation.name: operation for operation in summary.operations}
    return [_row(job, summary, kind, name, known.get(kind)) for kind, name in OPERATIONS]


def _row(job: IotJob, summary: LoadSummary, kind: str, name: str, operation: OperationSummary | None) -> Row:
    if operation is None:
        return Row(operation=kind, name=name, counts=dict.fromkeys(_COUNTS, 0), latencies=dict.fromkeys(LATENCIES, 0.0))
    if operation.rows_window is None:  # it writes
        points, failed_points = operation.units_window * job.values_per_row, summary.rows_failed * job.values_per_row
    else:
        points, failed_points = operation.rows_window * job.sensors_of(kind), 0
    counts = {
        "okOperation": operation.service.count if operation.service else 0,
        "okPoint": points,
        "failOperation": operation.failed or 0,
        "failPoint": failed_points,
        "throughput": points / summary.window_s if summary.window_s > 0 else 0.0,
    }
    return Row(operation=kind, name=name, counts=counts, latencies=_latencies(operation))


def _latencies(operation: OperationSummary) -> dict[str, float]:
    service = operation.service
    if service is None or not service.count or service.min_us is None or service.max_us is None:
        return dict.fromkeys(LATENCIES, 0.0)
    histogram = HdrHistogram.decode(service.hdr)
    least, most = service.min_us / 1e3, service.max_us / 1e3
    ranked = {
        name: min(max(histogram.get_value_at_percentile(q) / 1e6, least), most) for name, q in _PERCENTILES.items()
    }
    slowest = (operation.slowest_worker_s or 0.0) * 1e3
    return {"AVG": (service.mean_us or 0.0) / 1e3, "MIN": least, **ranked, "MAX": most, "SLOWEST_THREAD": slowest}


def matrix_lines(job: IotJob, done: LoadDone) -> list[str]:
    """As IoT-benchmark ends."""
    rows = rows_of(job, done.summary)
    heads = ("Operation", *_COUNTS[:-1], "throughput(point/s)")
    lines = [
        f"Create schema cost {done.schema_s:.2f} second",
        f"Test elapsed time (not include schema creation): {done.summary.window_s:.2f} second",
        "Result Matrix".center(129, "-"),
        "".join(head.ljust(_WIDE) for head in heads),
    ]
    for row in rows:
        cells = [row.name, *(f"{row.counts[n]}" for n in _COUNTS[:-1]), f"{row.counts['throughput']:.2f}"]
        lines.append("".join(cell.ljust(_WIDE) for cell in cells))
    lines += ["-" * 129, "", "Latency (ms) Matrix".center(169, "-")]
    lines.append("Operation".ljust(_WIDE) + "".join(name.ljust(_NARROW) for name in LATENCIES))
    for row in rows:
        lines.append(row.name.ljust(_WIDE) + "".join(f"{row.latencies[name]:.2f}".ljust(_NARROW) for name in LATENCIES))
    return [*(line.rstrip() for line in lines), "-" * 169]


def document(job: IotJob, done: LoadDone) -> dict[str, Any]:
    """Null is what could not be measured."""
    summary = done.summary
    return {
        "schema": 1,
        "database": job.database,
        "target": job.target,
        "host": job.host,
        "port": job.port,
        "interrupted": done.interrupted,
        "outcome": summary.outcome,
        "notes": list(job.notes),
        "create_schema_s": done.schema_s,
        "elapsed_s": summary.window_s,
        "rows_acked": summary.rows_acked,
        "rows_distinct": summary.rows_distinct,
        "rows_counted": done.rows_counted,
        "operations": [
            {"operation": row.operation, "name": row.name, **row.counts, "latency_ms": dict(row.latencies)}
            for row in rows_of(job, summary)
            if row.operation in {operation.name for operation in summary.operations}
        ],
        "error_kinds": list(done.troubles),
    }
