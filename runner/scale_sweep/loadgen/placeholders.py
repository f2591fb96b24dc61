"""The commands of a trial, whose words have placeholders such as {port}."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from scale_sweep.base.units import format_number
from scale_sweep.model.planned import Trial

CONNECTIONS, CLIENTS_WORD, SECONDS_WORD = "connections", "clients", "seconds"  # a knob, and placeholders
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")  # {{port}} is the text {port}
_OF_DISK = re.compile(r"data[1-9]\d?")
# What to give where a trial has no value for one; "": each trial has it.
KNOWN = {
    "port": "",
    "address": "",
    "data": "",
    "seconds": "give a window: --duration",
    "clients": "give --connections N, or sweep clients",
    "cores": "",
    "memory_mb": "give --memory SIZE",
    "seed": "",
}
_DISK_REMEDY = "sweep disks, like --disks 1..2"


def names_in(words: Sequence[str]) -> tuple[str, ...]:
    names = (match[2] for word in words for match in _PLACEHOLDER.finditer(word))
    return tuple(dict.fromkeys(filter(None, names)))


def values_of(
    trial: Trial, address: str = "", port: int = 0, data: str = "", disks: Sequence[str] = ()
) -> dict[str, str]:
    """By name. The seconds are those of the longest warm-up and of the window."""
    load, memory = trial.load, trial.resources.memory_bytes
    values = {
        "address": address,
        "port": str(port),
        "data": data,
        "cores": format_number(trial.cores),
        "seed": str(trial.seed),
        **{f"data{number}": path for number, path in enumerate(disks, 1)},
    }
    if load.duration_s is not None:
        values["seconds"] = str(math.ceil(load.warmup_s + load.duration_s))
    if CONNECTIONS in trial.knobs:
        values["clients"] = str(load.connections)
    if memory is not None:
        values["memory_mb"] = str(memory >> 20)
    return values


def filled(words: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Raises KeyError for a name without a value."""
    return tuple(
        _PLACEHOLDER.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", word) for word in words
    )


def mistake(words: Sequence[str], values: Mapping[str, str]) -> tuple[str, str]:
    """A sentence about the first placeholder without a value, and a remedy; "" if there is none."""
    for name in names_in(words):
        if name in values:
            continue
        if _OF_DISK.fullmatch(name) or name in KNOWN:
            return f"this trial has no {{{name}}}", KNOWN.get(name, _DISK_REMEDY)
        listed = ", ".join(f"{{{one}}}" for one in (*KNOWN, "data1"))
        return f"there is no placeholder {{{name}}}", f"one of {listed}; for the text itself write {{{{{name}}}}}"
    return "", ""
