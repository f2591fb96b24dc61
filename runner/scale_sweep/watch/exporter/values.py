"""The state of a running sweep → metric values, for a scrape and for a stored run."""

from __future__ import annotations

from collections.abc import Iterator

from scale_sweep.base.units import format_number
from scale_sweep.model.declared_parts import ERRORS
from scale_sweep.model.derived import marks, rate_per_cpu_s
from scale_sweep.model.measured import Measurement, TrialResult, VerdictKind
from scale_sweep.model.planned import Trial
from scale_sweep.model.samples import DiskSample, SubjectSample
from scale_sweep.sweep.vary import label
from scale_sweep.watch.live.state import UNDER_LOAD, WATCHED, LiveState, Running, ceiling_of, rates
from scale_sweep.watch.live.time_left import curves, progress

Point = tuple[str, tuple[str, ...], float | None]

PHASES = "quiet provision ready schema preload check warmup measure drain step flush verify teardown".split()
_NO_DISK = DiskSample(
    written_bytes_total=None,
    read_bytes_total=None,
    writes_total=None,
    busy_s_total=None,
    queue_s_total=None,
    free_bytes=None,
)


def points_now(state: LiveState, now_ns: int) -> Iterator[Point]:
    """Values that change from scrape to scrape."""
    at = progress(state, now_ns)
    yield "run_progress_ratio", (), at.done_ratio
    yield "run_remaining_seconds", (), at.remaining_s
    if state.running is None:
        return
    yield from _offered(state, state.running)
    yield from _load(state.running)
    yield from _sides_and_host(state.running)
    yield from _disks(state.running)


def points_phase(state: LiveState) -> Iterator[Point]:
    """Values that change only with the running trial's phase."""
    if state.running is None:
        return
    running, trial, name = state.running, state.running.trial, state.running.trial.trial_id
    yield "trial_running", (name,), 1.0
    for phase in PHASES:
        yield "trial_phase", (name, phase), float(phase == running.phase)
    settings = {knob: _number(text) for knob, text in trial.knobs.items()} | {state.plan.sweep.axis: trial.level}
    settings |= {name: float(getattr(trial, name)) for name in ("cores", "disks")}
    for setting, value in settings.items():
        yield "trial_setting", (name, setting), value
    yield "cpu_given_cores", (name, "server"), trial.cores
    yield "cpu_given_cores", (name, "generator"), float(len(trial.placement.generator_cpus))
    unit = trial.work.rate_counts
    yield f"generator_ceiling_{unit}_per_second", (name,), ceiling_of(state, trial)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _load(running: Running) -> Iterator[Point]:
    name, interval = running.trial.trial_id, running.interval
    if interval is None:
        return
    yield "rows_acknowledged_total", (name,), float(running.rows)
    yield "requests_total", (name,), float(running.requests)
    yield "errors_total", (name,), float(running.errors)
    yield "retries_total", (name,), float(running.retries)
    alone = running.trial.work.operations[0].name
    for operation, count in (running.operations or {alone: running.requests}).items():
        yield "operation_requests_total", (name, operation), float(count)
    if running.phase not in UNDER_LOAD:
        return
    i = interval
    yield "achieved_rows_per_second", (name,), running.rows_per_s
    if running.trial.work.counts_requests:
        yield "achieved_requests_per_second", (name,), running.rate_per_s
    for operation, slow_us in running.operations_p99_us.items():
        yield "operation_response_time_seconds", (name, operation, "0.99"), _scaled(slow_us, 1e-6)
    backlog = running.rated.backlog if running.rated is not None else None
    yield f"backlog_{running.trial.work.rate_counts}", (name,), float(backlog) if backlog is not None else None
    for kind in ("response", "service"):
        for quantile, end in (("0.5", "p50"), ("0.99", "p99"), ("1", "max")):
            yield f"{kind}_time_seconds", (name, quantile), _scaled(getattr(i, f"{kind}_us_{end}"), 1e-6)


def _offered(state: LiveState, running: Running) -> Iterator[Point]:
    trial, unit = running.trial, running.trial.work.rate_counts
    yield f"offered_{unit}_per_second", (trial.trial_id,), running.offered or state.plan.sweep.load.rate or None
    for clause in trial.load.objective.clauses if trial.load.objective is not None else ():
        if clause.quantity != ERRORS:
            yield "objective_seconds", (trial.trial_id, clause.name), clause.limit / 1e3
    if trial.load.searches:
        yield "search_steps_total", (trial.trial_id,), float(len(running.steps))
        yield f"search_held_{unit}_per_second", (trial.trial_id,), running.held
        yield f"search_failed_{unit}_per_second", (trial.trial_id,), running.failed


def _scaled(value: float | None, factor: float) -> float | None:
    return value * factor if value is not None else None


def _grown(first: float | None, last: float | None) -> float | None:
    return max(0.0, last - first) if first is not None and last is not None else None


def _sides_and_host(running: Running) -> Iterator[Point]:
    name, first, last = running.trial.trial_id, running.first, running.sample
    if first is None or last is None:
        return
    is_watched, used = running.phase in WATCHED, rates(running)
    sides: tuple[tuple[str, SubjectSample, SubjectSample, float | None], ...] = (
        ("server", first.server, last.server, used.server_cores),
        ("generator", first.generator, last.generator, used.generator_cores),
    )
    for side, begun, now, cores in sides:
        yield "cpu_seconds_total", (name, side), _grown(begun.cpu_s_total, now.cpu_s_total)
        yield "cpu_used_cores", (name, side), cores if is_watched else None
        yield "memory_used_bytes", (name, side), now.memory_bytes if is_watched else None
    yield "throttled_seconds_total", (name,), _grown(first.server.throttled_s_total, last.server.throttled_s_total)
    for pool, seconds in running.pools_s.items():
        yield "thread_pool_cpu_seconds_total", (name, pool), seconds
    yield "host_memory_available_bytes", (name,), last.memory_available_bytes if is_watched else None
    yield "host_cpu_seconds_total", (name,), _grown(first.host_cpu_busy_s_total, last.host_cpu_busy_s_total)
    stolen = first.host_cpu_stolen_s_total, last.host_cpu_stolen_s_total
    yield "host_cpu_stolen_seconds_total", (name,), _grown(*stolen)
    for resource, total in last.psi_some_s_total.items():
        yield "pressure_seconds_total", (name, resource), _grown(first.psi_some_s_total.get(resource), total)


