"""The operations of a load on the page: their rates, response times, also of several databases, and cautions."""

from __future__ import annotations

from collections import Counter

from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.forms import Form, figure_html
from scale_sweep.report.operation_pictures import (
    MIDDLE,
    QUANTILES,
    Read,
    has_operations,
    mean_of,
    names_of,
    response,
    response_curve,
    times_caption,
    times_rows,
    times_svg,
    trials_by_level,
    upper_quantile,
)
from scale_sweep.report.operation_questions import (
    asked_operations_table,
    checked_words,
    checks_table,
    preload_words,
    unchecked_words,
)
from scale_sweep.report.several_curves import SubjectCurve, curves
from scale_sweep.report.shared_values import once
from scale_sweep.report.table import ABSENT, MARK, Table, fixed, level_cell, short


def operations_table(run: StoredRun) -> Table:
    """Columns without a figure are left out."""
    upper = upper_quantile(run)
    columns: list[tuple[str, Read]] = [
        ("Requests/s", lambda o: o.requests_per_s),
        (f"{MIDDLE} (ms)", response(MIDDLE)),
        (f"{upper} (ms)", response(upper)),
        ("Written rows/s", lambda o: o.rows_per_s),
        ("Rows/s in answers", lambda o: o.read_rows_per_s),
        ("Values/s", lambda o: o.read_values_per_s),
        ("MB/s", lambda o: o.read_mb_per_s),
    ]
    rows = [
        (
            name,
            level_cell(level, is_counted),
            *(_written(heading, mean_of(trials, name, read)) for heading, read in columns),
            fixed(mean_of(trials, name, lambda o: o.errors)),
            _empty(trials, name),
        )
        for name in names_of(run)
        for level, trials, is_counted in trials_by_level(run)
    ]
    headers = ("Operation", axis_facts(run).title, *(heading for heading, _ in columns), "Errors", "Empty answers")
    note = "The figures are means over the fitted trials of a level (†: none is, so over all), of the whole window."
    return once(Table(title="Operations", headers=headers, rows=tuple(rows), words=(0,), notes=(note,)), kept=(0, 1))


def _written(heading: str, value: float | None) -> str:
    return format_rate(value) if heading.endswith("/s") and heading != "MB/s" else short(value)


def quantiles_table(run: StoredRun) -> Table:
    """By operation and level."""
    rows = [
        (
            name,
            level_cell(level, is_counted),
            *(short(mean_of(trials, name, response(q))) for q in ("mean", *QUANTILES)),
        )
        for name in names_of(run)
        for level, trials, is_counted in trials_by_level(run)
    ]
    names = ["mean", *(q.replace("p999", "p99.9") for q in QUANTILES)]
    note = (
        "The times are milliseconds, from the intended start of a request to the end of its answer. –: too few "
        "requests for this quantile. †: no trial is fitted."
    )
    headers = ("Operation", axis_facts(run).title, *names)
    return Table(title="Response times by operation (ms)", headers=headers, rows=tuple(rows), words=(0,), notes=(note,))


def operations_part(run: StoredRun, form: Form) -> str:
    """The section of a report; "" if the load only writes."""
    if not has_operations(run):
        return ""

    def times() -> str:
        wide, narrow = times_svg(run), times_svg(run, 400)
        return figure_html("response-times", wide, times_caption(run), times_rows(run), narrow=narrow) if wide else ""

    def curve() -> str:
        return f"<h3>Throughput against response time</h3>{response_curve(run, trials_by_level(run))}"

    each = form.joined(*(form.table(table, dense=True) for table in (quantiles_table(run), checks_table(run))))
    return form.joined(
        form.bullets([words for words in (checked_words(run), *preload_words(run)) if words], code=True),
        form.on_page(times),
        form.table(asked_operations_table(run), dense=True),
        form.table(operations_table(run), dense=True),
        form.on_page(curve),
        form.folded("All quantiles of the response times, and the checked answers of each operation", each),
    )


def cautions_of_answers(run: StoredRun) -> tuple[str, ...]:
    return tuple(filter(None, (answers_words(run), unchecked_words(run)))) if has_operations(run) else ()


def answers_words(run: StoredRun) -> str:
    empty, answers = Counter[str](), Counter[str]()
    for r in run.on_curve:
        for name, one in r.measurement.operations.items():
            if one.empty is not None:
                empty[name] += one.empty
                answers[name] += one.requests or 0
    some = [f"{empty[name]:,} of {counted(answers[name], 'answer')} of {name}" for name in answers if empty[name]]
    return f"{', '.join(some)} held no row: a query that finds nothing is fast." if some else ""


def _empty(trials: list[TrialResult], name: str) -> str:
    operations = [r.measurement.operations[name] for r in trials if name in r.measurement.operations]
    counts = [(o.empty, o.requests) for o in operations if o.empty is not None and o.requests]
    if not counts:
        return ABSENT
    share = 100 * sum(e for e, _ in counts) / sum(n for _, n in counts)
    return f"{short(share)} %"


CANNOT = "cannot"  # the cell of an operation that a database cannot express
_TIMES_NOTE = (
    "The times are milliseconds, means of the medians of the trials that count (†: of all trials, because none counts; "
    "–: too few requests for a median). cannot: the database cannot express the query; its report gives the reason."
)
_SHARED_NOTE = (
    "The operations of a mix share the server, so the time of one depends on the others: --mix NAME=1 runs one alone."
)


def mixes_words(run: StoredRun) -> str:
    operations = {curve.name: operation_names(curve) for curve in curves(run)}
    if len({frozenset(names) for names in operations.values()}) < 2:
        return ""
    each = ", ".join(f"{name} {len(names)}" for name, names in operations.items())
    return f"The databases had different operations ({each}), so the rates of their mixes cannot be compared."


def several_operations_table(run: StoredRun) -> Table:
    """A column for each database; no row where there is one operation."""
    databases = curves(run)
    names = dict.fromkeys(name for curve in databases for name in operation_names(curve))
    levels = sorted({point.level for curve in databases for point in curve.points})
    rows = [
        (name, format_number(level), *(_cell(curve, name, level) for curve in databases))
        for name in names
        for level in levels
    ]
    return Table(
        title="The response times of each operation",
        headers=("operation", axis_facts(run).name, *(f"{curve.name} p50 ms" for curve in databases)),
        rows=tuple(rows) if len(names) > 1 else (),
        words=(0,),
        notes=(_TIMES_NOTE, _SHARED_NOTE),
    )


def operation_names(curve: SubjectCurve) -> tuple[str, ...]:
    return tuple(operation.name for operation in curve.results[0].trial.work.operations)


def _cell(curve: SubjectCurve, name: str, level: float) -> str:
    if name not in operation_names(curve):
        return CANNOT
    point = next((point for point in curve.points if point.level == level), None)
    median = mean_of(point.used, name, response(MIDDLE)) if point else None
    return short(median) + ("" if point is None or point.is_counted or median is None else MARK)
