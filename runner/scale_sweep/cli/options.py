"""Adds the flags of the settings table to a Typer command, so that each setting is declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from scale_sweep.cli import completion
from scale_sweep.cli.sweep_help import ALL
from scale_sweep.experiment.setting import Setting
from scale_sweep.sweep.settings import SETTINGS, parameter_name

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
    "mix": "Workload",
    "operation": "Workload",
    "preload": "Workload",
}

_CANDIDATES = {
    "target.name": completion.targets,
    "workload.name": completion.workloads,
    "report.reference": completion.tables,
}

Flags = Mapping[str, str | list[str]]


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command, which takes `flags`, with one option for each setting. `flags` holds only those that the
    user gave."""
    hints = get_type_hints(command, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name]) for p in inspect.signature(command).parameters.values() if p.name != "flags"
    ]
    options = [
        inspect.Parameter(
            parameter_name(s.flag),
            inspect.Parameter.KEYWORD_ONLY,
            default=[] if s.many else False if s.switch else None,
            annotation=_annotation(s),
        )
        for s in SETTINGS
    ]
    names = {parameter_name(s.flag): s.key for s in SETTINGS}

    @wraps(command)
    def wrapped(**arguments: Any) -> None:
        arguments.pop(_HELP_ALL.name)
        flags = {
            names[k]: "1" if v is True else v for k, v in arguments.items() if k in names and v not in (None, [], False)
        }
        command(flags=flags, **{name: value for name, value in arguments.items() if name not in names})

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + options + [_HELP_ALL]
    vars(wrapped)["__signature__"] = inspect.Signature(parameters)
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


# Listed for the help alone: `SweepHelp` answers before a flag is read.
_HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option(ALL, help="Show this message with every flag.")],
)


def _annotation(s: Setting) -> Any:
    shown = f"{s.help} [default: {s.default}]" if s.default else s.help
    panel = _PANELS[s.key.partition(".")[0]]
    if s.switch:
        return Annotated[bool, typer.Option(s.flag, help=shown, show_default=False, rich_help_panel=panel)]
    option = typer.Option(
        s.flag,
        help=shown,
        metavar=s.metavar,
        show_default=False,
        rich_help_panel=panel,
        autocompletion=_CANDIDATES.get(s.key),
    )
    return Annotated[list[str], option] if s.many else Annotated[str | None, option]
