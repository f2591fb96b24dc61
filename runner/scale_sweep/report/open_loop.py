"""An open loop in the report: response times at the offered rate, level by level, and no scaling curve. Pure.

Refuses a maximum rate: the server was never asked for more than was offered.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.analysis.confidence import half_of_mean
from scale_sweep.base.units import format_number, format_rate, with_interval
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import FitReport, StoredRun, TrialResult, VerdictKind, counted_verdicts
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
    """The p99 of the response times with its interval by the replicates. otherwise: the words near saturation."""
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
    """Whether queues last so long that the p99 of a window says little about that of the next."""
    m = result.measurement
    waits = m.response_ms_p50 is not None and m.service_ms_p50 and m.response_ms_p50 >= NEAR_RATIO * m.service_ms_p50
    return bool(waits) or (m.server_cpu_percent or 0.0) >= NEAR_PERCENT


def _mean_ms(trials: Sequence[TrialResult], name: str) -> str:
    value = mean(getattr(r.measurement, name) for r in trials)
    return short(value) if value is not None else ABSENT
