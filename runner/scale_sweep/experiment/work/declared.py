"""Makes operations of a sweep's texts, and names every mistake. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.base.units import parse_count, parse_rate
from scale_sweep.experiment.work import OPERATIONS, operation_of
from scale_sweep.experiment.work.operation import whole
from scale_sweep.model.declared import Operation, Work

KIND = "kind"
OWN = ("connections", "rate")  # what every operation may have, beside the parameters of its kind
OPERATIONS_MAX = 128  # the load generator's limit


def declared(
    mix: Mapping[str, float],
    parameters: Mapping[str, Mapping[str, str]],
    otherwise: Mapping[str, str] = MappingProxyType({}),
) -> tuple[tuple[Operation, ...], list[str]]:
    """The operations and the mistakes of a mix. parameters: by operation, also outside of the mix. otherwise: for every
    operation that has them and gets no other."""
    weights = mix or dict.fromkeys(parameters, 1.0) or {"write": 1.0}
    operations, mistakes = [], []
    if not any(weights.values()):
        mistakes.append("mix: all weights are 0")
    if len(weights) > OPERATIONS_MAX:
        mistakes.append(f"mix: {len(weights)} operations; {OPERATIONS_MAX} at most")
    try:
        whole([weight for weight in weights.values() if weight])
    except ValueError as error:
        mistakes.append(f"mix: {error}")
    for name, weight in weights.items():
        own = dict(parameters.get(name, {}))
        kind = own.pop(KIND, name)
        load = {parameter: own.pop(parameter) for parameter in OWN if parameter in own}
        if kind not in OPERATIONS:
            where = f"operation.{name}.kind" if kind != name else "mix"
            mistakes.append(f"{where}: {not_one_of(kind, OPERATIONS.names())}")
            continue
        known = operation_of(kind)
        if not known.in_mix:
            mistakes.append(f"mix: {kind} is the load of another program (--load), and in no mix")
        strange = [parameter for parameter in own if parameter not in known.parameters]
        has = ", ".join(known.parameters) or "none"
        mistakes += [
            f"operation.{name}.{parameter}: {kind} has no such parameter; it has {has}" for parameter in strange
        ]
        numbers, wrong = _numbers(name, load)
        mistakes += wrong
        if weight:
            more = {name: value for name, value in otherwise.items() if name in known.parameters}
            operations.append(
                Operation(
                    name=name,
                    weight=weight,
                    unit=known.unit,
                    parameters={**more, **own},
                    kind=kind if kind != name else "",
                    **numbers,
                )
            )
    return tuple(operations), mistakes + (_mistakes_of_groups(operations) if not mistakes else [])


def _numbers(name: str, load: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    numbers: dict[str, Any] = {}
    mistakes = []
    for parameter, text in load.items():
        try:
            numbers[parameter] = (parse_rate if parameter == "rate" else parse_count)(text)
            if numbers[parameter] <= 0:
                mistakes.append(f"operation.{name}.{parameter} = {text}: must be above 0")
        except ValueError as error:
            mistakes.append(f"operation.{name}.{parameter}: {error}")
    return numbers, mistakes


def _mistakes_of_groups(operations: Sequence[Operation]) -> list[str]:
    apart = [operation for operation in operations if operation.is_apart]
    if apart and len(operations) == 1:
        return [f"operation.{apart[0].name}: connections and rate are for one of several operations; there is one"]
    if operations and all(operation.connections for operation in operations):
        remedy = "leave out the connections of one operation, which then has those of the trial (--connections)"
        return [f"operation: every operation has separate connections; {remedy}"]
    return []


def mistakes_of(work: Work) -> list[str]:
    if work.counts_requests and not work.rows_present:
        reason = f"{work.preload_rows:,} rows for {work.data.tables:,} tables" if work.preload_rows else "nothing"
        return [f"preload: {reason} to read; give every table a row at least, like --preload 1M"]
    return [words for operation in work.operations for words in _mistakes_of_one(work, operation)]


def _mistakes_of_one(work: Work, operation: Operation) -> list[str]:
    mistakes: list[str] = []
    parameters = dict(operation.parameters)
    while True:
        try:
            operation_of(operation.kind_name).query(work, replace(operation, parameters=parameters))
        except (ValueError, UsageError) as error:
            wrong = re.split(r"\W", str(error), maxsplit=1)[0]
            if not mistakes or wrong in parameters:
                mistakes.append(f"operation.{operation.name}.{error}")
            if parameters.pop(wrong, None) is None:
                return mistakes
        else:
            return mistakes
