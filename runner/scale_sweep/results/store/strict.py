"""JSON of stored files → plain values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

DEPTH_MAX = 100
INTEGER_MAX = 1 << 64
SHOWN = 60  # characters of a key in a message


def _integer(digits: str) -> int:
    value = int(digits)
    if len(digits) > 19 and abs(value) > INTEGER_MAX:
        raise ValueError(digits)
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


# It refuses odd numbers as fast as json reads them; who looks for their key then reads the text again.
_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_finite, parse_constant=_finite)
_SURROGATES = ("\\ud", "\\uD")  # a document without these has no second half of a character alone


def loads(text: str) -> Any:
    """The value of a JSON text. Raises ValueError that says what is wrong, and where."""
    try:
        try:
            value = _DECODER.decode(text)
            if not any(mark in text for mark in _SURROGATES) and not _is_deep(text, value):
                return value
        except ValueError:  # json's own, or an odd number
            value = json.loads(text)
    except RecursionError:
        raise ValueError(f"is nested more than {DEPTH_MAX} deep") from None
    for way, one in _leaves(value):
        if why := _refused(one):
            raise ValueError(f"{_key(way)}: {why}")
    return value


def _is_deep(text: str, value: Any) -> bool:
    if text.count("[") + text.count("{") <= DEPTH_MAX:
        return False
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
