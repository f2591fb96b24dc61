"""Runs in which a rate was offered: response times of open loops, capacities of searches with their steps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.confidence import half_of_mean
from scale_sweep.analysis.confirmation import sentences
from scale_sweep.base.units import counted, format_number, format_rate, with_interval
from scale_sweep.capacity.search import held_words
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model.derived import counted_verdicts, is_quick
from scale_sweep.model.fitted import FitReport, StoredRun
from scale_sweep.model.measured import Step, TrialResult, VerdictKind
from scale_sweep.report.search_figure import came_of
from scale_sweep.report.table import ABSENT, Table, level_cell, mean, short, shown_trials

PERCENTILES = ("p50", "p95", "p99", "p99.9", "max")
LATE = "Late p99 (ms)"
NEAR_PERCENT, NEAR_RATIO = 75.0, 4.0  # from bench/method_p99.py
NO_INTERVAL = "no interval near saturation"

_INTERVAL = (
    "In parentheses: the 95 % interval of p99 by the trials of the level. One trial, short windows and trials near "
    f"saturation have no interval. Near saturation: {NEAR_PERCENT:g} % of the server's cores used or more, or a median "
    f"response time of {NEAR_RATIO:g} times the median service time or more"
)


def is_open_loop(run: StoredRun) -> bool:
    return bool(run.plan.sweep.load.rate)


def response_table(run: StoredRun) -> Table:
    """Means over the trials of a level that achieved the offered rate; else over all, marked. No rows of closed
    loops."""
    axis = load_axis(run.plan.sweep.axis)
    levels = sorted({r.trial.level for r in run.on_curve}) if is_open_loop(run) else []
    unit = run.plan.sweep.work.rate_words
    times = (f"{PERCENTILES[0]} (ms)", *PERCENTILES[1:])
    return Table(
        title="Response times",
        headers=(axis.title, f"Offered {unit}", f"Achieved {unit}", *times, LATE, "Verdicts"),
        rows=tuple(_row(run, level) for level in levels),
        words=(len(PERCENTILES) + 4,),
        notes=(
            (
                "Response time, from the intended start of each request, and after the slash service time, from the "
                "sending. Between the two a request waits for its connection, or for a load generator that is late. "
                "† No trial counts. The achieved rate follows the offered rate; it "
                f"is not the capacity of the level. {_INTERVAL}"
            ),
        ),
    )


def with_answer(fit: FitReport, run: StoredRun) -> FitReport:
    """The fit with a sentence on the response times. The trials of an open loop make no curve."""
    if not is_open_loop(run):
        return fit
    axis = load_axis(run.plan.sweep.axis)
    offered = f"Open loop at {format_rate(run.plan.sweep.load.rate)} {run.plan.sweep.work.rate_words}: no scaling curve"
    levels = sorted({r.trial.level for r in run.on_curve})
    answers = []
    for level in dict.fromkeys(levels[:1] + levels[-1:]):
        trials, is_met = _trials(run, level)
        p50, sent = (_mean_ms(trials, name) for name in ("response_ms_p50", "service_ms_p99"))
        p99 = _p99_ms(run, trials, f" ({NO_INTERVAL})") if is_met else ABSENT
        at = axis.count(format_number(level))
        words = f"p50 {p50} ms, p99 {p99} ms (service time {sent} ms) at {at}"
        missed = all(r.verdict.kind is VerdictKind.OFFERED_NOT_MET for r in trials)
        without = "not achieved" if missed else "no trial counts"
        answers.append(words if is_met else f"{without} at {at}")
    return replace(fit, sentence=f"{offered}. Response times: {'; '.join(answers)}", cautions=()) if answers else fit


def _trials(run: StoredRun, level: float) -> tuple[list[TrialResult], bool]:
    return shown_trials([r for r in run.on_curve if r.trial.level == level])


def _row(run: StoredRun, level: float) -> tuple[str, ...]:
    trials, is_met = _trials(run, level)
    fields = [name.replace(".", "") for name in PERCENTILES]
    response = {field: _mean_ms(trials, f"response_ms_{field}") for field in fields}
    response |= {"p99": _p99_ms(run, trials)} if is_met else {}
    times = (f"{response[field]} / {_mean_ms(trials, f'service_ms_{field}')}" for field in fields)
    return (
        level_cell(level, is_met),
        format_rate(run.plan.sweep.load.rate),
        format_rate(mean(r.achieved_per_s for r in trials)),
        *times,
        _mean_ms(trials, "late_ms_p99"),
        counted_verdicts(r for r in run.on_curve if r.trial.level == level),
    )


def _p99_ms(run: StoredRun, trials: Sequence[TrialResult], otherwise: str = "") -> str:
    """With its interval by the replicates. otherwise: the words near saturation."""
    values = [v for r in trials if (v := r.measurement.response_ms_p99) is not None and v > 0]
    if len(values) < 2 or run.plan.sweep.is_quick:
        return _mean_ms(trials, "response_ms_p99")
    if any(map(is_near_saturation, trials)):
        return _mean_ms(trials, "response_ms_p99") + otherwise
    return with_interval(statistics.geometric_mean(values), *interval_of(values))


def interval_of(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval by Student's t on the logarithms of two values or more."""
    middle, spread = statistics.geometric_mean(values), statistics.stdev(map(math.log, values))
    factor = math.exp(half_of_mean(len(values), spread, spread, len(values) - 1))
    return middle / factor, middle * factor


