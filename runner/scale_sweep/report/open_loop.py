"""An open loop in the report: response times at the offered rate, level by level, and no scaling curve. Pure.

Refuses a maximum rate: the server was never asked for more than was offered.
"""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import FitReport, StoredRun, TrialResult, VerdictKind, counted_verdicts
from scale_sweep.report.table import ABSENT, Table, level_cell, mean, rate, short, shown_trials

PERCENTILES = ("p50", "p95", "p99", "p99.9", "max")
LATE = "Late p99 (ms)"


def is_open_loop(run: StoredRun) -> bool:
    """Whether a rate was offered."""
    return bool(run.plan.sweep.load.rate)


def response_table(run: StoredRun) -> Table:
    """Means over the trials of a level that achieved the offered rate; else over all its trials, marked.

    A closed loop has no rows.
    """
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
                "is not the capacity of the level"
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
        p50, p99, sent = (_mean_ms(trials, name) for name in ("response_ms_p50", "response_ms_p99", "service_ms_p99"))
        at = axis.count(format_number(level))
        words = f"p50 {p50} ms, p99 {p99} ms (service time {sent} ms) at {at}"
        answers.append(words if is_met else f"{_without(trials)} at {at}")
    return replace(fit, sentence=f"{offered}. Response times: {'; '.join(answers)}", cautions=()) if answers else fit


def _trials(run: StoredRun, level: float) -> tuple[list[TrialResult], bool]:
    return shown_trials([r for r in run.on_curve if r.trial.level == level])


def _without(trials: list[TrialResult]) -> str:
    """Why a level has no response times: the rate, or that no trial counts."""
    missed = all(r.verdict.kind is VerdictKind.OFFERED_NOT_MET for r in trials)
    return "not achieved" if missed else "no trial counts"


def _row(run: StoredRun, level: float) -> tuple[str, ...]:
    trials, is_met = _trials(run, level)
    times = (
        f"{_mean_ms(trials, f'response_ms_{field}')} / {_mean_ms(trials, f'service_ms_{field}')}"
        for field in (name.replace(".", "") for name in PERCENTILES)
    )
    return (
        level_cell(level, is_met),
        rate(run.plan.sweep.load.rate),
        rate(mean(r.achieved_per_s for r in trials)),
        *times,
        _mean_ms(trials, "late_ms_p99"),
        counted_verdicts(r for r in run.on_curve if r.trial.level == level),
    )


def _mean_ms(trials: list[TrialResult], name: str) -> str:
    value = mean(getattr(r.measurement, name) for r in trials)
    return short(value) if value is not None else ABSENT
