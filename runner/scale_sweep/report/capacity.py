"""Capacity in the report: the highest rate of each trial that holds the objective, and the steps of its search. Pure.

Refuses to hide a step that was left out: it stands in the table with its reason.
"""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.analysis.confirmation import sentences
from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.capacity.search import held_words
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import FitReport, Step, StoredRun, TrialResult, is_quick
from scale_sweep.report.open_loop import response_table
from scale_sweep.report.search_figure import came_of
from scale_sweep.report.table import ABSENT, Table, short

TIMES = ("p50", "p99", "p999")


def has_objective(run: StoredRun) -> bool:
    """Whether its trials searched a capacity."""
    return run.plan.sweep.load.objective is not None


def capacity_table(run: StoredRun) -> Table:
    """One row for each trial; none without an objective."""
    sweep = run.plan.sweep
    objective, unit = sweep.load.objective, sweep.work.rate_words
    rows = tuple(_row(result) for result in run.results if result.trial.load.searches)
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


def _row(result: TrialResult) -> tuple[str, ...]:
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
    """Every step of every search by rate, and the rates of the confirming trials: the curve of response times."""
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
    """The tables of a run in which rates were offered; none of a closed loop."""
    return tuple(table for table in (response_table(run), capacity_table(run), steps_table(run)) if table.rows)


def _step_row(trial_id: str, step: Step) -> tuple[str, ...]:
    def ms(value: float | None) -> str:
        return short(value) if value is not None else ABSENT

    return (
        trial_id,
        format_rate(step.rate),
        format_rate(step.achieved_per_s),
        *(f"{ms(step.response_ms.get(name))} / {ms(step.service_ms.get(name))}" for name in TIMES),
        ms(step.late_ms.get("p99")),
        came_of(step),
    )
