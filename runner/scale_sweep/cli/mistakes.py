"""A mistake on the command line, as Typer finds it, as a UsageError in the words of all other errors."""

from __future__ import annotations

import re
from typing import Any

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import did_you_mean

# Typer has had its copy of Click since 0.29, so the class of all mistakes is found through one that Typer names.
Mistake: type[Exception] = typer.BadParameter.__mro__[1]
_TOO_MANY = re.compile(r"unexpected extra arguments?(?:\(s\))? \((?P<words>.*)\)$")
_INSTEAD = {  # by the command, and a flag that it does not have
    ("sweep", "--dry-run"): "scale plan shows the trials and starts nothing",
    ("plan", "--dry-run"): "leave it out: a plan starts nothing",
    ("plan", "--wait-quiet"): "leave it out: scale sweep has it, and a plan starts nothing",
}
_PLAINER = (
    (r"Value error, ", ""),  # of a library that reads values
    (r".*valid integer.*", "not a whole number"),
    (r".*valid (?:number|float).*", "not a number"),
    (r"Input should be greater than or equal to (\S+)", r"must be at least \1"),
    (r"Input should be less than or equal to (\S+)", r"must be at most \1"),
)


def usage_error(mistake: Any) -> UsageError:
    """In the words of other errors. mistake: a `Mistake`."""
    context = mistake.ctx
    if context is None:
        flag, is_switch = getattr(mistake, "option_name", ""), "not take" in str(mistake.message)
        return UsageError(_of_value(mistake), remedy=f"write {flag}{'=VALUE' * (not is_switch)}" if flag else "")
    path, command = context.command_path, context.command
    remedy = f"{path} --help explains its flags"
    too_many = _TOO_MANY.search(mistake.message)
    if hasattr(mistake, "param_type"):  # a missing parameter
        return UsageError(f"{path} needs {_name(mistake.param)}", remedy=_example(command) or remedy)
    if hasattr(mistake, "possibilities"):  # a flag that does not exist
        flag = mistake.option_name
        if instead := _INSTEAD.get((context.info_name, flag), ""):
            return UsageError(f"{flag} is not a flag of {path}", remedy=instead)
        known = [one for param in command.params for one in param.opts if one.startswith("-")]
        return UsageError(f"{flag} is not a flag of {path}{did_you_mean(flag, known)}", remedy=remedy)
    if too_many is not None:
        return UsageError(f"{path}: one argument too many: {too_many['words']}", remedy=_example(command) or remedy)
    return UsageError(_of_value(mistake), remedy=remedy)


def _of_value(mistake: Any) -> str:
    if flag := getattr(mistake, "option_name", ""):
        return f"{flag}: takes no value" if "not take" in mistake.message else f"{flag}: a value is missing"
    param = getattr(mistake, "param", None)
    if param is None:
        return str(mistake.message).rstrip(".")
    text = str(mistake.message).rstrip(".")
    for pattern, words in _PLAINER:
        text = re.sub(pattern, words, text)
    return f"{_name(param)}: {text}"


def _name(param: Any) -> str:
    """As the help shows it."""
    shown = str(param.metavar or param.name.upper())
    return shown if param.param_type_name == "argument" else max(param.opts, key=len)


def _example(command: Any) -> str:
    epilog = (command.epilog or "").strip()
    return epilog if epilog.startswith("Example") and "\n" not in epilog else ""
