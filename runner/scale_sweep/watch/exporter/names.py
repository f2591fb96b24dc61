"""Every metric, declared once: docs/metrics.md is generated from this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "gauge", "summary", "info"]
Part = Literal["run", "now", "trial", "curve"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    name: str
    kind: Kind
    labels: tuple[str, ...]
    meaning: str
    when: str
    part: Part


COMMON = ("run", "sweep")
QUANTILES = ("0.5", "0.99", "1")


def _m(part: Part, name: str, kind: Kind, labels: str, meaning: str, when: str = "") -> Metric:
    return Metric(name=f"scale_{name}", kind=kind, labels=tuple(labels.split()), meaning=meaning, when=when, part=part)


_SAMPLED = "from the second sample on"
_OPEN = "open loop (--rate)"
_SLO = "searches for an objective (--slo)"
_READS = "loads that do not only write"
_WRITES = "loads that write"
_CPU_BOUND = "the CPUs were the bottleneck"
_DISKS = "the disk is known to the kernel"

METRICS: tuple[Metric, ...] = (
    # The run
    _m("run", "run_info", "info", "target runtime axis method unit",
       "1; axis: the swept resource; unit: rows or requests"),
    _m("run", "run_planned_trials", "gauge", "", "Number of trials in the plan"),
    _m("run", "run_finished_trials_total", "counter", "verdict", "Trials that ended, for every verdict"),
    _m("run", "run_progress_ratio", "gauge", "", "Share of the plan that is done, including the running trial"),
    _m("run", "run_remaining_seconds", "gauge", "", "Estimated time left"),
    _m("run", "disk_ceiling_bytes_per_second", "gauge", "disk",
       "Ceiling of the disk alone: sequential writes, measured with fio",
       "disk sweeps"),
    # The running trial
    _m("now", "trial_running", "gauge", "trial", "1 while the trial runs"),
    _m("now", "trial_phase", "gauge", "trial phase", "1 for the current phase, 0 for the others"),
    _m("now", "trial_setting", "gauge", "trial setting",
       "Resources and knobs of the trial: the level by the name of the axis, cores, disks, and knobs that are numbers"),
    _m("now", "achieved_rows_per_second", "gauge", "trial", "Rows written and acknowledged in the last second",
       _WRITES),
    _m("now", "achieved_requests_per_second", "gauge", "trial",
       "Requests answered in the last second, of the operations without a separate rate", _READS),
    _m("now", "operation_requests_total", "counter", "trial operation", "Requests of each operation",
       "under load"),
    _m("now", "operation_response_time_seconds", "summary", "trial operation quantile",
       "Response time of each operation's last 1,000 requests or more: 0.99",
       "1,000 requests"),
    _m("now", "offered_rows_per_second", "gauge", "trial", "Offered rate of rows", _OPEN),
    _m("now", "offered_requests_per_second", "gauge", "trial", "Offered rate of requests", f"{_OPEN}, {_READS}"),
    _m("now", "objective_seconds", "gauge", "trial condition", "Limit of a response time, by the objective", _SLO),
    _m("now", "search_steps_total", "counter", "trial", "Steps of the search that have ended", _SLO),
    _m("now", "search_held_rows_per_second", "gauge", "trial", "Highest offered rate that held the objective", _SLO),
    _m("now", "search_held_requests_per_second", "gauge", "trial", "Highest offered rate that held the objective",
       f"{_SLO}, {_READS}"),
    _m("now", "search_failed_rows_per_second", "gauge", "trial", "Lowest offered rate that did not hold the objective",
       _SLO),
    _m("now", "search_failed_requests_per_second", "gauge", "trial",
       "Lowest offered rate that did not hold the objective", f"{_SLO}, {_READS}"),
    _m("now", "generator_ceiling_rows_per_second", "gauge", "trial",
       "Ceiling of the load generator, with these rows on these CPUs", "it was measured"),
    _m("now", "generator_ceiling_requests_per_second", "gauge", "trial",
       "Ceiling of the load generator, with reads answered from memory", "runs of older versions that read"),
    _m("now", "backlog_rows", "gauge", "trial", "Rows that are due and not acknowledged", _OPEN),
    _m("now", "backlog_requests", "gauge", "trial", "Requests that are due and not answered", f"{_OPEN}, {_READS}"),
    _m("now", "rows_acknowledged_total", "counter", "trial", "Rows that the server acknowledged, warm-up included",
       "under load"),
    _m("now", "requests_total", "counter", "trial", "Requests that were answered", "under load"),
    _m("now", "errors_total", "counter", "trial", "Requests that failed", "under load"),
    _m("now", "retries_total", "counter", "trial", "Requests that were sent again", "under load"),
    _m("now", "response_time_seconds", "summary", "trial quantile",
       "Response time of the last second's requests; quantile 1 is the longest",
       "enough requests"),
    _m("now", "service_time_seconds", "summary", "trial quantile",
       "The same from the sending; quantile 1 is the longest",
       "enough requests"),
    _m("now", "cpu_seconds_total", "counter", "trial side",
       "CPU time of the server and of the load generator", "sampled"),
    _m("now", "cpu_used_cores", "gauge", "trial side", "Cores used between the last two samples", _SAMPLED),
    _m("now", "cpu_given_cores", "gauge", "trial side", "Cores that the server or the load generator may use"),
    _m("now", "throttled_seconds_total", "counter", "trial",
       "Time in which the kernel throttled the server's control group",
       "the control group has a quota"),
    _m("now", "thread_pool_cpu_seconds_total", "counter", "trial pool",
       "CPU time of the server's threads by name; after 48 names, the rest is `other`",
       "the target's threads have names"),
    _m("now", "memory_used_bytes", "gauge", "trial side",
       "Memory of the server or the load generator, without page cache", "sampled"),
    _m("now", "host_memory_available_bytes", "gauge", "trial", "Available memory of the host", "sampled"),
    _m("now", "host_cpu_seconds_total", "counter", "trial",
       "CPU time of the whole machine, without idle time", "sampled"),
    _m("now", "host_cpu_stolen_seconds_total", "counter", "trial",
       "CPU time that the hypervisor gave to other machines", "sampled"),
    _m("now", "pressure_seconds_total", "counter", "trial resource",
       "Time in which some task waited for cpu, io or memory (PSI)", "the kernel has PSI"),
    _m("now", "disk_written_bytes_total", "counter", "trial disk", "Bytes written to the device", _DISKS),
    _m("now", "disk_read_bytes_total", "counter", "trial disk", "Bytes read from the device", _DISKS),
    _m("now", "disk_write_bytes_per_second", "gauge", "trial disk",
       "Bytes per second written between the last two samples", _SAMPLED),
    _m("now", "disk_utilisation_ratio", "gauge", "trial disk", "Share of the time with requests in flight", _SAMPLED),
    _m("now", "disk_queue_requests", "gauge", "trial disk", "Mean number of requests in flight", _SAMPLED),
    _m("now", "disk_free_bytes", "gauge", "trial disk", "Free space of the file system", "sampled"),
    # Every trial that began
    _m("trial", "trial_info", "info", "trial level replicate role target variant",
       "1; the labels describe the trial. Only trials with the role `point` are on the curve"),
    _m("trial", "trial_start_time_seconds", "gauge", "trial", "Start of the trial, seconds since 1970"),
    _m("trial", "trial_end_time_seconds", "gauge", "trial", "End of the trial, seconds since 1970", "the trial ended"),
    _m("trial", "trial_verdict", "gauge", "trial level target variant verdict",
       "1 for the verdict of the trial", "the trial ended"),
    _m("trial", "trial_mark", "gauge", "trial level target variant mark",
       "1 for each mark of its window: quick, buffered rate (fewer than two commit cycles)",
       "the window has a mark"),
    _m("trial", "trial_requests_per_second", "gauge", "trial level target variant",
       "Requests answered in the window, per second, of the operations without a separate rate", _READS),
    _m("trial", "trial_operation_requests_per_second", "gauge", "trial level target variant operation",
       "Answered requests of each operation over the window", _READS),
    _m("trial", "trial_operation_response_time_seconds", "summary", "trial level target variant operation quantile",
       "Of each operation over the window: 0.5 and 0.99", "enough requests"),
    _m("trial", "trial_rows_per_second", "gauge", "trial level target variant",
       "Rows written and acknowledged in the window, per second", _WRITES),
    _m("trial", "trial_durable_rows_per_second", "gauge", "trial level target variant",
       "Acknowledged rows per second, from the first request to the end of the flush", "it was measured"),
    _m("trial", "trial_rows_per_cpu_second", "gauge", "trial level target variant",
       "Acknowledged rows of the window for each second of CPU time that the server used in it", _CPU_BOUND),
    _m("trial", "trial_requests_per_cpu_second", "gauge", "trial level target variant",
       "The same, of requests", f"{_READS}; {_CPU_BOUND}"),
    _m("trial", "trial_rows_counted", "gauge", "trial",
       "Rows that the database counted after the load", "it was counted"),
    _m("trial", "trial_cpu_used_cores", "gauge", "trial side", "Cores used over the window", "it was measured"),
    _m("trial", "trial_response_time_seconds", "summary", "trial quantile", "Over the window: 0.5, 0.95, 0.99 and 1",
       "enough requests"),
    # The curve, from the fitted trials so far
    _m("curve", "curve_rows_per_second", "gauge", "level target variant",
       "Mean of the level's fitted trials, with significant drift removed", "loads that only write"),
    _m("curve", "curve_requests_per_second", "gauge", "level target variant", "The same, of requests", _READS),
    _m("curve", "curve_valid_trials", "gauge", "level target variant",
       "Fitted trials of the level (VALID and SOFTWARE_BOTTLENECK)"),
    _m("curve", "curve_speedup_ratio", "gauge", "level target variant",
       "Throughput divided by that of the first level"),
    _m("curve", "curve_efficiency_ratio", "gauge", "level target variant",
       "Speedup divided by the ratio of the levels"),
    _m("curve", "curve_fitted_rows_per_second", "gauge", "level target variant",
       "The chosen model at every level of the plan", "a model is chosen (at least three levels)"),
    _m("curve", "curve_fitted_requests_per_second", "gauge", "level target variant",
       "The same, of requests", f"a model is chosen, {_READS}"),
    _m("curve", "curve_parameter", "gauge", "model parameter target variant",
       "Parameters of the chosen model: alpha (contention), beta (coherency), gamma (ideal rate, rows/s or requests/s)",
       "a model is chosen"),
)  # fmt: skip

BY_NAME = {m.name: m for m in METRICS}