def _disks(running: Running) -> Iterator[Point]:
    first, last = running.first, running.sample
    if first is None or last is None:
        return
    used = rates(running).disks
    for disk, now in last.disks.items():
        at = (running.trial.trial_id, disk)
        begun = first.disks.get(disk, _NO_DISK)
        yield "disk_written_bytes_total", at, _grown(begun.written_bytes_total, now.written_bytes_total)
        yield "disk_read_bytes_total", at, _grown(begun.read_bytes_total, now.read_bytes_total)
        if running.phase in WATCHED:
            yield "disk_free_bytes", at, now.free_bytes
            if disk in used:
                yield "disk_write_bytes_per_second", at, used[disk].write_bytes_per_s
                yield "disk_utilisation_ratio", at, used[disk].busy_ratio
                yield "disk_queue_requests", at, used[disk].queue


def points_kept(state: LiveState) -> Iterator[Point]:
    """Values that change only when a trial begins or ends."""
    sweep = state.plan.sweep
    yield "run_info", (sweep.target, sweep.runtime, sweep.axis, sweep.method, sweep.work.rate_counts), 1.0
    yield "run_planned_trials", (), float(state.total or len(state.plan.trials))
    for kind in VerdictKind:
        count = sum(r.verdict.kind is kind for r in state.results)
        yield "run_finished_trials_total", (kind.value,), float(count)
    for ceiling in state.disk_ceilings:
        if len(ceiling.disks) == 1:
            yield "disk_ceiling_bytes_per_second", (ceiling.disks[0],), 1e6 * ceiling.write_mb_per_s
    for result in state.results:
        yield from _trial(state, result)
    if state.running is not None:
        trial = state.running.trial
        yield "trial_info", _info_labels(trial), 1.0
        yield "trial_start_time_seconds", (trial.trial_id,), state.running.started_unix_s or None
    yield from _curve(state)


def _info_labels(trial: Trial) -> tuple[str, ...]:
    where = (trial.trial_id, format_number(trial.level), str(trial.replicate), trial.role)
    return (*where, trial.subject.target, label(trial.variant))


def _trial(state: LiveState, result: TrialResult) -> Iterator[Point]:
    trial, m = result.trial, result.measurement
    name, level, target = trial.trial_id, format_number(trial.level), trial.subject.target
    at = (name, level, target, label(trial.variant))
    yield "trial_info", _info_labels(trial), 1.0
    if name in state.times:
        start, end = state.times[name]
        yield "trial_start_time_seconds", (name,), start
        yield "trial_end_time_seconds", (name,), end
    yield "trial_verdict", (*at, result.verdict.kind.value), 1.0
    for word in marks(result):
        yield "trial_mark", (*at, word), 1.0
    yield "trial_requests_per_second", at, m.requests_per_s if trial.work.counts_requests else None
    yield from _operations(at, m)
    yield "trial_rows_per_second", at, m.rows_per_s
    yield "trial_durable_rows_per_second", at, m.durable_rows_per_s
    yield f"trial_{trial.work.rate_counts}_per_cpu_second", at, rate_per_cpu_s(result)
    yield "trial_rows_counted", (name,), m.rows_counted
    yield "trial_cpu_used_cores", (name, "server"), m.server_cpu_cores
    yield "trial_cpu_used_cores", (name, "generator"), m.generator_cpu_cores
    response = {"0.5": m.response_ms_p50, "0.95": m.response_ms_p95, "0.99": m.response_ms_p99, "1": m.response_ms_max}
    for quantile, ms in response.items():
        yield "trial_response_time_seconds", (name, quantile), _scaled(ms, 1e-3)


def _operations(at: tuple[str, ...], m: Measurement) -> Iterator[Point]:
    for operation, figures in m.operations.items():
        yield "trial_operation_requests_per_second", (*at, operation), figures.requests_per_s
        for quantile, ms in (("0.5", figures.response_ms.get("p50")), ("0.99", figures.response_ms.get("p99"))):
            yield "trial_operation_response_time_seconds", (*at, operation, quantile), _scaled(ms, 1e-3)


def _curve(state: LiveState) -> Iterator[Point]:
    unit = state.plan.sweep.work.rate_counts
    for curve in curves(state):
        of = (curve.target, curve.variant)
        for point in curve.fit.points:
            at = (format_number(point.level), *of)
            yield f"curve_{unit}_per_second", at, point.rate_mean
            yield "curve_valid_trials", at, float(point.n)
            yield "curve_speedup_ratio", at, point.speedup
            yield "curve_efficiency_ratio", at, point.efficiency
        for level, value in curve.fitted.items():
            yield f"curve_fitted_{unit}_per_second", (format_number(level), *of), value
        model = next((m for m in curve.fit.models if m.model == curve.fit.chosen), None)
        if model is not None:
            for parameter, estimate in model.parameters.items():
                yield "curve_parameter", (model.model, parameter, *of), estimate.value
