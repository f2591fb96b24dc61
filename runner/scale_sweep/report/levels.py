"""The table of the curve: each level with its rate, speedup and efficiency, and what the server used. Pure.

A level of which no trial counts is shown from its other trials, and marked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scale_sweep.analysis.fit import speedup_words
from scale_sweep.base.units import format_number, format_rate
from scale_sweep.model import Measurement, StoredRun, TrialResult, VerdictKind, common_marks
from scale_sweep.report.disk_range import disk_words, range_notes
from scale_sweep.report.figures import (
    OWN_MARK,
    at_level,
    axis_facts,
    cores_given,
    efficiency_words,
    fit_of,
    fitted_rate,
    levels_of,
    measured_rate,
    measured_words,
    shown_rates,
)
from scale_sweep.report.table import ABSENT, MARK, Table, fixed, marked, mean, short, without_empty

_DISK = "Disk MB/s"
_NOTE = "The figures are means over the fitted trials. Speedup and efficiency are relative to the first level."
_MARKED = "† No trial is fitted: the means are over all trials, and not the server's numbers."
_OWN = "‡ The server does not use its resources here, for a reason inside it (SOFTWARE_BOTTLENECK)."


def levels_table(run: StoredRun) -> Table:
    """A row for each level. Columns without any figure are left out."""
    fitted, *others = shown_rates(run)
    common = common_marks(run.on_curve, fitted.field)
    columns = [
        ("Trials fitted", _fitted),
        ("Values/s", lambda trials: format_rate(_values_per_s(run, trials))),
        *((shown.words.capitalize(), _mean_rate(shown.field, common)) for shown in others),
        ("Server cores used / given", _cores),
        (_DISK, lambda trials: disk_words(run, trials)),
        ("Response p50 (ms)", _mean_of(lambda m: m.response_ms_p50)),
        ("p99 (ms)", _mean_of(lambda m: m.response_ms_p99)),
    ]
    rows = []
    for level in levels_of(run):
        trials, _ = at_level(run, level)
        here = [r for r in run.on_curve if r.trial.level == level]
        cells = [say(here if say is _fitted else trials) for _, say in columns]
        rows.append((*_scaled(run, level, common), *cells))
    headers = (axis_facts(run).title, fitted.words.capitalize(), "Speedup", "Efficiency (%)", *(h for h, _ in columns))
    notes = (*_notes(run, common), *range_notes(row[headers.index(_DISK)] for row in rows))
    return without_empty(Table(title="Each level", headers=headers, rows=tuple(rows), notes=notes))


def _scaled(run: StoredRun, level: float, common: Sequence[str]) -> tuple[str, str, str, str]:
    """The level with its mark, the rate, the speedup and the efficiency, with their intervals."""
    point = next((p for p in fit_of(run).points if p.level == level), None)
    trials, is_valid = at_level(run, level)
    shown = measured_rate(run, level)
    mark = OWN_MARK if _is_own(trials) else "" if is_valid else MARK
    return (
        format_number(level) + mark,
        marked(measured_words(shown, point), trials, common, fitted_rate(run).field) if shown else ABSENT,
        speedup_words(point) if point and point.speedup is not None else ABSENT,
        efficiency_words(point) if point else ABSENT,
    )


def _notes(run: StoredRun, common: Sequence[str]) -> tuple[str, ...]:
    states = [at_level(run, level) for level in levels_of(run)]
    notes = [
        _NOTE if any(is_valid for _, is_valid in states) else "",
        f"Every rate is marked: {', '.join(common)}." if common else "",
        _MARKED if not all(is_valid for _, is_valid in states) else "",
        _OWN if any(_is_own(trials) for trials, _ in states) else "",
    ]
    return tuple(filter(None, notes))


def _is_own(trials: Sequence[TrialResult]) -> bool:
    return any(r.verdict.kind is VerdictKind.SOFTWARE_BOTTLENECK for r in trials)


def _fitted(trials: Sequence[TrialResult]) -> str:
    return f"{sum(r.verdict.kind.is_fitted for r in trials)} of {len(trials)}"


def _cores(trials: Sequence[TrialResult]) -> str:
    return f"{fixed(mean(r.measurement.server_cpu_cores for r in trials), 2)} / {format_number(cores_given(trials[0]))}"


def _mean_of(read: Callable[[Measurement], float | None]) -> Callable[[Sequence[TrialResult]], str]:
    return lambda trials: short(mean(read(r.measurement) for r in trials))


def _values_per_s(run: StoredRun, trials: Sequence[TrialResult]) -> float | None:
    """The values of the written rows; None for rows of one value, and for a load of requests."""
    columns = len(run.plan.sweep.work.data.columns)
    if run.plan.sweep.work.counts_requests or columns < 2:
        return None
    rows_per_s = mean(r.measurement.rows_per_s for r in trials)
    return rows_per_s * columns if rows_per_s is not None else None


def _mean_rate(field: str, common: Sequence[str]) -> Callable[[Sequence[TrialResult]], str]:
    return lambda trials: marked(
        format_rate(mean(getattr(r.measurement, field) for r in trials)), trials, common, field
    )
