"""Several databases in one run, side by side: what each rate cost, and on which terms each was measured.

Refuses to name a winner: terms differ, and a difference is one where intervals do not overlap.
"""

from __future__ import annotations

from html import escape

from runner.model import StoredRun
from runner.report.figures import axis_facts
from runner.report.marks import marked
from runner.report.subject_curves import curves_svg
from runner.report.subject_points import SubjectPoint, curves, overlaps
from runner.report.table import ABSENT, Table, fixed, known, rate, short
from runner.units import format_number

_RATES = (
    "95 % interval: of the mean of the trials that count; durable: counted to the end of the flush; speedup: against "
    "the database's own first level; † no trial counts: mean over all, and not the server's number"
)
_COSTS = (
    "bytes in files: all files of the server after the flush, with its logs and what it reserved, for each row that it "
    "counted; bytes written: to the disk, by everybody; load generator: CPU seconds of the client's side"
)
# What a target says of itself among its settings as read back, by the heading that it has here.
TERMS = {
    "server": "server_version",
    "acknowledged when the rows are": "acknowledged",
    "stored": "compression",
}


def has_several(run: StoredRun) -> bool:
    """Whether the run measured more than one database."""
    return len({trial.subject.target for trial in run.plan.trials}) > 1


def tables(run: StoredRun) -> tuple[Table, ...]:
    """The rates, what they cost, and the terms; none where there is one database."""
    return (rates_table(run), cost_table(run), terms_table(run)) if has_several(run) else ()


def figure_html(run: StoredRun) -> str:
    """The curves of all with their terms; "" where there is one database."""
    if not has_several(run):
        return ""
    drawn = curves_svg(run)
    caption = (
        "Means of the trials that count, with their 95 % intervals where several trials make one; hollow: no trial "
        "counts. Beside each name: where the rows of a request are when it is acknowledged."
    )
    return f"<figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>" if drawn else ""


def rates_table(run: StoredRun) -> Table:
    """A row for each level and database, in the order asked for; its figures are those of SubjectPoint."""
    found = curves(run)
    rows = [(curve.name, point) for curve in found for point in curve.points]
    headers = (
        axis_facts(run).name,
        "database",
        "rows/s",
        "95 % interval",
        "durable rows/s",
        "speedup",
        "response p50 ms",
        "response p99 ms",
        "verdicts",
    )
    return Table(
        title="The rates side by side",
        headers=headers,
        rows=tuple((_level(p), name, *_rates(p)) for name, p in sorted(rows, key=lambda row: row[1].level)),
        words=(1, len(headers) - 1),
        notes=(_RATES, *overlaps(run, found)),
    )


def _level(p: SubjectPoint) -> str:
    return format_number(p.level) + ("" if p.is_counted else " †")


def _rates(p: SubjectPoint) -> tuple[str, ...]:
    return (
        marked(rate(p.rows_per_s), p.used),
        f"{rate(p.low)}..{rate(p.high)}" if known(p.low) and known(p.high) else ABSENT,
        rate(p.durable_rows_per_s),
        f"{p.speedup:.2f}×" if p.speedup else ABSENT,
        short(p.response_ms_p50),
        short(p.response_ms_p99),
        p.verdicts,
    )


def cost_table(run: StoredRun) -> Table:
    """A row for each database and level; its figures are those of SubjectPoint."""
    return Table(
        title="What the rates cost",
        headers=(
            "database",
            axis_facts(run).name,
            "rows/s per core",
            "server CPU-s / M rows",
            "load generator CPU-s / M rows",
            "bytes in files / row",
            "bytes written / row",
        ),
        rows=tuple((curve.name, _level(p), *_costs(p)) for curve in curves(run) for p in curve.points),
        words=(0,),
        notes=(_COSTS,),
    )


def _costs(p: SubjectPoint) -> tuple[str, ...]:
    return (
        rate(p.rows_per_core),
        short(p.server_cost),
        short(p.client_cost),
        short(p.stored_bytes),
        short(p.written_bytes),
    )


def terms_table(run: StoredRun) -> Table:
    """A row for each database: what makes its rates comparable with the others', or not."""
    rows = []
    for curve in curves(run):
        load = sorted({r.trial.load.connections for r in curve.results})
        requests = sorted({r.trial.work.data.rows_per_request for r in curve.results})
        rows.append(
            (
                curve.name,
                *(curve.term(key) for key in TERMS.values()),
                curve.results[0].trial.subject.method,
                ", ".join(fixed(n) for n in requests),
                ", ".join(fixed(n) for n in load),
            )
        )
    return Table(
        title="The terms",
        headers=("database", *TERMS, "method", "rows a request", "connections"),
        rows=tuple(rows),
        words=(0, 1, 2, 3, 4),
        notes=("the defaults of the vendors, unless --knob says otherwise; acknowledged: when a request is answered",),
    )
