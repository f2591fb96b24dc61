"""Whether the fields of a line have the types that its class declares."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

INTEGER_MAX = 1 << 64


def misfit(value: Any) -> str:
    """The first field of a dataclass object that has another type than declared, with its value; "" if all fit."""
    kind: type = type(value)
    hints = _hints(kind)
    for field in fields(value):
        held = getattr(value, field.name)
        if not fits(held, hints[field.name]):
            return f"{field.name} is {str(held)[:60]!r}"
    return ""


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type, for the types that lines of the load generator have."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is not None and issubclass(origin, Sequence):
        return isinstance(value, origin) and all(fits(one, inner[0]) for one in value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if is_dataclass(kind):
        return type(value) is kind and not misfit(value)
    if kind in (int, float):
        is_number = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
        return is_number and math.isfinite(value) and abs(value) <= INTEGER_MAX
    return value is None if kind is types.NoneType else isinstance(value, kind)


@functools.cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)
