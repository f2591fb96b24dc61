"""Makes a trial's Measurement from its raw facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from scale_sweep.experiment.work import stores
from scale_sweep.judge.figures.counts_per_second import divided, rated_intervals, requests_per_s, rows_per_s
from scale_sweep.judge.figures.disk_figures import ceiling_mb_per_s, disk_figures, stalled_s
from scale_sweep.judge.figures.operations import milliseconds, operation_figures
from scale_sweep.judge.figures.resource_use import (
    cpu_by_second,
    generator_cores,
    in_flight,
    is_by_cpu,
    others_on_its_cpus,
    stolen_on_its_cpus,
)
from scale_sweep.judge.figures.taken import HostSeries, host_figures
from scale_sweep.judge.figures.trial_facts import TrialFacts, whole_intervals
from scale_sweep.judge.figures.window import WorkTotals, at_equal_speed, measure_window, rate_and_speed
from scale_sweep.judge.verdict.evidence import ResourceUse
from scale_sweep.judge.verdict.steady import modes, stalled_percent, steadiness, troubles
from scale_sweep.model.loads import Latency, LoadSummary
from scale_sweep.model.measured import Measurement
from scale_sweep.model.planned import Trial
from scale_sweep.model.samples import DiskFigures

# Figures of the samples that are stored as they are: those that both records have.
_OF_WINDOW = {(f.name, f.type) for f in fields(ResourceUse)} & {(f.name, f.type) for f in fields(Measurement)}


def measurement(trial: Trial, facts: TrialFacts) -> Measurement:
    """Without the load generator's summary only the sampler's cost is known."""
    acknowledged, facts = rows_acknowledged(facts), as_counted(facts)
    s, cost = facts.summary, facts.sampler_cost
    if s is None or s.window_end_ns <= s.window_start_ns:
        missed = cost.missed_ticks if cost else None
        return Measurement(missed_ticks=missed, ceiling_rows_per_s=facts.ceiling_rows_per_s)
    use = measure_window(facts.samples, s.window_start_ns, s.window_end_ns)
    whole, logical = None, facts.logical_bytes_per_row
    if facts.load_start_ns is not None and facts.flush_end_ns is not None:
        whole = measure_window(facts.samples, facts.load_start_ns, facts.flush_end_ns)
    joules = 1e6 * use.energy_j if use.energy_j is not None else None
    per_row = whole.disk_bytes / s.rows_acked if whole and whole.disk_bytes is not None and s.rows_acked else None
    return replace(
        Measurement(**{name: getattr(use, name) for name, _ in _OF_WINDOW}),
        rows=s.rows_window if trial.work.writes and s.is_counted else None,
        window_s=s.window_s,
        transient_s=facts.transient.seconds if facts.transient else 0.0,
        transient_rate=facts.transient.rate if facts.transient else None,
        rows_per_s=rows_per_s(s, trial.work),
        requests_per_s=requests_per_s(s, trial.work),
        durable_rows_per_s=_durable(trial, facts, s),
        server_cpu_percent=_share(use.server_cpu_cores, trial.cores),
        **_generator(trial, facts, s, use),
        disk_bytes_per_row=per_row,
        disk_busy_percent=max(use.disk_busy_percent.values(), default=None),
        memory_used_gb=divided(use.memory_used_bytes_max, 1e9),
        memory_available_gb=divided(use.memory_available_bytes_min, 1e9),
        **_times("response", s.response),
        **_times("service", s.service),
        late_ms_p99=milliseconds(s.late, ("p99",))["p99"] if s.late is not None else None,
        requests=s.requests,
        errors=s.errors,
        retries=s.retries,
        **acknowledged,
        **_stored_rows(facts),
        ceiling_rows_per_s=facts.ceiling_rows_per_s,
        sampler_cpu_percent=100 * cost.cpu_s / cost.wall_s if cost and cost.wall_s > 0 else None,
        missed_ticks=cost.missed_ticks if cost else None,
        **_busiest(use.threads),
        commits=commits_in_window(facts) if stores(trial.work) else None,
        logical_bytes_per_row=logical,
        write_amplification=per_row / logical if per_row is not None and logical else None,
        stalled_s=stalled_s(rated_intervals(facts.intervals, trial.work)),
        **_rate_figures(trial, facts, s),
        hot_thread=use.hot_thread[0] if use.hot_thread else None,
        hot_thread_cores=use.hot_thread[1] if use.hot_thread else None,
        **_disks(facts, whole),
        **_processors(use, trial),
        **_of_account(use, trial, s),
        data_gb=divided(facts.data_bytes, 1e9),
        joules_per_million_rows=divided(joules, s.rows_window) if s.rows_window and trial.work.writes else None,
        operations=operation_figures(s, facts.answers) if trial.work.counts_requests else {},
        **_preload(facts),
    )


def _generator(trial: Trial, facts: TrialFacts, summary: LoadSummary, use: ResourceUse) -> dict[str, Any]:
    cores = generator_cores(summary, use)
    series = HostSeries(facts.samples, facts.networks)
    hosts = host_figures(series.uses(summary.window_start_ns, summary.window_end_ns))
    cpus = len(trial.placement.generator_cpus) or sum(host.cpus for host in hosts.values())
    return {"generator_cpu_cores": cores, "generator_cpu_percent": _share(cores, cpus), "hosts": hosts}


def _times(name: str, times: Latency) -> dict[str, Any]:
    return {f"{name}_ms_{at}": ms for at, ms in milliseconds(times, ("p50", "p95", "p99", "p999", "max")).items()}


def _stored_rows(facts: TrialFacts) -> dict[str, Any]:
    summed, counted = facts.summed, facts.counted.rows if facts.counted else None
    compared = {} if summed is None else {"rows_compared": summed.rows, "tables_compared": summed.tables_compared}
    return {"rows_counted": counted, **compared}


def _preload(facts: TrialFacts) -> dict[str, Any]:
    there, logical = facts.preloaded, facts.row_bytes
    if there is None:
        return {}
    size = there.data_bytes - (there.log_bytes or 0) if there.data_bytes is not None else None
    each = size / there.rows if size is not None and there.rows else None
    return {
        "preload_rows": there.rows,
        "preload_bytes_per_row": each,
        "preload_compression": logical / each if each and logical else None,
        "preload_raw_bytes_per_row": float(logical) if logical else None,
        "preload_gb": divided(size, 1e9),
        "preload_log_gb": divided(there.log_bytes, 1e9),
        "preload_s": there.seconds,
        "preload_copied": there.copied or None,
        "preload_copy_s": there.copied_s,
        "preload_cached_percent": there.cached_percent,
    }


def _busiest(threads: Mapping[str, float]) -> dict[str, Any]:
    name, cores = max(threads.items(), key=lambda item: item[1], default=(None, None))
    return {"busiest_thread": name, "busiest_thread_cores": cores}


def _processors(use: ResourceUse, trial: Trial) -> dict[str, Any]:
    mhz = [use.cpu_mhz[str(cpu)] for cpu in trial.placement.server_cpus if str(cpu) in use.cpu_mhz]
    return {
        "server_switches_per_s": sum(use.switches_per_s.values()) if use.switches_per_s else None,
        "server_cpu_mhz": sum(mhz) / len(mhz) if mhz else None,
    }


def _of_account(use: ResourceUse, trial: Trial, summary: LoadSummary) -> dict[str, Any]:
    """None of samples without waits for a CPU: older versions stored no such figures of the same raw files."""
    if use.server_queued_cores is None:
        return {"disk_read_mb_per_s": None}
    server = set(trial.placement.server_cpus)
    others = others_on_its_cpus(trial, use, (summary.cpu_window_s or 0.0) / summary.window_s)
    is_known = server and server <= set(use.cpus) and others is not None
    return {
        "server_taken_cores": (others or 0.0) + (stolen_on_its_cpus(trial, use) or 0.0) if is_known else None,
        "server_cycles_per_s": use.counters_per_s.get("cycles"),
        "server_instructions_per_s": use.counters_per_s.get("instructions"),
        "server_waits": use.waits,
    }


def _rate_figures(trial: Trial, facts: TrialFacts, summary: LoadSummary) -> dict[str, Any]:
    rated = [] if trial.load.is_sparse else rated_intervals(facts.intervals, trial.work)
    seconds = whole_intervals(rated, summary)
    totals = WorkTotals(facts.samples)
    rates: list[float] = [i.count for i in seconds]
    if by_cpu := is_by_cpu(trial, facts):
        rates = cpu_by_second(facts.samples, summary)
    speeds = totals.of_seconds(seconds)
    steady, waiting, two = steadiness(rates), in_flight(summary), None if by_cpu else modes(rates)
    claims = trial.load.carries_claim and trial.load.is_long(summary.window_s)
    equal = steadiness(at_equal_speed(rates, speeds)) if speeds and troubles(steady, claims=claims) else None
    is_equal = equal is not None and not troubles(equal, claims=claims)
    steady = equal if equal is not None and is_equal else steady
    following = rate_and_speed(rates, speeds)
    return {
        "cpu_speed": totals.speed(summary.window_start_ns, summary.window_end_ns),
        "cpu_speed_cv_percent": following.cv_percent if following else None,
        "cpu_speed_slope": following.slope if following else None,
        "steady_at_equal_speed": is_equal if speeds else None,
        "rate_cv_percent": steady.cv_percent,
        "rate_drift_percent": steady.drift_percent,
        "rate_drift_error_percent": steady.drift_error_percent,
        "rate_correlation": steady.correlation,
        "rate_error_percent": steady.error_percent,
        "rate_halves_percent": steady.halves_percent,
        "rate_low": two[0] if two else None,
        "rate_high": two[1] if two else None,
        "stalled_percent": None if by_cpu else stalled_percent(rates),
        "in_flight_percent": 100 * waiting if waiting is not None else None,
    }


def commits_in_window(facts: TrialFacts) -> int | None:
    """Inexact by commits before the server's answer, and within a discarded transient."""
    if facts.commits_before is None or facts.commits_after is None:
        return None
    return facts.commits_after - facts.commits_before


