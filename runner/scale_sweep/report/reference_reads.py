"""Published response times of reads beside ours, from a table with the columns operation, target and response_s."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.model.fitted import StoredRun
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.operations import CANNOT, operation_names
from scale_sweep.report.reference import Reference, number
from scale_sweep.report.several_curves import SubjectCurve, SubjectPoint, curves
from scale_sweep.report.table import ABSENT, MARK, Table, mean, short

NEEDS = ("operation", "target", "response_s")  # columns of a table of reads
_TITLE = "Published and ours: response times of reads"
_STORING_TITLE = "Published and ours: rows stored and written"
_FIGURES: tuple[tuple[str, str, Callable[[float | None], str]], ...] = (  # column, words, spelling
    ("stored_bytes_per_row", "bytes on disk for a row", short),
    ("written_rows_per_s", "rows/s written", format_rate),
)


def is_of_reads(reference: Reference | None) -> bool:
    return reference is not None and any(all(column in row for column in NEEDS) for row in reference[:1])


def reads_tables(run: StoredRun, reference: Reference | None) -> tuple[Table, ...]:
    if reference is None or not is_of_reads(reference):
        return ()
    times = _times(run, reference)
    return tuple(filter(None, (times, _storing(run, reference)))) if times else ()


def _times(run: StoredRun, reference: Reference) -> Table | None:
    """Seconds, published and ours."""
    published = _published(reference)
    targets, ours = tuple(dict.fromkeys(row["target"] for row in reference)), curves(run)
    measured = {name for curve in ours for name in operation_names(curve)}
    names = [name for name in dict.fromkeys(name for name, _ in published) if name in measured]
    if not names:
        return None
    numbers = _numbers(reference)
    rows = []
    for name in names:
        theirs = [published.get((name, target)) for target in targets]
        mine = [_ours(curve, name) for curve in ours]
        cells = [
            _marked(curve, short(value)) if name in operation_names(curve) else CANNOT
            for curve, value in zip(ours, mine, strict=True)
        ]
        number = (numbers.get(name, ABSENT),) if numbers else ()
        rows.append((name, *number, *map(short, theirs), *_ratio(theirs), *cells, *_ratio(mine, _all_count(ours))))
    headers = (
        "Operation",
        *(("Published table",) if numbers else ()),
        *(f"Published {target} (s)" for target in targets),
        *_ratio_heading("Published", targets),
        *(f"Ours {curve.name} (s)" for curve in ours),
        *_ratio_heading("Ours", [curve.name for curve in ours]),
    )
    words, notes = (0, 1) if numbers else (0,), tuple(_notes(run, reference, ours))
    return Table(title=_TITLE, headers=headers, rows=tuple(rows), words=words, notes=notes)


def _storing(run: StoredRun, reference: Reference) -> Table | None:
    """None if neither is published."""
    targets, ours = tuple(dict.fromkeys(row["target"] for row in reference)), curves(run)
    measured = {
        "stored_bytes_per_row": [_last(curve).stored_bytes for curve in ours],
        "written_rows_per_s": [_preloaded(curve) for curve in ours],
    }
    rows = []
    for column, words, spelled in _FIGURES:
        published = {row["target"]: value for row in reference if (value := number(row.get(column))) is not None}
        if published:
            theirs, mine = [published.get(target) for target in targets], measured[column]
            cells = [_marked(curve, spelled(value)) for curve, value in zip(ours, mine, strict=True)]
            rows.append((words, *map(spelled, theirs), *_ratio(theirs), *cells, *_ratio(mine, _all_count(ours))))
    headers = (
        "Figure",
        *(f"Published {target}" for target in targets),
        *_ratio_heading("Published", targets),
        *(f"Ours {curve.name}" for curve in ours),
        *_ratio_heading("Ours", [curve.name for curve in ours]),
    )
    note = "Our rows/s written are those of the preload, until the server was at rest."
    return Table(title=_STORING_TITLE, headers=headers, rows=tuple(rows), words=(0,), notes=(note,)) if rows else None


def _numbers(reference: Reference) -> dict[str, str]:
    """The tables of the publication by operation: "5, 6"; empty if none is named."""
    named: dict[str, list[str]] = {}
    for row in reference:
        number = row.get("table")
        if number and number not in named.setdefault(row["operation"], []):
            named[row["operation"]].append(number)
    return {operation: ", ".join(numbers) for operation, numbers in named.items()}


def _published(reference: Reference) -> dict[tuple[str, str], float | None]:
    """Mean seconds by operation and target."""
    values: dict[tuple[str, str], list[float | None]] = {}
    for row in reference:
        values.setdefault((row["operation"], row["target"]), []).append(number(row["response_s"]))
    return {key: mean(several) for key, several in values.items()}


def _last(curve: SubjectCurve) -> SubjectPoint:
    return max(curve.points, key=lambda point: point.level)


def _ours(curve: SubjectCurve, name: str) -> float | None:
    """Mean seconds at the highest level."""
    operations = [result.measurement.operations.get(name) for result in _last(curve).used]
    ms = mean(operation.response_ms.get("mean") for operation in operations if operation)
    return None if ms is None else ms / 1000


def _marked(curve: SubjectCurve, words: str) -> str:
    return words + ("" if _last(curve).is_counted or words == ABSENT else MARK)


def _all_count(ours: Sequence[SubjectCurve]) -> bool:
    return all(_last(curve).is_counted for curve in ours)


def _preloaded(curve: SubjectCurve) -> float | None:
    measured = [result.measurement for result in curve.results]
    return mean(m.preload_rows / m.preload_s for m in measured if m.preload_rows and m.preload_s)


def _ratio(values: Sequence[float | None], all_count: bool = True) -> tuple[str, ...]:
    if len(values) != 2:
        return ()
    first, second = values
    return (short(second / first) if first and second and all_count else ABSENT,)


def _ratio_heading(side: str, names: Sequence[str]) -> tuple[str, ...]:
    return (f"{side} {names[1]} / {names[0]}",) if len(names) == 2 else ()


def _notes(run: StoredRun, reference: Reference, ours: Sequence[SubjectCurve]) -> list[str]:
    top = max(_last(curve).level for curve in ours)
    connections = sorted({r.trial.load.connections for curve in ours for r in _last(curve).used})
    clients = " or ".join(counted(n, "connection") for n in connections)
    notes = [
        f"Ours are means at {format_number(top)} {axis_facts(run).name}, with {clients} that send a mix.",
        "The times come from different machines and amounts of data; compare the ratios of two databases.",
    ]
    if any(name not in operation_names(curve) for curve in ours for name in {row["operation"] for row in reference}):
        notes.append(f"{CANNOT}: the database cannot express this query; its report gives the reason.")
    if not _all_count(ours):
        notes.append("† No trial of ours at this level counts.")
    return notes
