"""Merges several load processes into one; percentiles are never averaged. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hdrh.histogram import HdrHistogram

from scale_sweep.loadgen.protocol import Trouble
from scale_sweep.model.loads import Interval, Latency, LoadSummary, OperationSummary

_OUTCOMES = ("ok", "errors", "interrupted", "fatal")
_SUMMARY_ADDED = "rows_acked rows_failed rows_unanswered requests errors retries threads send_s make_s".split()
APART_NS = 5_000_000  # of processes that wake at the same moment, on CPUs that are busy
_QUANTILES = {
    "p10_us": 10.0,
    "p25_us": 25.0,
    "p75_us": 75.0,
    "p50_us": 50.0,
    "p90_us": 90.0,
    "p95_us": 95.0,
    "p99_us": 99.0,
    "p999_us": 99.9,
}


def merge_summaries(parts: Sequence[LoadSummary]) -> LoadSummary:
    """The worst outcome counts. A process that ended before its window adds no time."""
    if len(parts) == 1:
        return parts[0]
    seen = [p for p in parts if p.window_end_ns > p.window_start_ns] or parts[:1]
    start, end = min(p.window_start_ns for p in seen), max(p.window_end_ns for p in seen)
    window_s = (end - start) / 1e9
    rows = sum(p.rows_window for p in parts)
    offered = [p.offered_rows_per_s for p in parts if p.offered_rows_per_s is not None]
    cpu = [p.cpu_window_s for p in parts if p.cpu_window_s is not None]
    sums: dict[str, Any] = {name: sum(getattr(p, name) for p in parts) for name in _SUMMARY_ADDED}
    runs = _sum_if_known([p.table_rows for p in parts])
    return LoadSummary(
        outcome=max((p.outcome for p in parts), key=_worse),
        window_s=window_s,
        window_start_ns=start,
        window_end_ns=end,
        last_ack_ns=max((p.last_ack_ns for p in parts if p.last_ack_ns is not None), default=None),
        rows_window=rows,
        rows_per_s=rows / window_s if window_s > 0 else None,
        **sums,
        cpu_window_s=sum(cpu) if cpu else None,
        offered_rows_per_s=sum(offered) if offered else None,
        response=merge_latencies([p.response for p in parts]),
        service=merge_latencies([p.service for p in parts]),
        partitions=tuple(map(sum, zip(*(p.partitions for p in parts), strict=True))),
        late=_merged(p.late for p in parts),
        newest_row=max((p.newest_row for p in parts if p.newest_row is not None), default=None),
        rows_distinct=_sum_if_known([p.rows_distinct for p in parts]),
        table_rows=None if runs is None else tuple(sorted(runs)),
        operations=_merge_operations(parts),
        overdue=_sum_if_known([p.overdue for p in parts]),
        worker_cores=_sum_if_known([p.worker_cores for p in seen]),
        is_answered=all(p.is_answered for p in parts),
    )


def _merged(parts: Iterable[Latency | None]) -> Latency | None:
    known = [part for part in parts if part is not None]
    return merge_latencies(known) if known else None


def merge_troubles(parts: Iterable[Trouble]) -> list[Trouble]:
    merged: dict[str, Trouble] = {}
    for part in parts:
        known = merged.get(part.code)
        merged[part.code] = replace(known, count=known.count + part.count) if known else part
    return list(merged.values())


def _sum_if_known(values: Sequence[Any]) -> Any:
    return None if None in values else sum(values[1:], values[0])


def odd_window(parts: Sequence[LoadSummary], *, ends: bool, error_ns: int = 0) -> str:
    """Which process had another window than the first: their sum would be a rate that never existed. ends: windows must
    also end together. error_ns: between the processes' clocks."""
    seen = [(number, p) for number, p in enumerate(parts, 1) if p.window_end_ns > p.window_start_ns]
    for number, part in seen[1:]:
        began_ns = part.window_start_ns - seen[0][1].window_start_ns
        ended_ns = part.window_end_ns - seen[0][1].window_end_ns if ends else 0
        apart_ns = began_ns if abs(began_ns) >= abs(ended_ns) else ended_ns
        if abs(apart_ns) > APART_NS + error_ns:
            what = "began" if apart_ns == began_ns else "ended"
            late = "after" if apart_ns > 0 else "before"
            return (
                f"the window of process {number} of {len(parts)} of the load generator {what} "
                f"{abs(apart_ns) / 1e9:.3f} s {late} that of process {seen[0][0]}"
            )
    return ""


def _worse(outcome: str) -> int:
    return _OUTCOMES.index(outcome) if outcome in _OUTCOMES else len(_OUTCOMES)


_ADDED = (
    "requests errors retries units_acked units_window rows_window values_window bytes_window empty_window failed "
    "check_cpu_s"
).split()


