"""The run in tables: the article's columns, every trial, the points, the models, the knobs.

A level without a VALID trial is shown from its other trials, and marked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_curve, quantity, speedup_words
from scale_sweep.analysis.noise import without_drift
from scale_sweep.analysis.observations import observations
from scale_sweep.base.units import format_number
from scale_sweep.experiment.axes import AxisFacts, load_axis
from scale_sweep.experiment.work import Rate, rate_of, rates_of
from scale_sweep.model import FitReport, KnobColumn, KnobRole, StoredRun, TrialResult, VerdictKind
from scale_sweep.report.columns import CONSOLE, Column, disk_mb_per_s, knob_at, published
from scale_sweep.report.cpu_time import cpu_rate_cell, heading_of, speed_cautions, with_cpu_points
from scale_sweep.report.open_loop import with_answer
from scale_sweep.report.table import ABSENT, Table, fixed, known, marked, mean, quick_words, rate, short

MARK, OWN_MARK = " †", " ‡"


def fit_of(run: StoredRun) -> FitReport:
    """The run's stored fit, else a fit of its trials."""
    return run.fit or fit_again(run)


def fit_again(run: StoredRun) -> FitReport:
    """The fit of the run's trials, with the sweep's own questions."""
    sweep = run.plan.sweep
    questions = FitQuestions(predict=sweep.predict, need=sweep.need)
    axis = load_axis(sweep.axis)
    fitted = fitted_rate(run)
    terms = Terms(axis=axis.name, one=axis.unit, rate=fitted.words)
    observed = without_drift(observations(run.results, fitted.field))
    fit = fit_curve(observed, terms, rate=fitted.field, confounds=run.plan.confounds, questions=questions)
    fit = with_cpu_points(with_answer(fit, run), run)
    return replace(fit, cautions=(*quick_words(run), *speed_cautions(run), *fit.cautions))


def levels_of(run: StoredRun) -> tuple[float, ...]:
    """Every level that has a trial, ascending."""
    return tuple(sorted({r.trial.level for r in run.on_curve}))


def at_level(run: StoredRun, level: float) -> tuple[list[TrialResult], bool]:
    """The fitted trials of a level, and True; if there is none, all its trials, and False."""
    here = [r for r in run.on_curve if r.trial.level == level]
    valid = [r for r in here if r.verdict.kind.is_fitted]
    return (valid, True) if valid else (here, False)


def measured_rate(run: StoredRun, level: float) -> float | None:
    """The mean of the fitted rate over the trials of `at_level`, as they were measured. Where a drift was found, the
    fit's own mean is another: it is without the drift."""
    return mean(getattr(r.measurement, fitted_rate(run).field) for r in at_level(run, level)[0])


def cores_given(result: TrialResult) -> float:
    """The server's CPU cores: the quota if there is one, else the number of its CPUs."""
    placement = result.trial.placement
    if placement.quota_cores is not None:
        return placement.quota_cores
    return result.trial.cores or float(len(placement.server_cpus))


def cpu_cost(cores: float | None, result: TrialResult) -> float | None:
    """CPU seconds for a million units of the work (rows or requests). cores: used in the window, in CPUs."""
    return cores / result.achieved_per_s * 1e6 if cores is not None and result.achieved_per_s else None


def by_run_order(run: StoredRun) -> list[TrialResult]:
    """The trials by level, then replicate: the order in which a reader compares."""
    return sorted(run.results, key=lambda r: (r.trial.level, r.trial.replicate))


def knob_name(run: StoredRun, name: str) -> str:
    """A knob's label for a heading."""
    return next((knob.label for knob in run.plan.knobs if knob.name == name), name)


def _knob_of(run: StoredRun, role: KnobRole) -> KnobColumn:
    """The knob with a role: the one that the trials have, else the first declared one."""
    used = {name for r in run.on_curve for name in r.trial.knobs}
    declared = [knob for knob in run.plan.knobs if knob.role is role]
    known = [knob for knob in declared if knob.name in used] or declared
    label = role.value.replace("_", " ").capitalize()
    return known[0] if known else KnobColumn(name=role.value, role=role, label=label)


