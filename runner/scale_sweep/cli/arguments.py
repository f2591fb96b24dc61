"""Arguments and options that several commands share, and commands that take their flags as one value."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.base.units import parse_levels, parse_seconds
from scale_sweep.cli import completion

if TYPE_CHECKING:  # the model costs as much as the rest of a command's help
    from scale_sweep.model.samples import DiskSource


T = TypeVar("T")


def require_directory(path: Path, flag: str) -> None:
    """Raises UsageError that names the flag."""
    if not os.path.isdir(path):
        raise UsageError(f"{flag} {path}: {'is not a directory' if os.path.exists(path) else 'does not exist'}")


def _existing_results(context: typer.Context, path: Path) -> Path:
    """The default directory may be missing: no run was made yet."""
    source = context.get_parameter_source("results")
    if source is not None and source.name == "COMMANDLINE":
        require_directory(path, "--results")
    return path


RUN = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A run's name, a part of it, its path, or `last`.", autocompletion=completion.runs
    ),
]
NEW_RESULTS = Annotated[Path, typer.Option("--results", help="Directory of the runs.", metavar="DIR")]
RESULTS = Annotated[
    Path, typer.Option("--results", help="Directory of the runs.", metavar="DIR", callback=_existing_results)
]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
PREDICT = Annotated[
    str | None,
    typer.Option(help="Levels whose rate to predict, up to twice the highest measured: 16,24.", metavar="LEVELS"),
]
NEED = Annotated[str | None, typer.Option(help="Rates whose level to find: 2000000 or 2M,5M.", metavar="RATES")]


def asked_of(predict: str | None, need: str | None) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Raises UsageError that names the flag."""
    from scale_sweep.experiment.setting.readers import rates

    levels = read_flag("--predict", parse_levels, predict) if predict is not None else ()
    return levels, read_flag("--need", rates, need) if need is not None else ()


def read_flag(flag: str, read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}") from None


def quiet_s(text: str | None) -> float:
    """The time of --wait-quiet; 0: it was not given."""
    from scale_sweep.experiment.setting.readers import above_zero

    return read_flag("--wait-quiet", above_zero(parse_seconds), text) if text is not None else 0.0


def confirm_format(source: DiskSource, yes: bool) -> None:
    """Raises UsageError unless the user types the word, or gave -y: data is deleted."""
    if not source.format or yes:
        return
    devices = ", ".join(source.devices)
    question = f"{devices} will be formatted. Type 'format' to go on"
    if sys.stdin.isatty() and typer.prompt(question, err=True) == "format":
        return
    raise UsageError(f"not started: {devices} would be formatted", remedy="type format when asked, or give -y")


def from_flags(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a parameter for each field of each dataclass that it takes."""
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
    def wrapped(**arguments: Any) -> None:
        values = {name: kind(**{f.name: arguments.pop(f.name) for f in fields(kind)}) for name, kind in kinds.items()}
        command(**values, **arguments)

    vars(wrapped)["__signature__"] = inspect.Signature(parameters)
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped


def _fields(kind: Any) -> list[inspect.Parameter]:
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
