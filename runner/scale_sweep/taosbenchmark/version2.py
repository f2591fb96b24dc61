"""Options of CREATE DATABASE of taosBenchmark 2 → those of version 3 that say the same, with a sentence for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.taosbenchmark.objects import ObjectReader

_MODELS = ("none", "last_row", "last_value", "both")
_CACHE_MB, _BLOCKS = 16, 6  # TDengine 2's own defaults
_BUFFER_LEAST, _BUFFER_MOST = 3, 16_384
# The option of version 3, and the least and the greatest value of that of version 2.
SUCCESSORS: Mapping[str, tuple[str, int, int]] = {
    "days": ("duration", 1, 3_650),
    "fsync": ("wal_fsync_period", 0, 180_000),
    "wallevel": ("wal_level", 0, 2),
    "cachelast": ("cachemodel", 0, 3),
}
BUFFER = ("cache", "blocks")  # one option together
GONE: Mapping[str, str] = {
    "quorum": "TDengine 3 has no such option",
    "update": "in TDengine 3 a row replaces another one with its timestamp",
    "ctime": "TDengine 3 has no such option",
}
OLD = frozenset((*SUCCESSORS, *BUFFER, *GONE))


def mapped(successor: str, *names: str) -> str:
    are, they = ("is", "it is") if len(names) == 1 else ("are", "they are")
    return f"{' and '.join(names)} {are} of version 2: {they} taken as {successor}"


def database_options(info: ObjectReader, keys: Sequence[str], newer: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """For those of version 2 among `keys`. newer: options that the file has already."""
    options = []
    for old, (name, least, most) in SUCCESSORS.items():
        number = _whole(info, old, least, most) if old in keys else None
        if number is None or _is_twice(info, old, name, newer):
            continue
        if old == "wallevel" and not number:
            info.unused(old, f"{number} is of version 2 and has no successor; {name} keeps its default")
            continue
        value = f"'{_MODELS[number]}'" if old == "cachelast" else str(number)
        info.remarks.notes.append(mapped(f"{name} {value}", info.name(old)))
        options.append((name, value))
    if buffers := [old for old in BUFFER if old in keys]:
        options += _buffer(info, buffers, newer)
    for old, why in GONE.items():
        info.unused(old, why)
    return tuple(options)


def _buffer(info: ObjectReader, buffers: Sequence[str], newer: Sequence[str]) -> list[tuple[str, str]]:
    """Blocks of so many MB then, one number of MB now."""
    values = {old: _whole(info, old, 1, 100_000) for old in buffers}
    if None in values.values() or _is_twice(info, buffers[0], "buffer", newer):
        return []
    mb = (values.get("cache") or _CACHE_MB) * (values.get("blocks") or _BLOCKS)
    value = str(min(max(mb, _BUFFER_LEAST), _BUFFER_MOST))
    info.remarks.notes.append(mapped(f"buffer {value}", *map(info.name, buffers)))
    return [("buffer", value)]


def _is_twice(info: ObjectReader, old: str, name: str, newer: Sequence[str]) -> bool:
    if name in newer:
        info.refuse(old, f"is of version 2, and {name} is in the file too; give it once")
    return name in newer


def _whole(info: ObjectReader, key: str, least: int, most: int) -> int | None:
    value = info.value(key)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    info.refuse(key, f"{str(value)[:40]!r} is not a whole number of {least}..{most}")
    return None