_OF_ROWS = ("rows", "durable_rows")  # columns without a figure for a load of requests


def article_columns(run: StoredRun) -> tuple[Column, ...]:
    """The published article's columns after the level, in its order, for the axis of the run."""
    axis = axis_facts(run)
    knobs = {role.value: _knob_of(run, role) for role in KnobRole}
    names = [name for name in axis.published_columns if not (run.plan.sweep.work.counts_requests and name in _OF_ROWS)]
    reads = ("requests",) if len(names) < len(axis.published_columns) else ()
    return tuple(published(name, axis, knobs) for name in (*reads, *names))


def article_table(run: StoredRun) -> Table:
    """The article's table with its columns: the mean over the VALID trials of a level, else over all trials, marked †.

    A level whose resources the server does not use for reasons of its own is marked ‡. Its number counts.
    """
    axis = axis_facts(run)
    columns = article_columns(run)
    rows, marked, bound = [], False, False
    for level in levels_of(run):
        trials, valid = at_level(run, level)
        own = any(r.verdict.kind is VerdictKind.SOFTWARE_BOTTLENECK for r in trials)
        marked, bound = marked or not valid, bound or own
        mark = OWN_MARK if own else "" if valid else MARK
        rows.append((format_number(level) + mark, *(say(trials) for _, say in columns)))
    notes = ["mean over the VALID trials of a level; CPU usage is of the cores that the server was given"]
    if marked:
        notes.append("† no VALID trial at this level: mean over all its trials, and not the server's number")
    if bound:
        notes.append("‡ SOFTWARE_BOTTLENECK: the server does not use what it is given here, for a reason of its own")
    headers = (axis.published_level or axis.title, *(h for h, _ in columns))
    return Table(title="As published", headers=headers, rows=tuple(rows), notes=tuple(notes))


def trial_table(run: StoredRun) -> Table:
    """Every trial with its figures and its verdict. The reasons are the row notes."""
    rows, work = [], run.plan.sweep.work
    for r in by_run_order(run):
        m = r.measurement
        response = (m.response_ms_p50, m.response_ms_p95, m.response_ms_p99, m.response_ms_max)
        rows.append(
            (
                r.trial.trial_id,
                marked(rate(r.achieved_per_s), [r]),
                *(() if work.counts_requests else (rate(m.durable_rows_per_s),)),
                f"{fixed(m.server_cpu_cores, 2)} / {format_number(cores_given(r))}",
                cpu_rate_cell([r]),
                fixed(m.generator_cpu_cores, 2),
                fixed(m.throttled_s, 1),
                short(disk_mb_per_s(axis_facts(run), m)),
                short(m.disk_bytes_per_row),
                " / ".join(short(v) for v in response),
                fixed(m.errors),
                r.verdict.kind.value,
            )
        )
    headers = (
        "Trial",
        work.rate_words.capitalize(),
        *(() if work.counts_requests else ("Durable rows/s",)),
        "Server cores used / given",
        heading_of(work.rate_words),
        "Load generator cores",
        "Throttled (s)",
        "Disk MB/s",
        "Bytes / row",
        "Response p50 / p95 / p99 / max (ms)",
        "Errors",
        "Verdict",
    )
    durable = "" if work.counts_requests else "durable: to the end of the flush; "
    return Table(
        title="Every trial",
        headers=headers,
        rows=tuple(rows),
        words=(0, len(headers) - 1),
        row_notes=tuple("; ".join(r.verdict.reasons) for r in by_run_order(run)),
        notes=(f"{durable}response: from the intended start; – not measured, or too few requests",),
    )


def points_table(run: StoredRun) -> Table:
    """Mean, spread, speedup and efficiency of each level, from VALID trials alone."""
    rows = []
    for p in fit_of(run).points:
        relative = 100 * p.rate_std / p.rate_mean if p.rate_std is not None else None
        efficiency = 100 * p.efficiency if p.efficiency is not None else None
        mean_rate = marked(rate(p.rate_mean), at_level(run, p.level)[0])
        rows.append(
            (
                format_number(p.level),
                str(p.n),
                mean_rate,
                rate(p.rate_std),
                fixed(relative, 1),
                speedup_words(p) if p.speedup is not None else ABSENT,
                fixed(efficiency),
            )
        )
    unit = run.plan.sweep.work.rate_words
    headers = (axis_name(run), "Valid trials", f"Mean {unit}", f"Std {unit}", "Std (%)", "Speedup", "Efficiency (%)")
    notes = ("speedup and efficiency against the first level; the speedup's brackets are its 95 % interval",)
    return Table(title="Points", headers=headers, rows=tuple(rows), notes=notes if rows else ())


