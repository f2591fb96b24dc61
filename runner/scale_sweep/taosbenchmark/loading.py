"""Parts of each load of `scale load`: the library, one run of the load generator, its figures and lines."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from hdrh.histogram import HdrHistogram

from scale_sweep.base.errors import LoadError, PreflightError, StoreError
from scale_sweep.loadgen.handle import Every, watch
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.verbs import run_verb
from scale_sweep.model.loads import Interval, Latency, LoadSummary
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
    return f"insert delay, {in_ms(delays(loaded.summary.service) or NONE)}"


def created_line(tables: int, made: int, threads: int, seconds: float) -> str:
    return (
        f"Spent {seconds:.4f} seconds to create {tables} table(s) with {threads} thread(s), already exist 0 table(s), "
        f"actual {made} table(s) pre created, {tables - made} table(s) will be auto created"
    )


def head(job: Connection, *, interrupted: bool) -> dict[str, Any]:
    return {"schema": 1, "host": job.host, "port": job.port, "interrupted": interrupted, "notes": list(job.notes)}


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


LOAD_S_MAX = 30 * 86_400.0
DRAIN_S = 20.0
LIBRARY_S = 20.0
RESULT = "RESULT"  # lines that taosBenchmark writes to standard output, with the level INFO

Say = Callable[[str, str], None]
T = TypeVar("T")


def need_library(program: str, door: Mapping[str, str]) -> None:
    """Raises PreflightError if the load generator cannot open it. door: a spec that reaches the server."""
    try:
        run_verb(program, "library", door, "", "", LIBRARY_S)
    except LoadError as error:
        remedy = "install TDengine's client, or name its libtaos by --library or its home by SCALE_TDENGINE_HOME"
        raise PreflightError(error.message, remedy=remedy) from None


@contextmanager
def saying(job: Connection, to_console: Say) -> Iterator[Say]:
    """Into the result file too, first the job's notes. Raises StoreError."""
    try:
        file = open(job.result_file, "a", encoding="utf-8", opener=_open_at_once)
    except OSError as error:
        raise StoreError(f"-o {job.result_file}: {error.strerror}", remedy="give another with -o") from None
    with file:

        def say(level: str, text: str) -> None:
            line = stamped(datetime.now(), "INFO" if level == RESULT else level, text)
            to_console(level, line)
            file.write(line + "\n")
            file.flush()

        for note in job.notes:
            say("INFO", note)
        yield say


def stamped(now: datetime, level: str, text: str) -> str:
    return f"[{now:%m/%d %H:%M:%S.%f}] {level}: {text}"


@contextmanager
def temporary_file(suffix: str, content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(prefix="scale-", suffix=suffix) as file:
        file.write(content)
        file.flush()
        yield file.name


def reporting(every_s: float, say: Say, line: Callable[[Interval], str]) -> Callable[[Interval], None]:
    due = Every(every_s)

    def report(second: Interval) -> None:
        text = line(second)
        if due.elapsed_s() is not None:
            say("INFO", text)

    return report


def _open_at_once(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    os.set_blocking(descriptor, True)
    return descriptor


@dataclass(frozen=True, kw_only=True)
class OneLoad:
    summary: LoadSummary | None  # None without one
    raw: Sequence[str]  # its output
    troubles: tuple[str, ...]
    failure: LoadError | None  # why it failed; None if it did not
    interrupted: bool


@dataclass(kw_only=True)
class LoadsDone(Generic[T]):
    done: list[T] = field(default_factory=list)
    interrupted: bool = False
    failure: LoadError | None = None  # why no more follow; the caller raises it after the lines were shown

    @property
    def is_over(self) -> bool:
        return self.interrupted or self.failure is not None


def run_load(program: str, spec: Mapping[str, str], password: str, on_interval: Callable[[Interval], None]) -> OneLoad:
    """To its end, or until Ctrl-C. Raises LoadError if it does not start."""
    with LoadProcesses(program, [spec], tuple(sorted(os.sched_getaffinity(0))), password) as load:
        end = watch(load, on_interval, LOAD_S_MAX, DRAIN_S)
        return OneLoad(
            summary=load.summary(),
            raw=load.raw,
            troubles=tuple(f"{t.code} {t.message}" for t in load.troubles),
            failure=end.failure,
            interrupted=end.interrupted,
        )
