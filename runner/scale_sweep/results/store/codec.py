"""Model objects ⇄ JSON values. Refuses what is not of the shape that was written: a StoreError names the file."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import cattrs

from scale_sweep.base.errors import StoreError
from scale_sweep.results.store import strict

SCHEMA = 8  # raise it by one when a stored document, a column of a table or a raw file changes its names or meaning
T = TypeVar("T")
_CONVERTER = cattrs.Converter(forbid_extra_keys=False, detailed_validation=False)
_EXPLAINING = cattrs.Converter(forbid_extra_keys=False)  # slower; it names what does not fit


def _whole(value: Any, _: type) -> int:
    """The whole number of a value, or of a text, as keys of JSON are. int(True) is 1, and int(1.5) too: neither was
    written as such."""
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


def _member(value: Any, kind: type[StrEnum]) -> StrEnum:
    return kind(value)


_HOOKS: tuple[tuple[type, Any], ...] = (
    (int, _whole),
    (float, _number),
    (bool, _truth),
    (str, _text),
    (StrEnum, _member),  # a kind of str, whose hook would be taken
)
for _kind, _hook in _HOOKS:
    for _one in (_CONVERTER, _EXPLAINING):
        _one.register_structure_hook(_kind, _hook)


def plain(value: Any) -> Any:
    """A model object as a JSON value. `dataclasses.asdict` copies every number and takes four times as long; a fleet
    writes two of them a second for each host."""
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
    """For `json.dumps(default=...)`, which then goes through all values itself, in a third of the time of `plain`.
    Raises TypeError for what is no model object."""
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
    """A frozen dataclass as indented JSON, with the format's number."""
    return json.dumps({"schema": SCHEMA} | plain(value), indent=1, ensure_ascii=False, default=str)


def from_json(text: str, kind: type[T], path: Path) -> T:
    """The object that to_json wrote. Raises StoreError that names the file."""
    return from_plain(parsed(text, path), kind, path)


def parsed(text: str, path: Path) -> Any:
    """The JSON value. Raises StoreError that names the file, and the key of a value that no run holds."""
    try:
        return strict.loads(text)
    except ValueError as error:
        raise unreadable(path, error) from None


def document_of(text: str, path: Path) -> dict[str, Any]:
    """The plain value of a stored document that states its schema. Raises StoreError that names the file, also for a
    document of another schema."""
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
    """The object of a value from json.loads. Raises StoreError that names the file."""
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
    """The error for a file that does not have the expected structure."""
    return StoreError(
        f"{path} cannot be read back: {_reason(error)}",
        remedy="it was cut short or changed by hand; the other trials of the run are not touched",
    )


def _reason(error: Exception) -> str:
    return " / ".join(cattrs.transform_error(error)) if isinstance(error, cattrs.BaseValidationError) else str(error)
