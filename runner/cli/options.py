"""Gives a Typer command the flags of the settings table, so that a setting is declared once and nowhere else."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from runner.setting import Setting
from runner.sweep.settings import SETTINGS, parameter_name

_PANELS = {
    "axis": "Axis",
    "target": "Server",
    "disks": "Disks",
    "cpus": "CPUs",
    "workload": "Workload",
    "load": "Load",
    "knobs": "Knobs",
    "method": "Method",
    "report": "Report",
    "tags": "Report",
    "vary": "Knobs",
}

Flags = Mapping[str, str | list[str]]


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which takes `flags`, with one option for each setting. Only what was given is in `flags`."""
    hints = get_type_hints(command, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name]) for p in inspect.signature(command).parameters.values() if p.name != "flags"
    ]
    options = [
        inspect.Parameter(
            parameter_name(s),
            inspect.Parameter.KEYWORD_ONLY,
            default=[] if s.many else False if s.switch else None,
            annotation=_annotation(s),
        )
        for s in SETTINGS
    ]
    names = {parameter_name(s): s.key for s in SETTINGS}

    @wraps(command)
    def wrapped(**given: Any) -> None:
        said = {k: v for k, v in given.items() if k in names and v not in (None, [], False)}
        flags = {names[k]: "1" if v is True else v for k, v in said.items()}
        command(flags=flags, **{name: value for name, value in given.items() if name not in names})

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + options
    vars(wrapped)["__signature__"] = inspect.Signature(parameters)
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


def _annotation(s: Setting) -> Any:
    shown = f"{s.help} [dim]\\[default: {s.default}][/]" if s.default else s.help
    panel = _PANELS[s.key.partition(".")[0]]
    if s.switch:
        return Annotated[bool, typer.Option(s.flag, help=shown, show_default=False, rich_help_panel=panel)]
    option = typer.Option(s.flag, help=shown, metavar=s.metavar, show_default=False, rich_help_panel=panel)
    return Annotated[list[str], option] if s.many else Annotated[str | None, option]
