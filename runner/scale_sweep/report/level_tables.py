"""Tables with a row for each level: of the page and of the console; and the disks' write rate with its range."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from scale_sweep.analysis.fit.words import speedup_words
from scale_sweep.base.units import format_number, format_rate
from scale_sweep.model.derived import SHORT, common_marks, counted_verdicts, marks
from scale_sweep.model.fitted import PointSummary, StoredRun
from scale_sweep.model.measured import Measurement, TrialResult, VerdictKind
from scale_sweep.report.cpu_time import cpu_rate_cell
from scale_sweep.report.figures import (
    OWN_MARK,
    agreement_in,
    at_level,
    axis_facts,
    cores_given,
    disk_mb_per_s,
    efficiency_words,
    fit_of,
    fitted_rate,
    levels_of,
    measured_rate,
    measured_words,
    shown_rates,
)
from scale_sweep.report.replicates import beside_verdicts
from scale_sweep.report.run_facts import server_name, settings_words
from scale_sweep.report.series import window_of
from scale_sweep.report.table import ABSENT, MARK, Table, fixed, level_cell, marked, mean, short, without_empty

Column = tuple[str, Callable[[Sequence[TrialResult]], str]]
Say = Callable[[float | None], str]
_DISK = "Disk MB/s"
_NOTE = "The figures are means over the fitted trials. Speedup and efficiency are relative to the first level."
_MARKED = "† No trial is fitted: the means are over all trials, and not the server's numbers."
_OWN = "‡ The server does not use its resources here, for a reason inside it (SOFTWARE_BOTTLENECK)."


def levels_table(run: StoredRun) -> Table:
    """Columns without any figure are left out."""
    fitted, *others = shown_rates(run)
    common = common_marks(run.on_curve, fitted.field)
    columns = [
        ("Trials fitted", _fitted),
        ("Values/s", lambda trials: format_rate(_values_per_s(run, trials))),
        *((shown.words.capitalize(), _mean_rate(shown.field, common)) for shown in others),
        ("Server cores used / given", _cores),
        (_DISK, lambda trials: disk_words(run, trials)),
        ("Response p50 (ms)", mean_of(lambda m: m.response_ms_p50, short)),
        ("p99 (ms)", mean_of(lambda m: m.response_ms_p99, short)),
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


def _rate_and_speedup(run: StoredRun, level: float) -> tuple[PointSummary | None, str, str]:
    """The point of the fit, its rate and its speedup."""
    point = next((p for p in fit_of(run).points if p.level == level), None)
    shown = measured_rate(run, level)
    speedup = speedup_words(point) if point and point.speedup is not None else ABSENT
    return point, measured_words(shown, point) if shown else ABSENT, speedup


def _scaled(run: StoredRun, level: float, common: Sequence[str]) -> tuple[str, str, str, str]:
    trials, is_valid = at_level(run, level)
    point, rate, speedup = _rate_and_speedup(run, level)
    mark = OWN_MARK if _is_own(trials) else "" if is_valid else MARK
    return (
        format_number(level) + mark,
        marked(rate, trials, common, fitted_rate(run).field),
        speedup,
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


def _values_per_s(run: StoredRun, trials: Sequence[TrialResult]) -> float | None:
    columns = len(run.plan.sweep.work.data.columns)
    if run.plan.sweep.work.counts_requests or columns < 2:
        return None
    rows_per_s = mean(r.measurement.rows_per_s for r in trials)
    return rows_per_s * columns if rows_per_s is not None else None


def _mean_rate(field: str, common: Sequence[str]) -> Callable[[Sequence[TrialResult]], str]:
    return lambda trials: marked(
        format_rate(mean(getattr(r.measurement, field) for r in trials)), trials, common, field
    )


def mean_of(read: Callable[[Measurement], float | None], say: Say) -> Callable[[Sequence[TrialResult]], str]:
    return lambda trials: say(mean(read(r.measurement) for r in trials))


def _disk_names(trials: Sequence[TrialResult]) -> list[str]:
    return list(dict.fromkeys(name for r in trials for name in r.measurement.disks))


def _of_disk(trials: Sequence[TrialResult], name: str, figure: str) -> float | None:
    return mean(getattr(r.measurement.disks[name], figure) for r in trials if name in r.measurement.disks)


def _disk_total(trials: Sequence[TrialResult]) -> str:
    rates = [_of_disk(trials, name, "write_mb_per_s") for name in _disk_names(trials)]
    return short(sum(r for r in rates if r is not None)) if rates and None not in rates else ABSENT


def _disk_shares(trials: Sequence[TrialResult]) -> str:
    shares = [fixed(_of_disk(trials, name, "share_percent"), 1) for name in _disk_names(trials)]
    return " / ".join(shares) or ABSENT


def _disk_use(trials: Sequence[TrialResult]) -> str:
    used = mean(r.measurement.disk_used_percent for r in trials)
    return f"{fixed(used)} %" if used is not None else ABSENT


CONSOLE: Mapping[str, Column] = {
    "disk_write": ("disk MB/s", mean_of(lambda m: m.disk_write_mb_per_s, short)),
    "disk_total": ("disk MB/s", _disk_total),
    "disk_shares": ("shares (%)", _disk_shares),
    "disk_of_ceiling": ("of ceiling", _disk_use),
}


_SHORT = f" ({SHORT})"
_NOT_VALID = f"{MARK.strip()} no VALID trial at this level: mean of all its trials, not a measurement of the server"


def console_table(run: StoredRun) -> Table:
    """Level, rate, speedup, efficiency and verdicts are essential."""
    levels, field = levels_of(run), fitted_rate(run).field
    is_common = len({_words(at_level(run, level)[0], field) for level in levels}) == 1
    rows = [_row(run, level, with_words=not is_common) for level in levels]
    notes = [_NOT_VALID] if any(MARK in row[0] for row in rows) else []
    if is_common and (words := _words(at_level(run, levels[0])[0], field)):
        notes.append(f"All rates: {words}.")
    if all(_SHORT in row[-1] and "VALID" not in row[-1].replace(f"VALID{_SHORT}", "") for row in rows):
        rows = [(*row[:-1], row[-1].replace(_SHORT, "")) for row in rows]
        notes.append(f"All VALID trials: {SHORT}.")
    axis = axis_facts(run)
    further = ("server cores", "per CPU-second", *(CONSOLE[name][0] for name in axis.console_columns))
    searched = "capacity " if run.plan.sweep.load.objective is not None else ""
    first = (axis.title.lower(), f"{searched}{fitted_rate(run).words}", "speedup", "efficiency")
    return without_empty(
        Table(
            title=" · ".join(filter(None, (run.plan.sweep.question, server_name(run), settings_words(run)))),
            headers=(*first, *further, "verdicts"),
            rows=tuple(rows),
            notes=tuple(notes),
            essential=(0, 1, 2, 3, len(first) + len(further)),
        )
    )


def _words(trials: Sequence[TrialResult], field: str) -> str:
    return ", ".join(dict.fromkeys(word for result in trials for word in marks(result, field)))


def _row(run: StoredRun, level: float, *, with_words: bool) -> tuple[str, ...]:
    trials, valid = at_level(run, level)
    point, rate, speedup = _rate_and_speedup(run, level)
    here = [r for r in run.on_curve if r.trial.level == level]
    return (
        level_cell(level, valid),
        marked(rate, trials, field=fitted_rate(run).field) if with_words else rate,
        speedup,
        f"{100 * point.efficiency:.0f} %" if point and point.efficiency is not None else ABSENT,
        _cores(trials),
        cpu_rate_cell(trials),
        *(CONSOLE[name][1](trials) for name in axis_facts(run).console_columns),
        counted_verdicts(here) + beside_verdicts(agreement_in(run), trials),
    )


SECONDS_MIN = 10
_RANGE_NOTE = "Parentheses beside the disk rate have the 5th to the 95th percentile of the windows' seconds."


def disk_words(run: StoredRun, trials: Sequence[TrialResult]) -> str:
    """MB/s: "85.0 (80.1–92.3)" over the trials; the mean alone without enough seconds."""
    average = mean(disk_mb_per_s(axis_facts(run), r.measurement) for r in trials)
    ends = disk_range(run, trials)
    return f"{short(average)} ({short(ends[0])}–{short(ends[1])})" if ends and average is not None else short(average)


def range_notes(cells: Iterable[str]) -> tuple[str, ...]:
    return (_RANGE_NOTE,) if any("–" in cell.strip(ABSENT) for cell in cells) else ()


def disk_range(run: StoredRun, trials: Sequence[TrialResult]) -> tuple[float, float] | None:
    """The 5th and the 95th percentile in MB/s of the windows' seconds; None for fewer than SECONDS_MIN."""
    seconds: list[float] = []
    for result in trials:
        window = window_of(result)
        for t_s, values in run.timeseries.get(result.trial.trial_id, ()) if window else ():
            rate = values.get("disk_write_mb_per_s")
            if window and rate is not None and window[0] < t_s <= window[1]:
                seconds.append(rate)
    if len(seconds) < SECONDS_MIN:
        return None
    low, high = np.percentile(seconds, (5, 95))
    return float(low), float(high)
