"""The flags of the settings table on a command, and `--help` by the axis or by one section."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import zip_longest
from typing import Annotated, Any, get_type_hints

import typer

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.cli import completion
from scale_sweep.cli.help import PlainCommand, document, is_argument, panel_of
from scale_sweep.experiment.axes import Axis
from scale_sweep.experiment.setting import Setting
from scale_sweep.sweep.ab import REFUSED
from scale_sweep.sweep.axis import axis_of_command, usual_keys
from scale_sweep.sweep.settings import SETTINGS, parameter_name

ALL = "--help-all"
_KEYS = {parameter_name(setting.flag): setting.key for setting in SETTINGS}


class SweepHelp(PlainCommand):
    """Its help depends on the words beside `--help`."""

    # the keys of settings that it does not accept, whose flags the help leaves out
    refuses: frozenset[str] = frozenset()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Answers a request for help before the flags are read."""
        args = [self._with_bare(word, following) for word, following in zip_longest(args, args[1:], fillvalue="")]
        at = next((i for i, word in enumerate(args) if self._asks(ctx, word)), None)
        if at is None or ctx.resilient_parsing:
            rest: list[str] = super().parse_args(ctx, args)
            return rest
        flag, _, section = args[at].partition("=")
        section = section or next((word for word in args[at + 1 : at + 2] if not word.startswith("-")), "")
        swept = axis_of_command(args[0])
        if swept is None and section.lower() not in self._sections(ctx):
            swept, section = axis_of_command(section), "" if axis_of_command(section) else section
        typer.echo(self._help(ctx, swept, "all" if flag == ALL else section.lower()))
        raise typer.Exit

    @staticmethod
    def _with_bare(word: str, following: str) -> str:
        """A flag that needs no value, with the value that it then has."""
        bare = next((s.bare for s in SETTINGS if s.bare and s.flag == word), "")
        return f"{word}={bare}" if bare and (not following or following.startswith("-")) else word

    def get_help_option(self, ctx: Any) -> Any:
        option: Any = super().get_help_option(ctx)
        option.metavar = "[SECTION|WORD]"
        option.help = "Show this message, all flags of a section, or those with this word in their text."
        return option

    def example(self, swept: Axis | None) -> str:
        if swept is None:
            return str(self.epilog)
        _, _, *words = shlex.split(swept.facts.example)
        return "Example: " + shlex.join(["scale", str(self.name), *words])

    def _offered(self, ctx: Any) -> list[Any]:
        return [param for param in self.get_params(ctx) if _KEYS.get(param.name) not in self.refuses]

    def _asks(self, ctx: Any, word: str) -> bool:
        return word.partition("=")[0] in (*ctx.help_option_names, ALL)

    def _sections(self, ctx: Any) -> list[str]:
        return [*dict.fromkeys(panel_of(p).partition(",")[0].lower() for p in self.get_params(ctx)), "all"]

    def _help(self, ctx: Any, swept: Axis | None, section: str) -> str:
        known, params = self._sections(ctx), self._offered(ctx)
        if section and section not in known:
            params = _flags_with(section, params)
            if not params:
                raise UsageError(f"--help: no flag has the word {section!r}; section {not_one_of(section, known)}")
        elif not section:
            keys = usual_keys(swept)
            params = [p for p in params if p.name not in _KEYS or _KEYS[p.name] in keys]
        elif section != "all":
            params = [p for p in params if panel_of(p).partition(",")[0].lower() == section]
        self.epilog = self.example(swept)
        last = self._more(ctx, known, shown=params) if section != "all" else ""
        return document(self, ctx, params, sections={}, last=last).rstrip("\n")

    def _more(self, ctx: Any, known: Sequence[str], shown: Sequence[Any]) -> str:
        hidden = len(self._offered(ctx)) - len(shown)
        return (
            f"{hidden} more flags: {ctx.command_path} --help SECTION, with one of {', '.join(known)}, or --help WORD, "
            "with a word of a flag or of its text. docs/settings.md explains every setting."
        )


def _flags_with(word: str, params: Sequence[Any]) -> list[Any]:
    flags = [param for param in params if not is_argument(param)]
    named = [param for param in flags if any(word in name.lower() for name in param.opts)]
    return named + [param for param in flags if param not in named and word in (param.help or "").lower()]


class VariantsHelp(SweepHelp):
    """Also with the flags of a second variant."""

    refuses = frozenset(REFUSED)

    def example(self, swept: Axis | None) -> str:
        return str(self.epilog)


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

_CANDIDATES: Mapping[str, Callable[..., list[str]]] = {
    "target.name": completion.targets,
    "workload.name": completion.workloads,
    "report.reference": completion.tables,
    "knobs.other": completion.knobs,
    "vary": completion.knobs,
}

Flags = Mapping[str, str | list[str]]


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one option for each setting; its `flags` hold those that were given."""
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
