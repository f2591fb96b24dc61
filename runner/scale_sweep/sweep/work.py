"""Makes the Work of the settings: the rows, the operations by weight, the preload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.work.declared import declared, mistakes_of
from scale_sweep.model import Origin, Work, Workload

TRACE_MAX = 100_000_000  # the load generator's limit


def work_of(values: Mapping[str, Any], origin: Mapping[str, Origin]) -> Work:
    """The work of settings that are valid one by one. Raises UsageError."""
    parameters: dict[str, dict[str, str]] = {}
    for (name, parameter), text in values["operation"].items():
        parameters.setdefault(name, {})[parameter] = text
    recent = values["preload.read_recent"]
    operations, mistakes = declared(values["mix"] or {}, parameters, {"recent": f"{recent:g}s"} if recent else {})
    data = _workload(values)
    each = -(-values["preload.rows"] // data.tables)
    work = Work(data=data, operations=operations, preload_rows=each * data.tables, cache=values["method.cache"])
    if operations:
        mistakes = [*mistakes, *mistakes_of(work), *_beside(values, work)]
    if mistakes:
        raise UsageError("\n".join(mistakes), remedy="docs/reads.md has every operation with its parameters")
    return work


def _beside(values: Mapping[str, Any], work: Work) -> list[str]:
    """Settings that contradict reads or a preload."""
    rows = values["load.rows"] is not None or values["load.rows_per_level"] is not None
    contradictions = []
    if work.cache != "as-is" and not work.preload_rows:
        contradictions.append(f"--cache {work.cache}: no rows are there before the load; load some, like --preload 1M")
    if values["load.rate"] and any(operation.is_apart for operation in work.operations):
        reason = "operations have separate connections; give each a rate, like --operation write.rate=10k"
        contradictions.append(f"--rate: is the rate of one mix, and {reason}")
    if work.counts_requests and rows:
        contradictions.append("--rows: fixed work is rows that are written; a load that reads has a window: --duration")
    if (work.counts_requests or work.preload_rows) and values["load.generator"] != "scale":
        contradictions.append(f"--load-generator: {values['load.generator']} only writes, and into an empty database")
    if values["load.trace_max"] > TRACE_MAX:
        contradictions.append(f"--trace-max: {TRACE_MAX:,} at most; each takes 40 bytes of memory while the load runs")
    if values["load.trace"] and values["load.generator"] != "scale":
        contradictions.append(f"--trace: {values['load.generator']} does not report each request")
    if values["workload.disorder"] and values["load.generator"] != "scale":
        contradictions.append(f"--disorder: {values['load.generator']} has a fixed order")
    return contradictions


def _workload(v: Mapping[str, Any]) -> Workload:
    return Workload(
        tables=v["workload.tables"],
        columns=v["workload.columns"],
        tags=v["workload.tag_columns"],
        values=v["workload.values"],
        rows_per_request=v["workload.rows_per_request"] or 0,
        interlace_rows=v["workload.interlace_rows"],
        start_ms=v["workload.start_ms"],
        step_ms=v["workload.step_ms"],
        text=v["workload.text"],
        requests_per_table=v["workload.requests_per_table"],
        period_rows=v["workload.period_rows"],
        decimals=v["workload.decimals"],
        disorder=v["workload.disorder"] or "",
        disorder_percent=v["workload.disorder_ratio"],
        disorder_lambda=v["workload.disorder_lambda"],
        disorder_max_k=v["workload.disorder_max_k"],
        disorder_rows=v["workload.disorder_rows"],
    )
