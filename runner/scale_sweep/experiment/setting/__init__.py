"""Defines a setting of a sweep, and reads tables of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from scale_sweep.base.units import parse_bytes, parse_count, parse_cpus, parse_levels, parse_rate, parse_seconds
from scale_sweep.experiment.setting import readers, workload_readers


class Takes(Enum):
    VALUE = "value"
    VALUES = "values"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """`read` raises ValueError with one sentence."""

    key: str
    flag: str
    read: Callable[[str], object]
    default: str  # "": the target or the machine decides later; "1" of a flag that takes nothing
    help: str
    metavar: str = "TEXT"
    takes: Takes = Takes.VALUE
    bare: str = ""  # the value of a flag without one; "": it needs one
    usual: bool = False  # in the short help of every axis, or of the axis that has it

    @property
    def many(self) -> bool:
        return self.takes is Takes.VALUES

    @property
    def switch(self) -> bool:
        return self.takes is Takes.NOTHING


def setting(
    key: str, flag: str, read: Callable[[str], object], default: str, help_text: str, metavar: str = "TEXT", **more: Any
) -> Setting:
    return Setting(key=key, flag=flag, read=read, default=default, help=help_text, metavar=metavar, **more)


_READERS: Mapping[str, Callable[[str], object]] = {
    "text": str,
    "switch": readers.switch,
    "resources": readers.resources,
    "number": parse_count,
    "count": readers.at_least(1, parse_count),
    "count_or_0": readers.at_least(0, parse_count),
    "count_from_2": readers.at_least(2, parse_count),
    "decimals": readers.between(0, 5, parse_count),
    "percent": readers.percent,
    "bytes": parse_bytes,
    "bytes_above_0": readers.above_zero(parse_bytes),
    "bytes_per_s": readers.above_zero(readers.rate_of_bytes),
    "time": parse_seconds,
    "time_above_0": readers.above_zero(parse_seconds),
    "time_span": readers.time_span,
    "levels": parse_levels,
    "rate": parse_rate,
    "rates": readers.rates,
    "cpus": parse_cpus,
    "cpus_or_shared": readers.cpus_or_shared,
    "memory": readers.memory,
    "data_directory": readers.data_directory,
    "paths": readers.paths,
    "command": readers.command,
    "ready": readers.ready,
    "port": readers.port,
    "address": readers.endpoint,
    "network_speed": readers.network_speed,
    "tag": readers.tag,
    "variation": readers.variation,
    "columns": workload_readers.columns,
    "laws": workload_readers.laws,
    "weights": workload_readers.weights,
    "parameter": workload_readers.parameter,
}


def settings_of(
    table: str, own: Mapping[str, Callable[[str], object]] | None = None, named: Mapping[str, Setting] | None = None
) -> Iterator[Setting]:
    """From a table in text: `key --flag METAVAR reader = default`, and below it the help.

    A key with * is usual, a reader with + reads a flag that can be repeated, METAVAR?WORD means WORD without a value. A
    reader is a name, words between |, which
    are the only values, or LOW..HIGH. Only a key: the setting is one of `named`. own: more readers.
    """
    known = {**_READERS, **(own or {})}
    for block in re.split(r"\n(?=\S)", table.strip()):
        head, *lines = block.split("\n")
        words, _, default = head.partition(" = ")
        key, *rest = words.split()
        if not rest:
            yield (named or {})[key]
            continue
        flag, name, metavar = rest[0], rest[-1].removesuffix("+"), rest[1]
        low, dots, high = name.partition("..")
        if "|" in name:
            read: Callable[[str], object] = readers.OneOf(*name.split("|"))
        else:
            read = readers.between(float(low), float(high), readers.number) if dots else known[name]
        yield Setting(
            key=key.removesuffix("*"),
            flag=flag,
            read=read,
            default=default,
            help=" ".join(map(str.strip, lines)),
            metavar="TEXT" if name == "switch" else metavar.partition("?")[0],
            bare=metavar.partition("?")[2],
            takes=Takes.NOTHING if name == "switch" else Takes.VALUES if rest[-1].endswith("+") else Takes.VALUE,
            usual=key.endswith("*"),
        )
