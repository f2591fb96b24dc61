"""Questions of each operation, rows that were there before the load, and answers that were checked."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.base.units import counted, format_number, format_seconds
from scale_sweep.experiment.work import operation_of
from scale_sweep.experiment.work.drawn import from_text
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult, VerdictKind
from scale_sweep.model.questions import Query
from scale_sweep.report.table import ABSENT, Table, mean, short

_HEADERS = ("Operation", "Kind", "Share of requests", "Query", "Devices", "Span", "Bucket", "Bound")
_WHEN = {"always": "all time", "at": "one moment", "before": "all time before a moment"}


def asked_operations_table(run: StoredRun) -> Table:
    work = run.plan.sweep.work
    total = sum(o.weight for o in work.operations if not o.is_apart) or 1.0
    rows = tuple((o.name, o.kind_name, _share(o, total), *_cells_of(work, o)) for o in work.operations)
    note = "Devices, starts of spans and bounds within LOW..HIGH are drawn for each request."
    return Table(title="Queries", headers=_HEADERS, rows=rows, words=(0, 1, 3, 4, 5, 6, 7), notes=(note,))


def _share(operation: Operation, total: float) -> str:
    return "on separate connections" if operation.is_apart else f"{100 * operation.weight / total:.3g} %"


def _cells_of(work: Work, operation: Operation) -> tuple[str, str, str, str, str]:
    try:
        query = operation_of(operation.kind_name).query(work, operation)
    except ValueError:
        written = " ".join(f"{name}={value}" for name, value in operation.parameters.items())
        return (written or ABSENT, ABSENT, ABSENT, ABSENT, ABSENT)
    if query is None:
        return ("writes rows", ABSENT, ABSENT, ABSENT, ABSENT)
    span = f"{format_seconds(query.span_ms / 1000)}" if query.span_ms else _WHEN.get(query.when, ABSENT)
    bucket = format_seconds(query.bucket_ms / 1000) if query.bucket_ms else ABSENT
    filled = f", empty ones: {query.fill}" if query.fill else ""
    return (_wanted(query), _devices(query), span, bucket + filled, _bound(query))


def _wanted(query: Query) -> str:
    if query.text:
        return query.text
    columns = ", ".join(query.columns) or "all columns"
    wanted = f"{', '.join(query.functions)} of {columns}" if query.function else columns
    parts = (
        "the last row of each: " if query.latest else "",
        wanted,
        f", for each value of {query.each_tag}" if query.each_tag else "",
        ", for each device" if query.by_device else "",
        f", the first {query.limit} rows" if query.limit else "",
        f", by {query.by_value}{' descending' if query.largest_first else ''}" if query.by_value else "",
        f"; {query.sets} of two ranges" if query.sets else "",
    )
    return "".join(parts)


def _devices(query: Query) -> str:
    if query.with_tag is not None:
        return "those with {} = {}".format(*query.with_tag)
    if query.tag:
        return f"those of {query.groups or 'all'} values of {query.tag}"
    return format_number(query.devices) if query.devices else ABSENT if query.text else "all"


def _bound(query: Query) -> str:
    drawn = format_number(query.low) if query.low == query.high else f"{query.low:g}..{query.high:g}"
    sign = "<" if query.is_below else ">"
    bounds = [f"{column} {sign} {drawn}" for column in query.bounds]
    bounds += [f"{c.column} {c.sign} {c.value:g}" for c in query.conditions]
    return ", ".join(bounds) or ABSENT


AT_REST = "at_rest"  # among the settings of a trial: how its server knows that it is at rest


def preload_words(run: StoredRun) -> list[str]:
    by_target: dict[str, list[TrialResult]] = {}
    for result in run.results:
        if result.measurement.preload_rows:
            by_target.setdefault(result.trial.subject.target, []).append(result)
    several = len(by_target) > 1
    return [f"{target}: {words}" if several else words for target, some in by_target.items() for words in _words(some)]


def _words(results: list[TrialResult]) -> list[str]:
    first = results[0].measurement
    sentences = [f"{first.preload_rows or 0:,} rows were there before each load{_size(results[0])}."]
    copies = [r.measurement for r in results if r.measurement.preload_copied]
    if copies:
        seconds, way = mean(m.preload_copy_s for m in copies), copies[0].preload_copied
        sentences.append(
            f"They were loaded once, in {short(first.preload_s)} s; {counted(len(copies), 'trial')} got a {way} of the "
            f"files, in {short(seconds)} s each."
        )
    else:
        sentences.append(f"Each trial loaded them, in {short(mean(r.measurement.preload_s for r in results))} s.")
    cached = [r.measurement.preload_cached_percent for r in results]
    if any(share is not None for share in cached):
        cache = results[0].trial.work.cache
        sentences.append(f"{short(mean(cached))} % of the files were in the page cache just before the load ({cache}).")
    return sentences


def _size(result: TrialResult) -> str:
    m = result.measurement
    if m.preload_bytes_per_row is None:
        return ""
    rest = result.effective.get(AT_REST, "")
    raw = f" for {short(m.preload_raw_bytes_per_row)} bytes of values" if m.preload_raw_bytes_per_row else ""
    ratio = f" ({short(1 / m.preload_compression)} × their size)" if m.preload_compression else ""
    log = f", and {short(m.preload_log_gb)} GB of log" if m.preload_log_gb is not None else ""
    size = f": {short(m.preload_gb)} GB on disk, {short(m.preload_bytes_per_row)} bytes a row{raw}{ratio}"
    return f"{size}{log}, when the server was at rest" + (f" ({rest})" if rest else "")


_CHECK_HEADERS = (
    "Operation",
    "Kind",
    "Parameters",
    "Before the load",
    "Of the load",
    "Of the load, rows counted",
    "Devices",
    "Rows within the bounds",
    "CPU, s",
    "After the load, s",
)
_CHECK_NOTE = (
    "Devices are those whose values were compared. Rows within the bounds are those that these queries compare. The "
    "CPU time is the load generator's for these requests, the seconds after the load are the comparison's."
)


def checks_table(run: StoredRun) -> Table:
    work, note = run.plan.sweep.work, f"These answers of all trials were compared with the right ones. {_CHECK_NOTE}"
    return _table("Answers checked", work, run.results, f"{note} Bounds are means over the trials.")


def trial_checks_table(result: TrialResult) -> Table:
    work, figures = result.trial.work, result.measurement.operations.values()
    before = sum(one.checked_before or 0 for one in figures)
    within = sum(one.checked_within or 0 for one in figures)
    title = f"Answers checked in {result.trial.trial_id}: {before:,} before the load, {within:,} of the load"
    note = f"These answers of this trial were compared with the right ones. {_CHECK_NOTE}"
    return _table(title, work, (result,) if before else (), note)


def checked_words(run: StoredRun) -> str:
    figures = [one for r in run.results for one in r.measurement.operations.values()]
    before, within = sum(one.checked_before or 0 for one in figures), sum(one.checked_within or 0 for one in figures)
    if not before + within:
        return ""
    wrong = sum(r.verdict.kind is VerdictKind.WRONG_ANSWER for r in run.results)
    right = f"wrong in {counted(wrong, 'trial')}" if wrong else "all were right"
    return f"Answers checked: {before:,} before the load and {within:,} of the load; {right}."


def unchecked_words(run: StoredRun) -> str:
    names = [o.name for o in run.plan.sweep.work.operations if operation_of(o.kind_name).answers == "unchecked"]
    return f"The answers of {', '.join(names)} are not checked: the right ones are not known." if names else ""


def _table(title: str, work: Work, results: Sequence[TrialResult], note: str) -> Table:
    reading = [o for o in work.operations if operation_of(o.kind_name).answers] if results else []
    rows = tuple(_row(work, operation, results) for operation in reading)
    return Table(title=title, headers=_CHECK_HEADERS, rows=rows, words=(0, 1, 2), notes=(note,))


def _row(work: Work, operation: Operation, results: Sequence[TrialResult]) -> tuple[str, ...]:
    parameters = " ".join(f"{name}={value}" for name, value in operation.parameters.items())
    figures = (r.measurement.operations.get(operation.name) for r in results)
    known = [one for one in figures if one is not None and one.checked_before is not None]
    passed = mean(one.passed_percent for one in known)
    devices = {device for one in known for device in from_text(one.checked_devices)}
    cells = (
        f"{sum(one.checked_before or 0 for one in known):,}",
        f"{sum(one.checked_within or 0 for one in known):,}",
        f"{sum(one.checked_rows or 0 for one in known):,}",
        f"{len(devices):,} of {work.data.tables:,}",
        f"{short(passed)} %" if passed is not None else ABSENT,
        *(
            short(sum(taken)) if (taken := [s for s in each if s is not None]) else ABSENT
            for each in ([one.check_cpu_s for one in known], [one.check_s for one in known])
        ),
    )
    unknown = ("unchecked" if operation_of(operation.kind_name).answers == "unchecked" else ABSENT, *[ABSENT] * 6)
    return (operation.name, operation.kind_name, parameters or ABSENT, *(cells if known else unknown))
