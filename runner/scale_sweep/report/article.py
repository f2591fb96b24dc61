"""The table of a run in the columns of the published article."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.model.declared_parts import KnobColumn, KnobRole
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.report.figures import (
    OWN_MARK,
    at_level,
    axis_facts,
    disk_mb_per_s,
    fit_of,
    fitted_rate,
    knob_at,
    levels_of,
    measured_rate,
    measured_words,
)
from scale_sweep.report.level_tables import Column, disk_words, mean_of, range_notes
from scale_sweep.report.table import MARK, Table, fixed, marked, short


def article_heading(run: StoredRun) -> str:
    begin = "Simulated, in" if run.plan.is_simulated else "In"
    return f'{begin} the columns of the article "Testing TDengine\'s Vertical Scalability"'


def is_as_published(run: StoredRun) -> bool:
    used = {name for result in run.on_curve for name in result.trial.knobs}
    return bool(run.plan.sweep.reference) or any(knob.is_published and knob.name in used for knob in run.plan.knobs)


def _knob_of(run: StoredRun, role: KnobRole) -> KnobColumn:
    used = {name for r in run.on_curve for name in r.trial.knobs}
    declared = [knob for knob in run.plan.knobs if knob.role is role]
    known = [knob for knob in declared if knob.name in used] or declared
    label = role.value.replace("_", " ").capitalize()
    return known[0] if known else KnobColumn(name=role.value, role=role, label=label)


_DISK = "disk_io"
_OF_ROWS = ("rows", "durable_rows")  # columns without a figure for a load of requests


def article_columns(run: StoredRun) -> tuple[Column, ...]:
    axis = axis_facts(run)
    knobs = {role.value: _knob_of(run, role) for role in KnobRole}
    return tuple(published(name, axis, knobs) for name in _names(run))


def _names(run: StoredRun) -> tuple[str, ...]:
    columns = axis_facts(run).published_columns
    names = [name for name in columns if not (run.plan.sweep.work.counts_requests and name in _OF_ROWS)]
    return (*(("requests",) if len(names) < len(columns) else ()), *names)


def _rate(run: StoredRun, level: float, otherwise: str) -> str:
    point = next((p for p in fit_of(run).points if p.level == level), None)
    shown = measured_rate(run, level)
    if point is None or point.mean_low is None or point.mean_high is None or not shown:
        return otherwise
    return marked(measured_words(shown, point), at_level(run, level)[0], field=fitted_rate(run).field)


def article_table(run: StoredRun) -> Table:
    """Means over the VALID trials of a level, else over all, marked †. ‡: bound by the server itself, which counts."""
    axis = axis_facts(run)
    columns = article_columns(run)
    fitted = fitted_rate(run).field.removesuffix("_per_s")
    rows, is_marked, bound = [], False, False
    for level in levels_of(run):
        trials, valid = at_level(run, level)
        own = any(r.verdict.kind is VerdictKind.SOFTWARE_BOTTLENECK for r in trials)
        is_marked, bound = is_marked or not valid, bound or own
        mark = OWN_MARK if own else "" if valid else MARK
        cells = {name: say(trials) for name, (_, say) in zip(_names(run), columns, strict=True)}
        cells |= {name: _rate(run, level, words) for name, words in cells.items() if name == fitted}
        cells |= {name: disk_words(run, trials) for name in cells if name == _DISK}
        rows.append((format_number(level) + mark, *cells.values()))
    notes = [
        "The figures are means over the VALID trials of a level. CPU usage is relative to the cores of the server."
    ]
    notes += range_notes(row[1 + at] for row in rows for at, name in enumerate(_names(run)) if name == _DISK)
    if is_marked:
        notes.append("† No trial of this level is VALID: the mean is over all, and not the server's number.")
    if bound:
        notes.append("‡ The server does not use its resources here, for a reason inside it (SOFTWARE_BOTTLENECK).")
    headers = (axis.published_level or axis.title, *(h for h, _ in columns))
    return Table(title="As published", headers=headers, rows=tuple(rows), notes=tuple(notes))


ARTICLE_NAMES: Mapping[str, str] = {KnobRole.CONNECTIONS: "Write threads"}
"""The article's names for roles of knobs that have another name here."""


def published(name: str, axis: AxisFacts, knobs: Mapping[str, KnobColumn]) -> Column:
    """knobs: by the names of the roles."""
    if name not in knobs:
        return _figures(axis)[name]
    return ARTICLE_NAMES.get(name, knobs[name].label), lambda trials: knob_at(trials, knobs[name].name)


def _figures(axis: AxisFacts) -> Mapping[str, Column]:
    return {
        "rows": ("Write speed (rows/s)", _marked("rows_per_s")),
        "requests": ("Requests/s", _marked("requests_per_s")),
        "durable_rows": ("Durable (rows/s)", _marked("durable_rows_per_s")),
        "disk_io": ("Disk I/O (MB/s)", mean_of(lambda m: disk_mb_per_s(axis, m), short)),
        "available_memory": ("Available memory (GB)", mean_of(lambda m: m.memory_available_gb, short)),
        "cpu": ("CPU usage (%)", mean_of(lambda m: m.server_cpu_percent, fixed)),
    }


def _marked(field: str) -> Callable[[Sequence[TrialResult]], str]:
    say = mean_of(lambda m: getattr(m, field), format_rate)
    return lambda trials: marked(say(trials), trials, field=field)
