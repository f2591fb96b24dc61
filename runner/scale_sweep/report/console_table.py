"""The table of a run for a terminal: one row for each level.

Words that hold for every row are in a note below the table and not in each cell. Refuses to choose the columns that a
terminal has room for: it names those that are essential.
"""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.fit import speedup_words
from scale_sweep.base.units import format_number
from scale_sweep.model import StoredRun, TrialResult, counted_verdicts, marks
from scale_sweep.model.derived import SHORT
from scale_sweep.report.columns import CONSOLE
from scale_sweep.report.cpu_time import cpu_rate_cell
from scale_sweep.report.figures import (
    agreement_in,
    at_level,
    axis_facts,
    cores_given,
    fit_of,
    fitted_rate,
    levels_of,
    measured_rate,
    measured_words,
)
from scale_sweep.report.replicates import beside_verdicts
from scale_sweep.report.run_facts import server_name, settings_words
from scale_sweep.report.table import ABSENT, MARK, Table, fixed, level_cell, marked, mean, without_empty

_SHORT = f" ({SHORT})"
_NOT_VALID = f"{MARK.strip()} no VALID trial at this level: mean of all its trials, and not the server's number"


def console_table(run: StoredRun) -> Table:
    """Level, rate, speedup, efficiency and verdicts, which are essential, and further columns before the verdicts."""
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
    point = {p.level: p for p in fit_of(run).points}.get(level)
    shown = measured_rate(run, level)
    rate = measured_words(shown, point) if shown else ABSENT
    used = mean(r.measurement.server_cpu_cores for r in trials)
    here = [r for r in run.on_curve if r.trial.level == level]
    return (
        level_cell(level, valid),
        marked(rate, trials, field=fitted_rate(run).field) if with_words else rate,
        speedup_words(point) if point and point.speedup is not None else ABSENT,
        f"{100 * point.efficiency:.0f} %" if point and point.efficiency is not None else ABSENT,
        f"{fixed(used, 2)} / {format_number(cores_given(trials[0]))}",
        cpu_rate_cell(trials),
        *(CONSOLE[name][1](trials) for name in axis_facts(run).console_columns),
        counted_verdicts(here) + beside_verdicts(agreement_in(run), trials),
    )
