"""An open loop in the report: response times at the offered rate, level by level, and no scaling curve. Pure.

Refuses a maximum rate: the server was never asked for more than was offered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import FitReport, StoredRun, TrialResult
from scale_sweep.report.table import ABSENT, Table, mean, rate, short


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
    headers = (axis.title, f"Offered {unit}", f"Achieved {unit}", "Response p50", "p95", "p99", "max (ms)", "Verdicts")
    return Table(
        title="Response times",
        headers=headers,
        rows=tuple(_row(run, level) for level in levels),
        words=(7,),
        notes=(
            (
                "from the intended start of each request; † no trial achieved what was offered. The achieved rate is "
                "what was offered, and not what the level can do"
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
        p50, p99 = _response(trials, "response_ms_p50"), _response(trials, "response_ms_p99")
        at = axis.count(format_number(level))
        answers.append(f"p50 {p50} ms, p99 {p99} ms at {at}" if is_met else f"not achieved at {at}")
    return replace(fit, sentence=f"{offered}. Response times: {'; '.join(answers)}", cautions=()) if answers else fit


def _trials(run: StoredRun, level: float) -> tuple[list[TrialResult], bool]:
    here = [r for r in run.on_curve if r.trial.level == level]
    met = [r for r in here if r.verdict.kind.is_fitted]
    return (met, True) if met else (here, False)


def _row(run: StoredRun, level: float) -> tuple[str, ...]:
    trials, is_met = _trials(run, level)
    names = ("response_ms_p50", "response_ms_p95", "response_ms_p99", "response_ms_max")
    counts = Counter(r.verdict.kind.value for r in run.on_curve if r.trial.level == level)
    return (
        format_number(level) + ("" if is_met else " †"),
        rate(run.plan.sweep.load.rate),
        rate(mean(r.achieved_per_s for r in trials)),
        *(_response(trials, name) for name in names),
        ", ".join(f"{n} {kind}" for kind, n in counts.most_common()),
    )


def _response(trials: list[TrialResult], name: str) -> str:
    value = mean(getattr(r.measurement, name) for r in trials)
    return short(value) if value is not None else ABSENT
