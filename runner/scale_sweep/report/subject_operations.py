"""The operations of a load on several databases, side by side: how long half of the answers of each took.

Refuses to compare the rates of mixes that differ: who is asked fewer kinds of requests answers more of them.
"""

from __future__ import annotations

from scale_sweep.base.units import format_number
from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.subject_points import SubjectCurve, SubjectPoint, curves
from scale_sweep.report.table import ABSENT, Table, mean, short

_NOT_ASKED = "not asked"
_NOTE = (
    "milliseconds, means of the medians of the trials that count; †: no trial counts, so of all; –: too few requests "
    "for a median; not asked: the report of the database says why"
)
_SHARED = (
    "the operations of a mix share the server, so the time of one depends on the others: --mix NAME=1 asks one alone"
)


def mixes_words(run: StoredRun) -> str:
    """That the databases were not asked the same operations, in a sentence; "" if they were."""
    asked = {curve.name: _asked(curve) for curve in curves(run)}
    if len({frozenset(names) for names in asked.values()}) < 2:
        return ""
    each = ", ".join(f"{name} {len(names)}" for name, names in asked.items())
    return f"The databases were asked different operations ({each}), so the rates of their mixes cannot be compared."


def operations_table(run: StoredRun) -> Table:
    """A row for each operation and level, and a column for each database; no row where there is one operation."""
    found = curves(run)
    names = dict.fromkeys(name for curve in found for name in _asked(curve))
    levels = sorted({point.level for curve in found for point in curve.points})
    rows = [
        (name, format_number(level), *(_cell(curve, name, level) for curve in found))
        for name in names
        for level in levels
    ]
    return Table(
        title="The response times of each operation",
        headers=("operation", axis_facts(run).name, *(f"{curve.name} p50 ms" for curve in found)),
        rows=tuple(rows) if len(names) > 1 else (),
        words=(0,),
        notes=(_NOTE, _SHARED),
    )


def _asked(curve: SubjectCurve) -> tuple[str, ...]:
    """The names of the operations, in the order of the mix."""
    return tuple(operation.name for operation in curve.results[0].trial.work.operations)


def _cell(curve: SubjectCurve, name: str, level: float) -> str:
    if name not in _asked(curve):
        return _NOT_ASKED
    point = next((point for point in curve.points if point.level == level), None)
    return _median(point, name) if point else ABSENT


def _median(point: SubjectPoint, name: str) -> str:
    found = mean(_response(result, name) for result in point.used)
    return short(found) + ("" if point.is_counted or found is None else " †")


def _response(result: TrialResult, name: str) -> float | None:
    figures = result.measurement.operations.get(name)
    return figures.response_ms.get("p50") if figures else None
