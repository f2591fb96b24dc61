"""The measured load → IoT-benchmark's two matrices, the JSON document, and its tables of an SQL database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from hdrh.histogram import HdrHistogram

from scale_sweep.iotbenchmark.config_values import ConfigValues, shown
from scale_sweep.iotbenchmark.keys import KEYS, OPERATIONS
from scale_sweep.iotbenchmark.spec import IotJob, ResultStore
from scale_sweep.model.loads import LoadSummary, OperationSummary
from scale_sweep.results.sqlexport import SqlTable, write
from scale_sweep.server.targets import all_facts

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
    """Null could not be measured."""
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


MYSQL, NONE = "mysql", "none"
PROJECT = "PROJECT_ID"
SECRETS = ("PASSWORD", "TOKEN", "TEST_DATA_STORE_PW")
TEXT_MAX = 150  # characters of a text in IoT-benchmark's tables
_OF_STORE = ("IP", "PORT", "DB", "USER", "PW")
_CSV = "csv"
_STORED = {"okOperation": "okOperationNum", "okPoint": "okPointNum", "failPoint": "failPointNum"}
_STORED |= {"failOperation": "failOperationNum", "throughput": "throughput"}


def read_store(config: ConfigValues, password: str, now: datetime) -> tuple[ResultStore | None, tuple[str, ...]]:
    """And sentences about keys without an effect. password: counts before the file's."""
    kind = config.text("TEST_DATA_PERSISTENCE").lower()
    named = tuple(f"TEST_DATA_STORE_{part}" for part in _OF_STORE if config.says(f"TEST_DATA_STORE_{part}"))
    unused = tuple(f"{key} has no effect: TEST_DATA_PERSISTENCE is not MySQL" for key in named)
    databases = [facts.iot_benchmark_store for facts in all_facts() if facts.iot_benchmark_store]
    if kind in (_CSV, *(name.lower() for name in databases)):
        sentence = "results are printed, and --json prints them as JSON; MySQL stores them in a database"
        return None, (f"TEST_DATA_PERSISTENCE={kind} has no effect: {sentence}", *unused)
    if kind == NONE:
        return None, unused
    if kind != MYSQL:
        kinds = ", ".join(("None", "MySQL", "CSV", *databases))
        config.refuse("TEST_DATA_PERSISTENCE", f"{shown(kind)} is none of {kinds}")
        return None, ()
    host, port = config.text("TEST_DATA_STORE_IP"), config.text("TEST_DATA_STORE_PORT")
    if not re.fullmatch(r"[A-Za-z0-9._:-]{1,253}", host):
        config.refuse("TEST_DATA_STORE_IP", f"{shown(host)} is not an address")
    config.port("TEST_DATA_STORE_PORT", port)
    if not config.says("TEST_DATA_STORE_DB"):
        config.refuse("TEST_DATA_STORE_DB", "is needed: the database that gets the results")
    read = [name for name, key in KEYS.items() if key.how not in ("only", "idle")]
    user, database = (quote(config.text(f"TEST_DATA_STORE_{part}"), safe="") for part in ("USER", "DB"))
    address = f"[{host}]" if ":" in host else host
    name = f"testW_{config.text('DB_SWITCH').partition('-')[0][:5]}_{config.text('REMARK')}"
    store = ResultStore(
        url=f"mysql://{user}@{address}:{port}/{database}",
        password=password or config.text("TEST_DATA_STORE_PW"),
        project=f"{name[: TEXT_MAX - 24]}_{now:%Y_%m_%d_%H_%M_%S}_{now.microsecond // 1000:03d}",
        settings={key: config.text(key)[:TEXT_MAX] for key in read if key not in SECRETS},
    )
    return store, ("TEST_DATA_PERSISTENCE: the configuration and the results are stored, single requests are not",)


def store_config(job: IotJob, client: str) -> None:
    """client: the name of this machine. Raises StoreError."""
    if job.store is not None:
        address = f"{job.host}:{job.port}"
        items = {"MODE": "DEFAULT_TEST_MODE", "ServerIP": address, "CLIENT": client, **job.store.settings}
        _write(job.store, "CONFIG", ("configuration_item",), "configuration_value", items)


def store_results(job: IotJob, done: LoadDone) -> None:
    """Raises StoreError."""
    if job.store is None:
        return
    summary = done.summary
    names = {operation.name for operation in summary.operations}
    results = {
        ("total", "createSchemaTime"): f"{done.schema_s:.6f}",
        ("total", "elapsedTime"): f"{summary.window_s:.6f}",
    }
    for row in rows_of(job, summary):
        if row.operation in names:
            results |= {(row.name, key): f"{row.counts[name]:.15g}" for name, key in _STORED.items()}
            results |= {(row.name, name): f"{value:.6f}" for name, value in row.latencies.items()}
    _write(job.store, "FINAL_RESULT", ("operation", "result_key"), "result_value", results)


def _write(
    store: ResultStore,
    name: str,
    keys: tuple[str, ...],
    value: str,
    items: Mapping[str, str] | Mapping[tuple[str, str], str],
) -> None:
    rows = [(store.project, *(key if isinstance(key, tuple) else (key,)), text) for key, text in items.items()]
    table = SqlTable(
        name=name,
        keys=(PROJECT, *keys),
        kinds=dict.fromkeys((PROJECT, *keys, value), "text"),
        rows=rows,
        run_column=PROJECT,
    )
    write(store.project, (table,), store.url, store.password)
