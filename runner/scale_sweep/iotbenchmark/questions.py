"""The operations of a configuration of IoT-benchmark, with their weights and parameters. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.experiment.work import OPERATIONS as KINDS
from scale_sweep.experiment.work import operation_of
from scale_sweep.iotbenchmark.config_values import ConfigValues, shown
from scale_sweep.iotbenchmark.keys import FUNCTIONS, OPERATIONS, TIME_FUNCTIONS
from scale_sweep.iotbenchmark.shape import columns
from scale_sweep.model import Operation

WEIGHT_MAX = 100_000
END_MS = 1  # IoT-benchmark's ranges include their end, but those that it groups by time; here none does
_NUMBERS = ("int", "bigint", "float", "double")


def written_operations(config: ConfigValues, batches: float) -> tuple[tuple[Operation, ...], float]:
    """The operations by their share of the requests, and the share of the loops that write.

    batches: requests of a loop that writes, which has all devices of a client; a loop that reads has one.
    """
    shares = config.shares("OPERATION_PROPORTION", (1, len(OPERATIONS)))
    requests = [share * batches if place == 0 else share for place, share in enumerate(shares)]
    most = max(requests)
    operations = []
    for (kind, _), share in zip(OPERATIONS, requests, strict=True):
        if not share:
            continue
        if kind not in KINDS:
            config.refuse("OPERATION_PROPORTION", f"there is no operation {kind} yet")
            continue
        weight = max(1, round(share / most * WEIGHT_MAX))
        unit = operation_of(kind).unit
        operations.append(Operation(name=kind, weight=float(weight), unit=unit, parameters=_parameters(config, kind)))
    return tuple(operations), shares[0] / sum(shares)


def _parameters(config: ConfigValues, kind: str) -> dict[str, str]:
    """The values of the parameters that the kind has."""
    wanted = dict.fromkeys(operation_of(kind).parameters, "")
    if not wanted:
        return {}
    names = queried_sensors(config, kind)
    function = aggregate_function(config)
    step_ms = config.whole("STEP_SIZE") * config.whole("POINT_STEP")
    values = {
        "devices": str(config.whole("QUERY_DEVICE_NUM")),
        "columns": ",".join(names),
        "column": names[0],
        "bound": f"{config.number('QUERY_LOWER_VALUE'):.10g}",
        "bound_column": names[0],
        "span": _seconds(config.whole("QUERY_INTERVAL") + (0 if "bucket" in wanted else END_MS)),
        "step": f"{step_ms / 1000:.10g}s" if step_ms else "",
        "bucket": f"{config.whole('GROUP_BY_TIME_UNIT') / 1000:.10g}s",
        "function": "count" if function in TIME_FUNCTIONS else function,
    }
    if "column" in wanted:  # of several sensors the query itself is completed (spec.py)
        del values["columns"]
    return {name: values[name] for name in wanted if values.get(name)}


def _seconds(ms: int) -> str:
    return f"{ms // 1000}.{ms % 1000:03d}s"


def queried_sensors(config: ConfigValues, kind: str) -> Sequence[str]:
    """The first sensors that can be asked for by this operation, QUERY_SENSOR_NUM of them."""
    wanted = operation_of(kind).parameters
    return _sensors(config, config.whole("QUERY_SENSOR_NUM"), numbers_only="bound" in wanted or "column" in wanted)


def _sensors(config: ConfigValues, count: int, *, numbers_only: bool) -> list[str]:
    kinds = [(name, kind) for name, _, kind in (column.partition(":") for column in columns(config))]
    fit = [name for name, kind in kinds if kind in _NUMBERS or not numbers_only]
    if len(fit) < count:
        what = " that hold numbers" if numbers_only else ""
        config.refuse("QUERY_SENSOR_NUM", f"{count}: there are {len(fit)} sensors{what}")
    return fit[:count] or [kinds[0][0]]


def aggregate_function(config: ConfigValues) -> str:
    text = config.text("QUERY_AGGREGATE_FUN")
    if text.lower() not in FUNCTIONS:
        config.refuse("QUERY_AGGREGATE_FUN", f"{shown(text)} is none of {', '.join(FUNCTIONS)}")
    return FUNCTIONS.get(text.lower(), "count")


def within_ms(config: ConfigValues, loop: int, part: float) -> int:
    """Time within which queries begin: there each one of a client begins a step after the one before it."""
    step_ms = config.whole("STEP_SIZE") * config.whole("POINT_STEP")
    kinds = sum(1 for share in config.shares("OPERATION_PROPORTION", (1, len(OPERATIONS)))[1:] if share)
    return step_ms * max(0, round(loop * (1 - part) / max(1, kinds)) - 1)
