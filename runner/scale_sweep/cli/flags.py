"""Commands that take their flags as one value: a dataclass whose fields are arguments and options of Typer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def from_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command with a parameter for each field of each dataclass that it takes, in the order of the fields.

    Its other parameters stay.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    kinds: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            kinds[name] = hints[name]
            parameters += _fields(hints[name])
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @wraps(command)
    def wrapped(**given: Any) -> None:
        values = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in kinds.items()}
        command(**values, **given)

    vars(wrapped)["__signature__"] = inspect.Signature(parameters)
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped


def _fields(kind: Any) -> list[inspect.Parameter]:
    """A parameter for each field, with its default."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
