"""Model objects ⇄ JSON values. Refuses what is not of the shape that was written: a StoreError names the file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import cattrs

from runner.errors import StoreError

SCHEMA = 1
T = TypeVar("T")
_CONVERTER = cattrs.Converter(forbid_extra_keys=False)


def to_json(value: Any) -> str:
    """A frozen dataclass as indented JSON."""
    return json.dumps(asdict(value), indent=1, ensure_ascii=False, default=str)


def from_json(text: str, kind: type[T], path: Path) -> T:
    """The object that to_json wrote. Raises StoreError naming the file."""
    try:
        return _CONVERTER.structure(json.loads(text), kind)
    except Exception as error:
        raise StoreError(
            f"{path} cannot be read back: {_reason(error)}",
            remedy="it was cut short or changed by hand; the other trials of the run are not touched",
        ) from None


def from_plain(value: Any, kind: type[T], path: Path) -> T:
    """The same of a value that json.loads has made."""
    return from_json(json.dumps(value), kind, path)


def _reason(error: Exception) -> str:
    return " / ".join(cattrs.transform_error(error)) if isinstance(error, cattrs.BaseValidationError) else str(error)
