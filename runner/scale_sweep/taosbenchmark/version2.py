"""Keys of taosBenchmark 2 → those of version 3 that say the same, with a sentence for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.taosbenchmark.keys import ObjectReader

_MODELS = ("none", "last_row", "last_value", "both")
_CACHE_MB, _BLOCKS = 16, 6  # TDengine 2's own defaults
_BUFFER_LEAST, _BUFFER_MOST = 3, 16_384


@dataclass(frozen=True, kw_only=True)
class Successor:
    """The option of version 3; its value for a value of version 2; "" if version 3 has no such option."""

    name: str
    least: int
    most: int
    value: Callable[[int], str]


SUCCESSORS: Mapping[str, Successor] = {
    "days": Successor(name="duration", least=1, most=3_650, value=str),
    "fsync": Successor(name="wal_fsync_period", least=0, most=180_000, value=str),
    "wallevel": Successor(name="wal_level", least=0, most=2, value=lambda level: str(level) if level else ""),
    "cachelast": Successor(name="cachemodel", least=0, most=3, value=lambda model: f"'{_MODELS[model]}'"),
}
"""Options of CREATE DATABASE, in lower case."""
BUFFER = ("cache", "blocks")
"""These two are one option together."""
GONE: Mapping[str, str] = {
    "quorum": "TDengine 3 has no such option",
    "update": "in TDengine 3 a row replaces another one with its timestamp",
    "ctime": "TDengine 3 has no such option",
}
OLD = frozenset((*SUCCESSORS, *BUFFER, *GONE))


def mapped(successor: str, *names: str) -> str:
    """The sentence about a key of version 2, or about several that are one now."""
    are, they = ("is", "it is") if len(names) == 1 else ("are", "they are")
    return f"{' and '.join(names)} {are} of version 2: {they} taken as {successor}"


def database_options(
    info: ObjectReader, keys: Sequence[str], newer: Sequence[str], notes: list[str]
) -> tuple[tuple[str, str], ...]:
    """Options of CREATE DATABASE for the keys of version 2 among `keys`. newer: options that the file has already."""
    old_keys = {key.lower(): key for key in keys if key.lower() in OLD}
    options = []
    for old, successor in SUCCESSORS.items():
        if old in old_keys:
            options += _successor(info, old_keys[old], successor, newer, notes)
    if any(old in old_keys for old in BUFFER):
        options += _buffer(info, old_keys, newer, notes)
    for old, why in GONE.items():
        if old in old_keys:
            info.unused(old_keys[old], why)
    return tuple(options)


def _successor(
    info: ObjectReader, key: str, successor: Successor, newer: Sequence[str], notes: list[str]
) -> list[tuple[str, str]]:
    number = _whole(info, key, successor.least, successor.most)
    if number is None:
        return []
    if successor.name in newer:
        info.refuse(key, f"is of version 2, and {successor.name} is in the file too; give it once")
        return []
    value = successor.value(number)
    if not value:
        info.unused(key, f"{number} is of version 2 and has no successor; {successor.name} keeps its default")
        return []
    notes.append(mapped(f"{successor.name} {value}", info.name(key)))
    return [(successor.name, value)]


def _buffer(
    info: ObjectReader, old_keys: Mapping[str, str], newer: Sequence[str], notes: list[str]
) -> list[tuple[str, str]]:
    """Memory of a vnode: blocks of so many MB then, one number of MB now."""
    names = [old_keys[old] for old in BUFFER if old in old_keys]
    values = {old: _whole(info, old_keys[old], 1, 100_000) for old in BUFFER if old in old_keys}
    if any(number is None for number in values.values()):
        return []
    if "buffer" in newer:
        info.refuse(names[0], "is of version 2, and buffer is in the file too; give it once")
        return []
    mb = (values.get("cache") or _CACHE_MB) * (values.get("blocks") or _BLOCKS)
    value = str(min(max(mb, _BUFFER_LEAST), _BUFFER_MOST))
    notes.append(mapped(f"buffer {value}", *(info.name(name) for name in names)))
    return [("buffer", value)]


def _whole(info: ObjectReader, key: str, least: int, most: int) -> int | None:
    value = info.value(key, None)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    info.refuse(key, f"{str(value)[:40]!r} is not a whole number of {least}..{most}")
    return None
