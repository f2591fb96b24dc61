"""JSON of stored files → plain values. Pure. Refuses what no run holds: nesting deeper than 100, NaN and Infinity,
numbers beyond 64 bits, texts that are no Unicode. Each refusal names the key."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

DEPTH_MAX = 100
INTEGER_MAX = 1 << 64
SHOWN = 60  # characters of a key in a message
# A document without these marks needs no second look: so lines of long runs are read as fast as json reads them.
# A number follows one of these characters, so the digits of a hash are no mark.
_ODD = re.compile(r"NaN|Infinity|(?:^|[\s:,\[-])\d(?:\d{19}|[\d.]*[eE]\+?\d{3})|\\u[dD][89a-fA-F]")


def loads(text: str) -> Any:
    """The value of a JSON text. Raises ValueError that says what is wrong, and where."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(f"is nested more than {DEPTH_MAX} deep") from None
    if _ODD.search(text) or _is_deep(value):
        for way, one in _leaves(value):
            if why := _refused(one):
                raise ValueError(f"{_key(way)}: {why}")
    return value


def _is_deep(value: Any) -> bool:
    """Whether objects and lists are nested too deep."""
    level = [value]
    for _ in range(DEPTH_MAX):
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        level = [one for part in inner for one in part if isinstance(one, (dict, list))]
        if not level:
            return False
    return True


def _leaves(document: Any) -> Iterator[tuple[tuple[object, ...], Any]]:
    """Every value and every key with the way to it. Raises ValueError for nesting that is too deep."""
    waiting: list[tuple[tuple[object, ...], Any]] = [((), document)]
    while waiting:
        way, value = waiting.pop()
        if len(way) >= DEPTH_MAX and isinstance(value, (dict, list)):
            raise ValueError(f"is nested more than {DEPTH_MAX} deep")
        if isinstance(value, dict):
            yield from ((way, key) for key in value)
            waiting += [((*way, key), one) for key, one in value.items()]
        elif isinstance(value, list):
            waiting += [((*way, index), one) for index, one in enumerate(value)]
        else:
            yield way, value


def _refused(value: Any) -> str:
    """Why no run holds the value; "" if one may."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{'NaN' if math.isnan(value) else 'Infinity'} is not a number of a run"
    if isinstance(value, int) and abs(value) > INTEGER_MAX:
        return f"an integer of {value.bit_length()} bits is not a number of a run"
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return "the text is not Unicode"
    return ""


def _key(way: tuple[object, ...]) -> str:
    text = ".".join(map(str, way)).encode("utf-8", "replace").decode()
    return (text if len(text) <= SHOWN else f"…{text[-SHOWN:]}") or "the document"