def _merge_operations(parts: Sequence[LoadSummary]) -> tuple[OperationSummary, ...]:
    by_name: dict[str, list[OperationSummary]] = {}
    for operation in (operation for part in parts for operation in part.operations):
        by_name.setdefault(operation.name, []).append(operation)
    return tuple(map(_merge_operation, by_name.values()))


def _merge_operation(parts: Sequence[OperationSummary]) -> OperationSummary:
    sums: dict[str, Any] = {name: _sum_if_known([getattr(p, name) for p in parts]) for name in _ADDED}
    sums |= {name: _merged(getattr(p, name) for p in parts) for name in ("response", "service")}
    slowest = max((p.slowest_worker_s for p in parts if p.slowest_worker_s is not None), default=None)
    return replace(parts[0], **sums, slowest_worker_s=slowest)


def merge_latencies(parts: Sequence[Latency]) -> Latency:
    """With fewer than 10/(1-q) samples a percentile is None."""
    merged = _added([part.hdr for part in parts])
    if not merged.get_total_count():
        return replace(parts[0], count=0)
    least = min(p.min_us for p in parts if p.min_us is not None)
    most = max(p.max_us for p in parts if p.max_us is not None)
    return _latency(merged, _unit_us(parts, merged), least, most)


def latency_of(hdrs: Sequence[str]) -> Latency:
    if not hdrs:
        empty: dict[str, Any] = dict.fromkeys(Latency.__dataclass_fields__) | {"count": 0, "hdr": ""}
        return Latency(**empty)
    merged = _added(hdrs)
    return _latency(merged, 1e-3, merged.get_min_value() / 1e3, merged.get_max_value() / 1e3)


def _added(hdrs: Sequence[str]) -> HdrHistogram:
    merged = HdrHistogram.decode(hdrs[0])
    for hdr in hdrs[1:]:
        merged.decode_and_add(hdr)
    return merged


def _latency(merged: HdrHistogram, scale: float, least_us: float, most_us: float) -> Latency:
    count = merged.get_total_count()
    values = {
        name: merged.get_value_at_percentile(q) * scale if count >= 10 / (1 - q / 100) - 1e-9 else None
        for name, q in _QUANTILES.items()
    }
    return Latency(
        count=count,
        min_us=least_us,
        mean_us=merged.get_mean_value() * scale,
        max_us=most_us,
        hdr=merged.encode().decode("ascii"),
        **values,
    )


def _unit_us(parts: Sequence[Latency], merged: HdrHistogram) -> float:
    """Nanoseconds if the largest value says so, else microseconds."""
    largest = max(p.max_us for p in parts if p.max_us is not None)
    return 1e-3 if merged.get_max_value() > 10 * largest else 1.0


_INTERVAL_ADDED = ("rows", "rows_total", "requests", "errors", "retries")
_INTERVAL_WORST = ("response_us_p99", "response_us_max", "service_us_p99", "service_us_max")


def merge_interval(parts: Sequence[Interval]) -> Interval:
    """p50 cannot be merged. p99 and max are the worst of the parts, the time that of the first process to report."""
    if len(parts) == 1:
        return parts[0]
    first = min(parts, key=lambda p: p.monotonic_ns)
    backlog = [p.backlog_rows for p in parts if p.backlog_rows is not None]
    sums: dict[str, Any] = {n: sum(getattr(p, n) for p in parts) for n in _INTERVAL_ADDED}
    worst: dict[str, Any] = {
        name: max((value for p in parts if (value := getattr(p, name)) is not None), default=None)
        for name in _INTERVAL_WORST
    }
    return replace(
        first,
        **sums,
        **worst,
        response_us_p50=None,
        service_us_p50=None,
        backlog_rows=sum(backlog) if backlog else None,
        cpu_s=_sum_if_known([p.cpu_s for p in parts]),
        response_hdr=tuple(hdr for p in parts for hdr in p.response_hdr),
        service_hdr=_service_hdr(parts),
        **_merge_counts(parts),
    )


def _service_hdr(parts: Sequence[Interval]) -> tuple[str, ...]:
    """In a closed loop they are the response times."""
    if not any(part.service_hdr for part in parts):
        return ()
    return tuple(hdr for part in parts for hdr in (part.service_hdr or part.response_hdr))


def _merge_counts(parts: Sequence[Interval]) -> dict[str, Any]:
    """The percentile of one operation is that of all requests of the part."""
    counts: dict[str, int] = {}
    worst: dict[str, float] = {}
    for part in parts:
        alone = len(part.operations) == 1 and part.response_us_p99 is not None
        own = dict.fromkeys(part.operations, part.response_us_p99 or 0.0) if alone else part.operations_p99_us
        for name, count in part.operations.items():
            counts[name] = counts.get(name, 0) + count
            if name in own:
                worst[name] = max(worst.get(name, 0.0), own[name])
    return {"operations": counts, "operations_p99_us": worst}
