"""Work: what is done to a database, by operations. Each kind of operation is one module that says everything about it.

`operation_of` is the door; `told` is what the load generator is told of a whole work, `rate_of` what is fitted of it.
Another package registers a kind by an entry point of the group scale.operations. Refuses to know a database and to
know how hard it is loaded: that is the load (model/declared.py).
"""

from __future__ import annotations

from runner.errors import UsageError
from runner.model import Work
from runner.registry import Registry
from runner.work.operation import OperationKind, Rate

__all__ = ["OPERATIONS", "OperationKind", "Rate", "logical_bytes", "miscounted", "operation_of", "rate_of", "told"]

OPERATIONS = Registry("scale.operations", {"write": "runner.work.write:WRITE"})


def operation_of(name: str) -> OperationKind:
    """The kind of operation of this name. Raises UsageError that lists the known ones."""
    if name not in OPERATIONS:
        raise UsageError(f"operation {name!r} is not one of {', '.join(OPERATIONS.names())}")
    kind: OperationKind = OPERATIONS.load(name)
    return kind


def told(work: Work) -> dict[str, str]:
    """Lines of the load generator's spec: each operation's own, and their weights where there are several."""
    lines: dict[str, str] = {}
    for operation in work.operations:
        lines |= operation_of(operation.name).told(work, operation)
    if len(work.operations) > 1:
        lines["operations"] = ",".join(f"{o.name}:{o.weight:g}" for o in work.operations)
    return lines


def rate_of(work: Work, *, durable: bool) -> Rate:
    """What is fitted: of one kind of operation its own rate, of several the requests of all of them."""
    kinds = {operation.name for operation in work.operations}
    if len(kinds) == 1:
        return operation_of(kinds.pop()).rate(durable=durable)
    return Rate(field="requests_per_s", words="requests/s")


def logical_bytes(work: Work) -> int:
    """Bytes of one unit's values without any overhead: the most of any operation; 0 where none stores anything."""
    return max(operation_of(operation.name).logical_bytes(work) for operation in work.operations)


def miscounted(work: Work, acknowledged: int | None, counted: int | None) -> str:
    """Why the database's own count denies what was acknowledged; "" where it does not, or where neither is known."""
    if acknowledged is None or counted is None:
        return ""
    said = (operation_of(operation.name).miscounted(acknowledged, counted) for operation in work.operations)
    return next((sentence for sentence in said if sentence), "")
