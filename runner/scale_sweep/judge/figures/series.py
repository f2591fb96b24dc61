"""The time series of a trial: one row a second from the end of the warm-up, from intervals and samples. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.judge.figures.rated import RatedInterval
from scale_sweep.model import Sample

SERIES_COLUMNS = (
    "rows_per_s",
    "requests_per_s",
    "server_cpu_cores",
    "generator_cpu_cores",
    "disk_write_mb_per_s",
    "memory_used_gb",
    "memory_available_gb",
    "response_ms_p99",
    "server_system_cores",
    "server_page_faults_per_s",
)

SHORTEST_S = 0.5  # a last, shorter interval has too few requests for a rate

Row = tuple[float, Mapping[str, float | None]]


def time_series(intervals: Sequence[RatedInterval], samples: Sequence[Sample], start_ns: int) -> tuple[Row, ...]:
    """Rows ordered by time. The load generator's and the sampler's rows stay separate, each with its own columns."""
    rows = [*_from_intervals(intervals, start_ns), *_from_samples(samples, start_ns)]
    return tuple(sorted(rows, key=lambda row: row[0]))


def _from_intervals(intervals: Sequence[RatedInterval], start_ns: int) -> list[Row]:
    rows: list[Row] = []
    before = 0.0
    for i in intervals:
        length = i.t_s - (before if i.t_s > before else 0.0)  # a further load counts its time from 0 again
        before = i.t_s
        p99 = i.response_us_p99 / 1000 if i.response_us_p99 is not None else None
        if length > SHORTEST_S:
            values = {
                "rows_per_s": i.rows / length if i.rows is not None else None,
                "requests_per_s": i.requests / length if i.requests is not None else None,
                "response_ms_p99": p99,
            }
            rows.append(((i.monotonic_ns - start_ns) / 1e9, values))
    return rows


def _from_samples(samples: Sequence[Sample], start_ns: int) -> list[Row]:
    rows: list[Row] = []
    for old, new in zip(samples, samples[1:], strict=False):
        seconds = (new.monotonic_ns - old.monotonic_ns) / 1e9
        if seconds <= 0:
            continue

        def rate(a: float | None, b: float | None, seconds: float = seconds) -> float | None:
            return (b - a) / seconds if a is not None and b is not None and b >= a else None

        written = rate(old.disk_written_bytes_total, new.disk_written_bytes_total)
        used, available = new.server.memory_bytes, new.memory_available_bytes
        rows.append(
            (
                (new.monotonic_ns - start_ns) / 1e9,
                {
                    "server_cpu_cores": rate(old.server.cpu_s_total, new.server.cpu_s_total),
                    "generator_cpu_cores": rate(old.generator.cpu_s_total, new.generator.cpu_s_total),
                    "server_system_cores": rate(old.server.system_s_total, new.server.system_s_total),
                    "server_page_faults_per_s": rate(old.server.page_faults_total, new.server.page_faults_total),
                    "disk_write_mb_per_s": written / 1e6 if written is not None else None,
                    "memory_used_gb": used / 1e9 if used is not None else None,
                    "memory_available_gb": available / 1e9 if available is not None else None,
                },
            )
        )
    return rows