def axis_facts(run: StoredRun) -> AxisFacts:
    return load_axis(run.plan.sweep.axis)


def fitted_rate(run: StoredRun) -> Rate:
    """The rate that the run's curve shows."""
    return rate_of(run.plan.sweep.work, durable=axis_facts(run).is_durable)


def shown_rates(run: StoredRun) -> tuple[Rate, ...]:
    """The fitted rate, then the others of the run's work that any trial has."""
    fitted, *others = rates_of(run.plan.sweep.work, durable=axis_facts(run).is_durable)
    has = [r for r in others if any(known(getattr(result.measurement, r.field)) for result in run.results)]
    return (fitted, *has)


def axis_name(run: StoredRun) -> str:
    """The axis for a heading."""
    return axis_facts(run).title


def knobs_table(run: StoredRun) -> Table:
    """Every knob at every level. A knob that moves is marked, because the curve then shows its effect too."""
    levels = levels_of(run)
    names = list(dict.fromkeys(name for r in run.on_curve for name in r.trial.knobs))
    rows = []
    for name in names:
        values = [knob_at([r for r in run.on_curve if r.trial.level == level], name) for level in levels]
        rows.append((knob_name(run, name), *values, "moves" if len(set(values)) > 1 else "constant"))
    shared = [_shared_at(run, level) for level in levels]
    if run.on_curve:
        rows.append(("CPUs shared with the load generator", *shared, "moves" if len(set(shared)) > 1 else "constant"))
    axis = axis_facts(run)
    headers = ("Knob", *(axis.count(format_number(v)) for v in levels), "Along the axis")
    return Table(title="Knobs", headers=headers, rows=tuple(rows), words=(0, len(headers) - 1))


def _shared_at(run: StoredRun, level: float) -> str:
    counts = {len(r.trial.placement.shared) for r in run.on_curve if r.trial.level == level}
    return " / ".join(str(n) for n in sorted(counts))


def verdict_counts(run: StoredRun) -> list[tuple[VerdictKind, int]]:
    """The number of trials for each verdict, VALID first."""
    counts = Counter(r.verdict.kind for r in run.results)
    return [(kind, counts[kind]) for kind in VerdictKind if counts[kind]]


def rows_for_console(run: StoredRun) -> tuple[list[str], list[list[str]]]:
    """Headers and one row for each level, narrow enough for a terminal."""
    points = {p.level: p for p in fit_of(run).points}
    first = points[min(points)].level if points else None
    axis = axis_facts(run)
    columns = [CONSOLE[name] for name in axis.console_columns]
    rows = []
    for level in levels_of(run):
        trials, valid = at_level(run, level)
        point = points.get(level)
        shown = measured_rate(run, level)
        spread = point.rate_std if point else None
        counts = Counter(r.verdict.kind.value for r in run.on_curve if r.trial.level == level)
        used = mean(r.measurement.server_cpu_cores for r in trials)
        rows.append(
            [
                format_number(level) + ("" if valid else MARK),
                marked(quantity(shown, spread), trials) if shown else ABSENT,
                speedup_words(point) if point and point.speedup is not None and first is not None else ABSENT,
                f"{100 * point.efficiency:.0f} %" if point and point.efficiency is not None else ABSENT,
                f"{fixed(used, 2)} / {format_number(cores_given(trials[0]))}",
                cpu_rate_cell(trials),
                *(say(trials) for _, say in columns),
                ", ".join(f"{n} {kind}" for kind, n in counts.items()),
            ]
        )
    what = [fitted_rate(run).words, "speedup", "efficiency", "server cores", "per CPU-second"]
    return [axis.title.lower(), *what, *(heading for heading, _ in columns), "verdicts"], rows
