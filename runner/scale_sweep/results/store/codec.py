"""Model objects ⇄ JSON values, which no number, text or nesting of another shape passes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import cattrs

from scale_sweep.base.errors import StoreError

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


# As fast as json; who looks for the key of an odd number reads the text again.
_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_finite, parse_constant=_finite)
_SURROGATES = ("\\ud", "\\uD")  # else there is no half of a character


def strict_loads(text: str) -> Any:
    """Raises ValueError that says what is wrong, and where."""
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
    """Every value and key, with the way to it. Raises ValueError for nesting that is too deep."""
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


SCHEMA = 8  # raise it when a stored document, column or raw file changes names or meaning
T = TypeVar("T")
_CONVERTER = cattrs.Converter(forbid_extra_keys=False, detailed_validation=False)
_EXPLAINING = cattrs.Converter(forbid_extra_keys=False)  # slower; it names what does not fit


def _whole(value: Any, _: type) -> int:
    """Also of a text, as keys of JSON are. int(True) and int(1.5) are 1: neither was written as such."""
    if isinstance(value, bool) or isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value} is not a whole number")
    return int(value)


def _number(value: Any, _: type) -> float:
    number = float(value) if not isinstance(value, bool) else math.nan
    if not math.isfinite(number):
        raise ValueError(f"{value} is not a number of a run")
    return number


def _text(value: Any, _: type) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{str(value)[:60]} is not a text")
    return value


def _truth(value: Any, _: type) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{str(value)[:60]} is not true or false")
    return value


_HOOKS: tuple[tuple[type, Any], ...] = (
    (int, _whole),
    (float, _number),
    (bool, _truth),
    (str, _text),
    (StrEnum, lambda value, kind: kind(value)),  # a kind of str, whose hook would be taken
)
for _kind, _hook in _HOOKS:
    for _one in (_CONVERTER, _EXPLAINING):
        _one.register_structure_hook(_kind, _hook)


def plain(value: Any) -> Any:
    """A model object as a JSON value, four times as fast as `dataclasses.asdict`: fleets write two a second for each
    host."""
    kind: Any = type(value)
    if kind in _ATOMS:
        return value
    if names := _field_names(kind):
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def fields_of(value: Any) -> dict[str, Any]:
    """For `json.dumps(default=...)`, in a third of the time of `plain`. Raises TypeError for no model object."""
    kind: Any = type(value)
    names = _field_names(kind)
    if not names:
        raise TypeError(f"{type(value).__name__} is no value of a run")
    return {name: getattr(value, name) for name in names}


_ATOMS = frozenset({int, float, str, bool, type(None)})


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def to_json(value: Any) -> str:
    """Indented, with the format's number."""
    return json.dumps({"schema": SCHEMA} | plain(value), indent=1, ensure_ascii=False, default=str)


def from_json(text: str, kind: type[T], path: Path) -> T:
    """Raises StoreError that names the file."""
    return from_plain(parsed(text, path), kind, path)


def parsed(text: str, path: Path) -> Any:
    """Raises StoreError that names the file, and the key of a value that no run holds."""
    try:
        return strict_loads(text)
    except ValueError as error:
        raise unreadable(path, error) from None


def document_of(text: str, path: Path) -> dict[str, Any]:
    """Raises StoreError that names the file, also for a document of another schema."""
    value = parsed(text, path)
    if not isinstance(value, dict):
        raise unreadable(path, ValueError("it is not a JSON object"))
    if "schema" not in value:
        raise unreadable(path, ValueError("it states no schema"))
    if value["schema"] != SCHEMA or isinstance(value["schema"], bool):
        number = value["schema"]
        raise StoreError(
            f"{path} was stored by another version of scale: its schema is {number}, this version reads {SCHEMA}",
            remedy="use the version that stored it (tool_version in manifest.json), or measure again",
        )
    return value


def from_plain(value: Any, kind: type[T], path: Path) -> T:
    """Raises StoreError that names the file."""
    try:
        return _CONVERTER.structure(value, kind)
    except Exception:
        return _explained(value, kind, path)


def _explained(value: Any, kind: type[T], path: Path) -> T:
    try:
        return _EXPLAINING.structure(value, kind)
    except Exception as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{path} cannot be read back: {_reason(error)}",
        remedy="it was cut short or changed by hand; the other trials of the run are not touched",
    )


def _reason(error: Exception) -> str:
    return " / ".join(cattrs.transform_error(error)) if isinstance(error, cattrs.BaseValidationError) else str(error)
