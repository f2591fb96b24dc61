"""Several databases in one run, side by side: rates and terms, and the response times of each operation."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.experiment.work import stores
from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.report.figures import axis_facts, shown_rates
from scale_sweep.report.forms import figure_html as picture_html
from scale_sweep.report.run_facts import starting_point
from scale_sweep.report.several_curves import SubjectCurve, SubjectPoint, curves, curves_rows, curves_svg, overlaps
from scale_sweep.report.table import ABSENT, MARK, Table, fixed, level_cell, marked, mean, short

_DURABLE = "A durable rate counts to the end of the flush. "
_COUNTED = "† No trial counts: the mean is over all, and not the server's number."
_FILES = "Bytes in files are those of all files of the server, also logs and reserved space, for each counted row."
_WRITTEN = "Bytes written are those to the disk, by all processes."
_CLIENT = "The load generator is the client."
# What a target says of itself among its settings as read back, by the heading that it has here.
TERMS = {
    "server": "server_version",
    "acknowledged when the rows are": "acknowledged",
    "stored": "compression",
}
TERMS_OF_READS = {heading: key for heading, key in TERMS.items() if key != "acknowledged"}


def has_several(run: StoredRun) -> bool:
    return len({trial.subject.target for trial in run.plan.trials}) > 1


def tables(run: StoredRun) -> tuple[Table, ...]:
    if not has_several(run):
        return ()
    each = operations_table(run)
    return (rates_table(run), *((each,) if each.rows else ()), cost_table(run), terms_table(run))


def figure_html(run: StoredRun) -> str:
    if len(curves(run)) < 2:
        return ""
    drawn, narrow = curves_svg(run), curves_svg(run, 400, 320)
    points = [p for curve in curves(run) for p in curve.points]
    interval = ", with their 95 % intervals" if any(p.low is not None for p in points) else ""
    hollow = "" if all(p.is_counted for p in points) else " Hollow: no trial counts."
    terms = " Beside each name: the place of the rows of a request when it is acknowledged."
    caption = f"Means of the trials that count{interval}.{hollow}{terms if stores(run.plan.sweep.work) else ''}"
    return picture_html("curves", drawn, caption, curves_rows(run), narrow=narrow) if drawn else ""


def rates_table(run: StoredRun) -> Table:
    """A row for each level and database, in the order asked for; its figures are those of SubjectPoint."""
    databases = curves(run)
    rows = [(curve.name, point) for curve in databases for point in curve.points]
    compared = (mixed,) if (mixed := mixes_words(run)) else overlaps(run, databases)
    words, field = [shown.words for shown in shown_rates(run)], shown_rates(run)[0].field
    headers = (
        axis_facts(run).name,
        "database",
        "verdicts",
        *words,
        "speedup",
        "response p50 ms",
        "response p99 ms",
    )
    return Table(
        title="The rates side by side",
        headers=headers,
        rows=tuple((_level(p), name, *_rates(p, field)) for name, p in sorted(rows, key=lambda row: row[1].level)),
        words=(1, 2),
        notes=(_explained(words), *compared),
    )


def _explained(words: Sequence[str]) -> str:
    durable = _DURABLE if any("durable" in each for each in words) else ""
    interval = f"Parentheses have the 95 % interval of the mean of {words[0]}, over the trials that count"
    return f"{interval}. {durable}The speedup is relative to the first level of the database. {_COUNTED}"


def _level(p: SubjectPoint) -> str:
    return level_cell(p.level, p.is_counted)


def _rates(p: SubjectPoint, field: str) -> tuple[str, ...]:
    return (
        p.verdicts,
        marked(format_rate(p.rates[0], p.low, p.high), p.used, field=field),
        *map(format_rate, p.rates[1:]),
        f"{p.speedup:.2f}×" if p.speedup else ABSENT,
        short(p.response_ms_p50),
        short(p.response_ms_p99),
    )


def cost_table(run: StoredRun) -> Table:
    """A row for each database and level; its figures are those of SubjectPoint. Bytes written where rows are."""
    unit, stored = run.plan.sweep.work.unit, stores(run.plan.sweep.work)
    return Table(
        title="Resources per row",
        headers=(
            "database",
            axis_facts(run).name,
            f"{shown_rates(run)[0].words} per core",
            f"server CPU-s / M {unit}",
            f"load generator CPU-s / M {unit}",
            "bytes in files / row",
            *(("bytes written / row",) if stored else ()),
        ),
        rows=tuple((curve.name, _level(p), *_costs(p, stored)) for curve in curves(run) for p in curve.points),
        words=(0,),
        notes=(" ".join((_FILES, *((_WRITTEN,) if stored else ()), _CLIENT)),),
    )


def _costs(p: SubjectPoint, stored: bool) -> tuple[str, ...]:
    return (
        format_rate(p.rate_per_core),
        short(p.server_cost),
        short(p.client_cost),
        short(p.stored_bytes),
        *((short(p.written_bytes),) if stored else ()),
    )


def terms_table(run: StoredRun) -> Table:
    """A row for each database: what makes its rates comparable with the others', or not."""
    stored = stores(run.plan.sweep.work)
    terms = TERMS if stored else TERMS_OF_READS
    rows = []
    for curve in curves(run):
        load = sorted({r.trial.load.connections for r in curve.results})
        requests = sorted({r.trial.work.data.rows_per_request for r in curve.results})
        written = (curve.results[0].trial.subject.method, ", ".join(fixed(n) for n in requests)) if stored else ()
        stated = tuple(curve.term(key) for key in terms.values())
        rows.append((curve.name, *stated, *written, ", ".join(fixed(n) for n in load)))
    acknowledged = " A request is acknowledged when it is answered." if stored else ""
    return Table(
        title="Settings that affect comparability",
        headers=("database", *terms, *(("method", "rows a request") if stored else ()), "connections"),
        rows=tuple(rows),
        words=tuple(range(len(terms) + 1 + stored)),
        notes=(f"{starting_point(run)}, unless --knob changes it.{acknowledged}",),
    )


CANNOT = "cannot"  # the cell of an operation that a database cannot express
_NOTE = (
    "The times are milliseconds, means of the medians of the trials that count (†: of all trials, because none counts; "
    "–: too few requests for a median). cannot: the database cannot express the query; its report gives the reason."
)
_SHARED = (
    "The operations of a mix share the server, so the time of one depends on the others: --mix NAME=1 runs one alone."
)


def mixes_words(run: StoredRun) -> str:
    operations = {curve.name: operation_names(curve) for curve in curves(run)}
    if len({frozenset(names) for names in operations.values()}) < 2:
        return ""
    each = ", ".join(f"{name} {len(names)}" for name, names in operations.items())
    return f"The databases had different operations ({each}), so the rates of their mixes cannot be compared."


def operations_table(run: StoredRun) -> Table:
    """A row for each operation and level, and a column for each database; no row where there is one operation."""
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
        notes=(_NOTE, _SHARED),
    )


def operation_names(curve: SubjectCurve) -> tuple[str, ...]:
    return tuple(operation.name for operation in curve.results[0].trial.work.operations)


def _cell(curve: SubjectCurve, name: str, level: float) -> str:
    if name not in operation_names(curve):
        return CANNOT
    point = next((point for point in curve.points if point.level == level), None)
    return _median(point, name) if point else ABSENT


def _median(point: SubjectPoint, name: str) -> str:
    median = mean(_response(result, name) for result in point.used)
    return short(median) + ("" if point.is_counted or median is None else MARK)


def _response(result: TrialResult, name: str) -> float | None:
    figures = result.measurement.operations.get(name)
    return figures.response_ms.get("p50") if figures else None
