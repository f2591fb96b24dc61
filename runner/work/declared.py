"""From what a sweep says of its operations, as texts, to operations, with every mistake named. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from runner.errors import UsageError
from runner.model import Operation, Work
from runner.work import OPERATIONS, operation_of

KIND = "kind"
OPERATIONS_MAX = 16  # of the load generator


def declared(
    mix: Mapping[str, float], parameters: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[Operation, ...], list[str]]:
    """The operations of a mix of weights by name, and what is wrong with it. parameters: by operation, those of
    operations outside of the mix too, which are kept from being measured. Neither given: rows are written."""
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
            found.append(
                Operation(
                    name=name,
                    weight=weight,
                    unit=known.unit,
                    parameters=own,
                    kind=kind if kind != name else "",
                )
            )
    return tuple(found), mistakes


def mistakes_of(work: Work) -> list[str]:
    """Parameters that do not fit the rows, each with its operation; reads of a database that is empty."""
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
