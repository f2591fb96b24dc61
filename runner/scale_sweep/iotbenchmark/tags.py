"""The tags that a configuration of IoT-benchmark gives its devices. Pure. Refuses tags that a target does not store."""

from __future__ import annotations

import re

from scale_sweep.iotbenchmark.config_values import ConfigValues, shown
from scale_sweep.server.targets import Facts

VALUES_MAX = 1_000_000_000
TEXT_BYTES = 20  # of a tag, as IoT-benchmark declares it; longer values need more
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,55}")
_VALUE = re.compile(r"[A-Za-z0-9_.-]{0,100}")
_SHAPE = ("TAG_KEY_PREFIX", "TAG_VALUE_PREFIX")


def tag_columns(config: ConfigValues, facts: Facts | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tags as NAME:TYPE, and as NAME:COUNT with the number of values of each."""
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
    """Keys without an effect, because there are no tags."""
    if config.whole("TAG_NUMBER"):
        return []
    return [f"{key} has no effect: TAG_NUMBER is 0" for key in _SHAPE if config.says(key)]


def _cardinalities(config: ConfigValues) -> list[int]:
    text = config.text("TAG_VALUE_CARDINALITY")
    parts = [part.strip() for part in text.split(",")] if text else []
    if all(re.fullmatch(r"[0-9]{1,10}", part) and 1 <= int(part) <= VALUES_MAX for part in parts):
        return [int(part) for part in parts]
    config.refuse(
        "TAG_VALUE_CARDINALITY", f"{shown(text)} is not numbers of 1 to {VALUES_MAX} with commas between them"
    )
    return [1] * config.whole("TAG_NUMBER")