def is_near_saturation(result: TrialResult) -> bool:
    m = result.measurement
    waits = m.response_ms_p50 is not None and m.service_ms_p50 and m.response_ms_p50 >= NEAR_RATIO * m.service_ms_p50
    return bool(waits) or (m.server_cpu_percent or 0.0) >= NEAR_PERCENT


def _mean_ms(trials: Sequence[TrialResult], name: str) -> str:
    return short(mean(getattr(r.measurement, name) for r in trials))


TIMES = ("p50", "p99", "p999")


def has_objective(run: StoredRun) -> bool:
    return run.plan.sweep.load.objective is not None


def capacity_table(run: StoredRun) -> Table:
    """A row for each trial; none without an objective."""
    sweep = run.plan.sweep
    objective, unit = sweep.load.objective, sweep.work.rate_words
    rows = tuple(_capacity_row(result) for result in run.results if result.trial.load.searches)
    note = (
        f"Capacity is the highest offered rate that holds {objective.words if objective is not None else ''}, with its "
        "95 % interval. In a closed loop each connection sends its next request when the last one is answered."
    )
    return Table(
        title="Capacity",
        headers=(load_axis(sweep.axis).title, "Trial", f"Capacity {unit}", f"Closed loop {unit}", "Steps", "Verdict"),
        rows=rows,
        words=(1, 4, 5),
        notes=(note, *sentences(run.plan, run.results)),
    )


def with_held(fit: FitReport, run: StoredRun) -> FitReport:
    """The fit with the rates that held for a short step, if no trial has a capacity: they are no curve."""
    short = [r for r in run.results if r.trial.load.searches and is_quick(r) and r.measurement.steps]
    objective, axis = run.plan.sweep.load.objective, load_axis(run.plan.sweep.axis)
    if objective is None or not short or fit.points:
        return fit
    held = dict.fromkeys(f"{_held(r)} at {axis.count(format_number(r.trial.level))}" for r in short)
    return replace(fit, sentence=f"No capacity from short steps. {objective.words}: {'; '.join(held)}.", cautions=())


def _held(result: TrialResult) -> str:
    m, trial = result.measurement, result.trial
    return held_words(m.steps, trial.work.rate_words, trial.load.duration_s or 0.0)


def _capacity_row(result: TrialResult) -> tuple[str, ...]:
    m, trial = result.measurement, result.trial
    left_out = sum(not step.usable for step in m.steps)
    steps = counted(len(m.steps), "step") + (f", {left_out} left out" if left_out else "")
    rate, none = m.capacity_per_s, _held(result) if is_quick(result) and m.steps else ABSENT
    opening = m.requests_per_s if trial.work.counts_requests else m.rows_per_s
    return (
        format_number(trial.level),
        trial.trial_id,
        format_rate(rate, m.capacity_low_per_s, m.capacity_high_per_s) if rate is not None else none,
        format_rate(opening),
        f"{steps}, {counted(trial.load.connections, 'connection')}",
        result.verdict.kind.value,
    )


def steps_table(run: StoredRun) -> Table:
    """By rate, with the confirming trials: the curve of response times."""
    unit = run.plan.sweep.work.rate_words
    rows = tuple(
        _step_row(result.trial.trial_id, step)
        for result in run.results
        for step in sorted(result.measurement.steps, key=lambda step: step.rate)
    )
    return Table(
        title="Steps of the searches",
        headers=("Trial", f"Offered {unit}", f"Achieved {unit}", "p50 (ms)", "p99", "p99.9", "Late p99 (ms)", "Step"),
        rows=rows,
        words=(0, 7),
        notes=("Each cell has the response time and the service time, as the table of an open loop.",),
    )


def offered_tables(run: StoredRun) -> tuple[Table, ...]:
    return tuple(table for table in (response_table(run), capacity_table(run), steps_table(run)) if table.rows)


def _step_row(trial_id: str, step: Step) -> tuple[str, ...]:
    return (
        trial_id,
        format_rate(step.rate),
        format_rate(step.achieved_per_s),
        *(f"{short(step.response_ms.get(name))} / {short(step.service_ms.get(name))}" for name in TIMES),
        short(step.late_ms.get("p99")),
        came_of(step),
    )
