"""The rows that a configuration of IoT-benchmark describes: sensors with their types and laws, times, order. Pure."""

from __future__ import annotations

import re
from datetime import datetime

from scale_sweep.iotbenchmark.config_values import ConfigValues, shown
from scale_sweep.iotbenchmark.keys import TYPE_NAMES, TYPES
from scale_sweep.iotbenchmark.tags import tag_columns
from scale_sweep.model import Workload
from scale_sweep.server.targets import Facts

NAME_MAX = 64  # bytes of a column's name, with its number
SHARE_MAX = 1_000_000
PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LAWS = {
    "line": "LINE_RATIO",
    "sine": "SIN_RATIO",
    "square": "SQUARE_RATIO",
    "random": "RANDOM_RATIO",
    "constant": "CONSTANT_RATIO",
}


def columns(config: ConfigValues) -> tuple[str, ...]:
    """SENSOR_NUMBER columns. Of each type as many as its part of INSERT_DATATYPE_PROPORTION, in that order."""
    count, prefix = config.whole("SENSOR_NUMBER"), config.text("SENSOR_NAME_PREFIX")
    shares = config.shares("INSERT_DATATYPE_PROPORTION", (6, len(TYPES)))
    length = config.whole("STRING_LENGTH")
    for name, kind, share in zip(TYPE_NAMES, TYPES, shares, strict=True):
        if share and not kind:
            config.refuse("INSERT_DATATYPE_PROPORTION", f"the load generator has no type like {name}")
    if not PREFIX.fullmatch(prefix) or len(f"{prefix}{count - 1}") >= NAME_MAX:
        config.refuse("SENSOR_NAME_PREFIX", f"{shown(prefix)} cannot begin a plain name of less than {NAME_MAX} bytes")
    total, upper = sum(shares), []
    for number in range(len(shares)):
        upper.append(sum(shares[: number + 1]) / total)
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
    """START_TIME, with its offset from UTC, in milliseconds since 1970. A number is milliseconds."""
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
    """rows_each: that are written to each device, which is what a batch out of order goes through."""
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
