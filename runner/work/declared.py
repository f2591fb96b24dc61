"""Makes operations of a sweep's texts about them, and names every mistake. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runner.errors import UsageError
from runner.model import Operation, Work
from runner.work import OPERATIONS, operation_of

KIND = "kind"
OPERATIONS_MAX = 16  # the load generator's limit


def declared(
    mix: Mapping[str, float],
    parameters: Mapping[str, Mapping[str, str]],
    otherwise: Mapping[str, str] = MappingProxyType({}),
) -> tuple[tuple[Operation, ...], list[str]]:
    """The operations of a mix of weights by name, and its mistakes. parameters: by operation; also of operations
    outside of the mix, which are not measured. Without both, rows are written. otherwise: parameters for every
    operation that has them and is not given them."""
    weights = mix or dict.fromkeys(parameters, 1.0) or {"write": 1.0}
    found, mistakes = [], []
    if not any(weights.values()):
        mistakes.append("mix: all weights are 0")
    if len(weights) > OPERATIONS_MAX:
        mistakes.append(f"mix: {len(weights)} operations; {OPERATIONS_MAX} at most")
    for name, weight in weights.items():
        own = dict(parameters.get(name, {}))
        kind = own.pop(KIND, name)
        if kind not in OPERATIONS:
            what = f"operation.{name}.kind: {kind!r}" if kind != name else f"mix: {name!r}"
            mistakes.append(f"{what} is not one of {', '.join(OPERATIONS.names())}")
            continue
        known = operation_of(kind)
        strange = [given for given in own if given not in known.parameters]
        has = ", ".join(known.parameters) or "none"
        mistakes += [f"operation.{name}.{given}: {kind} has no such parameter; it has {has}" for given in strange]
        if weight:
            more = {name: value for name, value in otherwise.items() if name in known.parameters}
            found.append(
                Operation(
                    name=name,
                    weight=weight,
                    unit=known.unit,
                    parameters={**more, **own},
                    kind=kind if kind != name else "",
                )
            )
    return tuple(found), mistakes


def mistakes_of(work: Work) -> list[str]:
    """Parameters that do not fit the rows, each with its operation; reads of an empty database."""
    mistakes = []
    if work.counts_requests and not work.rows_present:
        told = f"{work.preload_rows:,} rows for {work.data.tables:,} tables" if work.preload_rows else "nothing"
        return [f"preload: {told} to read; give every table a row at least, like --preload 1M"]
    for operation in work.operations:
        try:
            operation_of(operation.kind_name).query(work, operation)
        except (ValueError, UsageError) as error:
            mistakes.append(f"operation.{operation.name}.{error}")
    return mistakes
