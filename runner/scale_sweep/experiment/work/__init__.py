"""Work: the operations on a database."""

from __future__ import annotations

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import Registry
from scale_sweep.base.texts import not_one_of
from scale_sweep.experiment.work.operation import OperationKind as OperationKind
from scale_sweep.experiment.work.operation import Rate as Rate
from scale_sweep.experiment.work.operation import whole
from scale_sweep.experiment.work.read import REQUESTS
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.declared_parts import Load, Objective
from scale_sweep.model.questions import Query

OPERATIONS = Registry(
    "scale_sweep.operations",
    {
        "write": "scale_sweep.experiment.work.operation:WRITE",
        "point": "scale_sweep.experiment.work.selects:POINT",
        "range": "scale_sweep.experiment.work.selects:RANGE_ROWS",
        "range_value": "scale_sweep.experiment.work.selects:RANGE_VALUE",
        "range_desc": "scale_sweep.experiment.work.selects:RANGE_DESC",
        "range_value_desc": "scale_sweep.experiment.work.selects:RANGE_VALUE_DESC",
        "latest": "scale_sweep.experiment.work.selects:LATEST",
        "aggregate": "scale_sweep.experiment.work.aggregates:AGGREGATE",
        "aggregate_value": "scale_sweep.experiment.work.aggregates:AGGREGATE_VALUE",
        "aggregate_range_value": "scale_sweep.experiment.work.aggregates:AGGREGATE_RANGE_VALUE",
        "group_by_time": "scale_sweep.experiment.work.aggregates:GROUP_BY_TIME",
        "group_by_time_desc": "scale_sweep.experiment.work.aggregates:GROUP_BY_TIME_DESC",
        "group_by_time_limit": "scale_sweep.experiment.work.aggregates:GROUP_BY_TIME_LIMIT",
        "set": "scale_sweep.experiment.work.selects:SET",
        "group_by_tag": "scale_sweep.experiment.work.aggregates:GROUP_BY_TAG",
        "aggregate_tag": "scale_sweep.experiment.work.aggregates:AGGREGATE_TAG",
        "scan_tag": "scale_sweep.experiment.work.aggregates:SCAN_TAG",
        "sql": "scale_sweep.experiment.work.selects:SQL",
        "command": "scale_sweep.experiment.work.operation:COMMAND",
    },
)


def operation_of(name: str) -> OperationKind:
    if name not in OPERATIONS:
        raise UsageError(f"operation {not_one_of(name, OPERATIONS.names())}")
    kind: OperationKind = OPERATIONS.load(name)
    return kind


def takes_fixed_work(load: Load, work: Work) -> bool:
    """Whether --rows could replace the window."""
    return load.objective is None and not load.soak and not work.counts_requests


def queries_of(work: Work) -> dict[str, Query]:
    """Raises ValueError."""
    queries = {o.name: operation_of(o.kind_name).query(work, o) for o in work.operations}
    return {name: query for name, query in queries.items() if query is not None}


def spec_lines(work: Work) -> dict[str, str]:
    """Weights are left out if only rows are written."""
    lines: dict[str, str] = {}
    if work.counts_requests:  # queries depend on the rows
        lines |= operation_of("write").spec_lines(work, Operation())
    for operation in work.operations:
        lines |= operation_of(operation.kind_name).spec_lines(work, operation)
    if len(work.operations) > 1 or work.counts_requests:
        weights = whole([o.weight for o in work.operations])
        lines["operations"] = ",".join(f"{o.name}:{n}" for o, n in zip(work.operations, weights, strict=True))
    if work.rows_present:
        lines["rows_present"] = str(work.rows_present)
    return lines


def rate_of(work: Work, *, durable: bool, objective: Objective | None = None) -> Rate:
    """The fitted rate: of several kinds, all requests; with an objective the highest that holds it."""
    if objective is not None:
        return Rate(field="capacity_per_s", words=rate_of(work, durable=False).words)
    kinds = {operation.kind_name for operation in work.operations}
    if len(kinds) == 1:
        return operation_of(kinds.pop()).rate(durable=durable)
    return REQUESTS


def rates_of(work: Work, *, durable: bool) -> tuple[Rate, ...]:
    """The fitted rate is the first."""
    kinds = [operation_of(operation.kind_name) for operation in work.operations]
    own = [kind.rate(durable=at) for kind in kinds for at in (durable, not durable)]
    return tuple(dict.fromkeys((rate_of(work, durable=durable), *own)))


def units_of_request(work: Work, operation: Operation) -> int:
    return work.data.rows_per_request if operation.unit == "rows" else 1


def offered_per_s(work: Work) -> float:
    """0 unless every operation has its own rate. Needs the rows in a request."""
    if not all(operation.rate for operation in work.operations):
        return 0.0
    return sum(operation.rate / units_of_request(work, operation) for operation in work.operations)


def logical_bytes(work: Work) -> int:
    return max(operation_of(operation.kind_name).logical_bytes(work) for operation in work.operations)


def stores(work: Work) -> bool:
    return logical_bytes(work) > 0


def row_logical_bytes(work: Work) -> int:
    return operation_of("write").logical_bytes(work)


def miscounted(work: Work, acknowledged: int | None, counted: int | None) -> str:
    """The contradiction between the database's own count and the acknowledged rows."""
    if acknowledged is None or counted is None:
        return ""
    kinds = {operation.kind_name for operation in work.operations} | ({"write"} if work.preload_rows else set())
    sentences = (operation_of(kind).miscounted(acknowledged + work.preload_rows, counted) for kind in sorted(kinds))
    return next((sentence for sentence in sentences if sentence), "")
