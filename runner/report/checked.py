"""What was checked of the answers of each operation, for the report. Refuses to judge: that is the verdict's part."""

from __future__ import annotations

from runner.model import Operation, OperationFigures, StoredRun
from runner.report.table import ABSENT, Table, mean, short
from runner.work import operation_of
from runner.work.devices import from_text

_HEADERS = (
    "Operation",
    "Kind",
    "Parameters",
    "Before the load",
    "Of the load",
    "Of the load, rows counted",
    "Devices",
    "Rows above the bound",
)
_NOTE = (
    "answers of all trials that were compared with the right ones; devices: those whose values were "
    "compared; rows above the bound: of those that these queries compare with it, mean over the trials"
)


def checks_table(run: StoredRun) -> Table:
    """The numbers of compared answers of each operation that reads, over all trials."""
    work = run.plan.sweep.work
    reading = [operation for operation in work.operations if operation_of(operation.kind_name).answers]
    rows = [_row(run, operation) for operation in reading]
    return Table(title="Answers checked", headers=_HEADERS, rows=tuple(rows), words=(0, 1, 2), notes=(_NOTE,))


def unchecked_words(run: StoredRun) -> str:
    """The operations whose answers nobody compared, in a sentence; "" if there are none."""
    names = [o.name for o in run.plan.sweep.work.operations if operation_of(o.kind_name).answers == "unchecked"]
    return f"The answers of {', '.join(names)} are unchecked: nobody knows the right ones." if names else ""


def _row(run: StoredRun, operation: Operation) -> tuple[str, ...]:
    parameters = " ".join(f"{name}={value}" for name, value in operation.parameters.items())
    known = [one for one in _all_of(run, operation.name) if one.checked_before is not None]
    devices = {device for one in known for device in from_text(one.checked_devices)}
    cells = (
        f"{sum(one.checked_before or 0 for one in known):,}",
        f"{sum(one.checked_within or 0 for one in known):,}",
        f"{sum(one.checked_rows or 0 for one in known):,}",
        f"{len(devices):,} of {run.plan.sweep.work.data.tables:,}",
        _percent(mean(one.passed_percent for one in known)),
    )
    unknown = ("unchecked" if operation_of(operation.kind_name).answers == "unchecked" else ABSENT, *[ABSENT] * 4)
    return (operation.name, operation.kind_name, parameters or ABSENT, *(cells if known else unknown))


def _percent(share: float | None) -> str:
    return f"{short(share)} %" if share is not None else ABSENT


def _all_of(run: StoredRun, name: str) -> list[OperationFigures]:
    return [r.measurement.operations[name] for r in run.results if name in r.measurement.operations]
