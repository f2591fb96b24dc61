"""How the help of a command is written: plain text in two columns, and no line longer than the terminal."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import did_you_mean

WIDTH_MAX = 100
_NAME_WIDTH = 26  # of the column of names, with its two blanks on each side
Rows = Sequence[tuple[str, str]]


class PlainCommand(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(document(self, ctx, self.get_params(ctx), sections={}, last=""))


class PlainGroup(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.commands[name]
            title = getattr(command, "rich_help_panel", None) or "Commands"
            sections.setdefault(title, []).append((name, _joined((command.help or "").split("\n\n")[0])))
        last = f"{ctx.command_path} COMMAND --help explains a command."
        formatter.write(document(self, ctx, self.get_params(ctx), sections=sections, last=last))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help().rstrip("\n"), err=True)
            raise typer.Exit(UsageError.exit_code)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Raises UsageError with the nearest name."""
        if args and args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            known = self.list_commands(ctx)
            raise UsageError(
                f"{args[0]!r} is not a command of {ctx.command_path}{did_you_mean(args[0], known)}",
                remedy=f"{ctx.command_path} --help lists the commands",
            )
        return super().resolve_command(ctx, args)


def document(command: Any, ctx: Any, params: Iterable[Any], *, sections: Mapping[str, Rows], last: str) -> str:
    params, of_command = [one for one in params if not getattr(one, "hidden", False)], command.get_params(ctx)
    tables: dict[str, list[tuple[str, str]]] = {title: list(rows) for title, rows in sections.items()}
    for param in params:
        tables.setdefault(panel_of(param), []).append((_name(param), _text(param)))
    parts = [_usage(command, ctx, of_command), *_paragraphs(command.help or ""), *_paragraphs(command.epilog or "")]
    parts += [f"{title}:\n{_columns(rows)}" for title, rows in tables.items()]
    return "\n\n".join([*parts, *_paragraphs(last)]) + "\n"


def panel_of(param: Any) -> str:
    if is_argument(param):
        return "Arguments"
    return getattr(param, "rich_help_panel", None) or "Options"


def is_argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _width() -> int:
    return min(shutil.get_terminal_size().columns, WIDTH_MAX)


def _joined(text: str) -> str:
    return " ".join(text.split())


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def _paragraphs(text: str) -> list[str]:
    return [_paragraph(part) for part in text.split("\n\n") if part.strip()]


def _paragraph(part: str) -> str:
    """Below Click's mark `\\b` is a table: each line stays alone, and goes on below its second column."""
    if not part.lstrip("\n").startswith("\b"):
        return "\n".join(_wrapped(_joined(part), _width()))
    rows = part.replace("\b", "").strip("\n").split("\n")
    return "\n".join(line for row in rows for line in _hanging(row))


def _hanging(row: str) -> list[str]:
    name = re.match(r"\s*\S.*?\s{2,}", row)
    indent = " " * (len(name[0]) if name else _NAME_WIDTH)
    return textwrap.wrap(row, _width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _usage(command: Any, ctx: Any, params: Sequence[Any]) -> str:
    words = [_argument(param) for param in params if is_argument(param)]
    commands = ["COMMAND"] if hasattr(command, "commands") else []
    return "\n".join(_wrapped(" ".join([f"Usage: {ctx.command_path}", *words, *commands, "[FLAGS]"]), _width(), "  "))


def _argument(param: Any) -> str:
    name = _metavar(param) + ("..." if param.nargs != 1 and not _metavar(param).endswith("...") else "")
    return name if param.required or name.startswith("[") else f"[{name}]"


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _name(param: Any) -> str:
    if is_argument(param):
        return _argument(param).removeprefix("[").removesuffix("]") if not param.metavar else _metavar(param)
    flags = ", ".join(sorted([*param.opts, *param.secondary_opts], key=len))
    return f"{flags} {_metavar(param)}" if param.metavar or not param.is_flag else flags


def _text(param: Any) -> str:
    default = "" if callable(param.default) else param.default
    is_shown = param.show_default and default not in (None, False, "", [], ())
    return _joined(param.help or "") + (f" [default: {default}]" if is_shown else "")


def _columns(rows: Rows) -> str:
    left = min(max(len(name) for name, _ in rows) + 4, _NAME_WIDTH)
    lines = []
    for name, text in rows:
        first, *rest = _wrapped(text, _width() - left)
        if len(name) + 4 > left:
            lines += [f"  {name}", f"{'':{left}}{first}"]
        else:
            lines.append(f"{f'  {name}':{left}}{first}")
        lines += [f"{'':{left}}{line}" for line in rest]
    return "\n".join(line.rstrip() for line in lines)