def _durable(trial: Trial, facts: TrialFacts, summary: LoadSummary) -> float | None:
    """Acknowledged rows, warm-up included, from the first request to the end of the flush."""
    if trial.work.counts_requests or facts.steps or facts.load_start_ns is None or facts.flush_end_ns is None:
        return None
    return summary.rows_acked / ((facts.flush_end_ns - facts.load_start_ns) / 1e9)


def _disks(facts: TrialFacts, whole: ResourceUse | None) -> dict[str, Any]:
    if whole is None:
        return {}
    figures: Mapping[str, DiskFigures] = disk_figures(whole, facts.samples, facts.disk_ceilings)
    ceiling = ceiling_mb_per_s(facts.disk_ceilings, tuple(figures))
    used = 100 * whole.disk_write_mb_per_s / ceiling if ceiling and whole.disk_write_mb_per_s is not None else None
    return {"disk_ceiling_mb_per_s": ceiling, "disk_used_percent": used, "disks": figures}


def _share(cores: float | None, available: float) -> float | None:
    return 100 * cores / available if cores is not None and available else None


def rows_acknowledged(facts: TrialFacts) -> dict[str, Any]:
    s = facts.summary
    return {} if s is None else {"rows_acked" if s.is_answered else "rows_sent": s.rows_acked}


def as_counted(facts: TrialFacts) -> TrialFacts:
    """With counted rows in the place of acknowledged ones, where requests are not answered."""
    s = facts.summary
    if s is None or s.is_answered:
        return facts
    held = max(0, facts.counted.rows - (facts.preloaded.rows if facts.preloaded else 0)) if facts.counted else 0
    share = min(1.0, held / s.rows_acked) if s.rows_acked else 0.0
    rate = s.rows_per_s * share if s.rows_per_s is not None else None
    there = replace(s, rows_acked=held, rows_window=round(s.rows_window * share), rows_per_s=rate)
    return replace(facts, summary=there)
