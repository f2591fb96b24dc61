"""The rows, tags and operations of a configuration of IoT-benchmark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from scale_sweep.experiment.work import OPERATIONS as KINDS
from scale_sweep.experiment.work import operation_of
from scale_sweep.iotbenchmark.config_values import ConfigValues, shown
from scale_sweep.iotbenchmark.keys import FUNCTIONS, OPERATIONS, TIME_FUNCTIONS, TYPE_NAMES, TYPES
from scale_sweep.model.declared import Operation, Workload
from scale_sweep.server.targets import Facts

NAME_MAX = 64  # bytes of a column's name, with its number
SHARE_MAX = 1_000_000
WEIGHT_MAX = 100_000
END_MS = 1  # IoT-benchmark's ranges include their end, but those that it groups by time; here none does
VALUES_MAX = 1_000_000_000
TEXT_BYTES = 20  # of a tag, as IoT-benchmark declares it; longer values need more
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,55}")
_VALUE = re.compile(r"[A-Za-z0-9_.-]{0,100}")
_NUMBERS = ("int", "bigint", "float", "double")
PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LAWS = {
    "line": "LINE_RATIO",
    "sine": "SIN_RATIO",
    "square": "SQUARE_RATIO",
    "random": "RANDOM_RATIO",
    "constant": "CONSTANT_RATIO",
}


def columns(config: ConfigValues) -> tuple[str, ...]:
    """As many of each type as its part of INSERT_DATATYPE_PROPORTION, in that order."""
    count, prefix = config.whole("SENSOR_NUMBER"), config.text("SENSOR_NAME_PREFIX")
    shares = config.shares("INSERT_DATATYPE_PROPORTION", (6, len(TYPES)))
    length = config.whole("STRING_LENGTH")
    for name, kind, share in zip(TYPE_NAMES, TYPES, shares, strict=True):
        if share and not kind:
            config.refuse("INSERT_DATATYPE_PROPORTION", f"the load generator has no type like {name}")
    if not PREFIX.fullmatch(prefix) or len(f"{prefix}{count - 1}") >= NAME_MAX:
        config.refuse("SENSOR_NAME_PREFIX", f"{shown(prefix)} cannot begin a plain name of less than {NAME_MAX} bytes")
    upper = [sum(shares[: number + 1]) / sum(shares) for number in range(len(shares))]
    columns = []
    for sensor in range(count):
        position = (sensor + 1) * 1.0 / count
        place = next((p for p, most in enumerate(upper) if position <= most), len(upper) - 1)
        kind = TYPES[place] or "int"
        columns.append(f"{prefix}{sensor}:{kind}" + (f"({length})" if kind == "binary" else ""))
    return tuple(columns)


def laws(config: ConfigValues) -> str:
    ratios = {law: config.number(key) for law, key in _LAWS.items()}
    most = max(ratios.values())
    if most <= 0:
        config.refuse("LINE_RATIO", "this ratio and SIN_, SQUARE_, RANDOM_ and CONSTANT_RATIO are all 0")
        return "walk"
    whole = all(ratio == int(ratio) and ratio <= SHARE_MAX for ratio in ratios.values())
    factor = 1.0 if whole else SHARE_MAX / most
    return ",".join(f"{law}={round(ratio * factor)}" for law, ratio in ratios.items() if ratio)


def start_ms(config: ConfigValues) -> int:
    """A number is milliseconds."""
    text = config.text("START_TIME")
    if re.fullmatch(r"[0-9]{1,15}", text):
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.timestamp() < 0:
        config.refuse("START_TIME", f"{shown(text)} is not a time like 2022-01-01T00:00:00+08:00 after 1970")
        return 0
    return round(moment.timestamp() * 1000)


def workload(config: ConfigValues, facts: Facts | None, tables: int, rows_each: int) -> Workload:
    """rows_each: of each device."""
    tags, groups = tag_columns(config, facts)
    batch, devices = config.whole("BATCH_SIZE_PER_WRITE"), config.whole("DEVICE_NUM_PER_WRITE")
    mode, ratio = config.text("OUT_OF_ORDER_MODE").lower(), config.number("OUT_OF_ORDER_RATIO")
    if mode not in ("poisson", "batch"):
        config.refuse("OUT_OF_ORDER_MODE", f"{shown(config.text('OUT_OF_ORDER_MODE'))} is neither POISSON nor BATCH")
    return Workload(
        tables=tables,
        columns=columns(config),
        tags=("groupid:int", *tags),
        values=laws(config),
        rows_per_request=batch * devices,
        interlace_rows=batch if devices > 1 else 0,
        start_ms=start_ms(config) + config.whole("POINT_STEP"),
        step_ms=config.whole("POINT_STEP"),
        text="random",
        period_rows=max(2, config.whole("WORKLOAD_BUFFER_SIZE")),
        decimals=config.whole("DOUBLE_LENGTH"),
        disorder=mode if config.flag("IS_OUT_OF_ORDER") and ratio > 0 else "",
        disorder_percent=ratio * 100,
        disorder_lambda=config.number("LAMBDA"),
        disorder_max_k=config.whole("MAX_K"),
        disorder_rows=max(2, rows_each),
        tag_groups=groups,
        tag_prefix=config.text("TAG_VALUE_PREFIX") if groups else "",
    )


def tag_columns(config: ConfigValues, facts: Facts | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """As NAME:TYPE, and as NAME:COUNT with the number of values of each."""
    count = config.whole("TAG_NUMBER")
    numbers = _cardinalities(config)
    if count != len(numbers):
        wrong = f"has {len(numbers)} numbers for the {count} tags of TAG_NUMBER"
        config.refuse("TAG_VALUE_CARDINALITY", wrong, "IoT-benchmark refuses this too")
        return (), ()
    if count and facts and not facts.stores_tags:
        config.refuse("TAG_NUMBER", f"the target {facts.title} stores no tags", "leave the key out")
    if not _KEY.fullmatch(config.text("TAG_KEY_PREFIX")):
        config.refuse("TAG_KEY_PREFIX", f"{shown(config.text('TAG_KEY_PREFIX'))} is not the begin of a plain name")
    elif count and config.text("TAG_KEY_PREFIX").lower() == config.text("SENSOR_NAME_PREFIX").lower():
        config.refuse("TAG_KEY_PREFIX", "is SENSOR_NAME_PREFIX too: a tag and a sensor would have one name")
    prefix = config.text("TAG_VALUE_PREFIX")
    if not _VALUE.fullmatch(prefix):
        config.refuse("TAG_VALUE_PREFIX", f"{shown(prefix)} is not made of up to 100 letters, digits, _ . and -")
    names = [f"{config.text('TAG_KEY_PREFIX')}{number}" for number in range(count)]
    longest = [len(f"{prefix}{values - 1}") for values in numbers]
    return (
        tuple(f"{name}:binary({max(TEXT_BYTES, size)})" for name, size in zip(names, longest, strict=True)),
        tuple(f"{name}:{values}" for name, values in zip(names, numbers, strict=True)),
    )


def tag_notes(config: ConfigValues) -> list[str]:
    if config.whole("TAG_NUMBER"):
        return []
    keys = ("TAG_KEY_PREFIX", "TAG_VALUE_PREFIX")
    return [f"{key} has no effect: TAG_NUMBER is 0" for key in keys if config.says(key)]


def _cardinalities(config: ConfigValues) -> list[int]:
    text = config.text("TAG_VALUE_CARDINALITY")
    parts = [part.strip() for part in text.split(",")] if text else []
    if all(re.fullmatch(r"[0-9]{1,10}", part) and 1 <= int(part) <= VALUES_MAX for part in parts):
        return [int(part) for part in parts]
    config.refuse(
        "TAG_VALUE_CARDINALITY", f"{shown(text)} is not numbers of 1 to {VALUES_MAX} with commas between them"
    )
    return [1] * config.whole("TAG_NUMBER")


def written_operations(config: ConfigValues, batches: float) -> tuple[tuple[Operation, ...], float]:
    """By their share of the requests, and the share of loops that write. batches: requests of a loop that writes; one
    that reads has one."""
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
    wanted = dict.fromkeys(operation_of(kind).parameters, "")
    if not wanted:
        return {}
    names = queried_sensors(config, kind)
    function = aggregate_function(config)
    step_ms = config.whole("STEP_SIZE") * config.whole("POINT_STEP")
    span_ms = config.whole("QUERY_INTERVAL") + (0 if "bucket" in wanted else END_MS)
    values = {
        "devices": str(config.whole("QUERY_DEVICE_NUM")),
        "columns": ",".join(names),
        "column": names[0],
        "bound": f"{config.number('QUERY_LOWER_VALUE'):.10g}",
        "bound_column": names[0],
        "span": f"{span_ms // 1000}.{span_ms % 1000:03d}s",
        "step": f"{step_ms / 1000:.10g}s" if step_ms else "",
        "bucket": f"{config.whole('GROUP_BY_TIME_UNIT') / 1000:.10g}s",
        "function": "count" if function in TIME_FUNCTIONS else function,
    }
    if "column" in wanted:  # of several sensors the query itself is completed (spec.py)
        del values["columns"]
    return {name: values[name] for name in wanted if values.get(name)}


def queried_sensors(config: ConfigValues, kind: str) -> Sequence[str]:
    wanted, count = operation_of(kind).parameters, config.whole("QUERY_SENSOR_NUM")
    numbers_only = "bound" in wanted or "column" in wanted
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
    """Within which queries begin: there each one of a client begins a step after the one before it."""
    step_ms = config.whole("STEP_SIZE") * config.whole("POINT_STEP")
    kinds = sum(1 for share in config.shares("OPERATION_PROPORTION", (1, len(OPERATIONS)))[1:] if share)
    return step_ms * max(0, round(loop * (1 - part) / max(1, kinds)) - 1)
