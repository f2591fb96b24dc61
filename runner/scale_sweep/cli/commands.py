"""The commands by name, with the options before them: each command's module and its line in `scale --help`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand

from scale_sweep import __version__
from scale_sweep.base.errors import ScaleError, UsageError
from scale_sweep.base.interrupts import listen
from scale_sweep.cli.help import PlainCommand, PlainGroup
from scale_sweep.cli.mistakes import Mistake, usage_error

_SWEEP = "Give a database 1, 2, ... N cores, disks or clients, load it at each step, and fit the curve."
_PLAN = "Show the trials, their knobs, the origin of each setting, and the duration; start nothing."
_CLEAN = "Remove containers, processes, data directories, cgroups and disks that a crash or a power cut left."
_OBSERVE = "Watch this machine without a load, with the files and dashboards of a sweep, until Ctrl-C or for a time."
_SIZE = "Find the smallest level that holds a rate, and the cheapest machine of a price list that has it."
_FIRST = "Measure"
_RESULTS = "Results"
_MACHINE = "This machine"
_OTHER = "Other"
# Grouped, in the order of the help: what a newcomer needs first.
GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    _FIRST: {
        "doctor": ("machine", "Show what this machine can do: CPUs, cgroups, Docker, databases, and missing packages."),
        "plan": ("sweeps", _PLAN),
        "sweep": ("sweeps", _SWEEP),
        "init": ("sweep_files", "Print a sweep file for an axis, with comments, to change and to run."),
        "watch": (
            "runs",
            "Watch a sweep that runs in another terminal of this machine; Ctrl-C ends the watching, not the sweep.",
        ),
        "resume": ("sweeps", "Continue an interrupted run: keep the finished trials, and measure the others."),
        "judge": (
            "judging",
            "Run a load command, like pgbench, and show whether its number is the server's or the load's.",
        ),
        "kit": (
            "kit",
            "Write a script and a page to carry to another machine, which make one redacted file to send back.",
        ),
        "ab": (
            "ab",
            "Measure two variants in turn on this machine, in blocks of A B B A, and test whether B is slower.",
        ),
    },
    _RESULTS: {
        "list": ("runs", "List the stored runs, oldest first."),
        "show": ("runs", "Show one run: table, answer, the first warnings; with --all everything."),
        "report": ("runs", "Fit a stored run again, and replace its fit.json, report.md and report.html."),
        "compare": (
            "compared",
            "Compare stored runs point by point, test the differences, and show what else differs.",
        ),
        "verify": ("runs", "Compute a run again from its raw files, and name every file that differs."),
        "site": (
            "exports",
            "Write a static site of stored runs: an index with filters and curves, and the report of each run.",
        ),
        "export": (
            "exports",
            "Write a stored run in another format: CSV, JSON, Parquet, OpenMetrics, HdrHistogram, SQL.",
        ),
        "import": ("exports", "Store a run that `scale export --redacted` wrote elsewhere, after it was verified."),
        "size": ("size", _SIZE),
        "fit": ("fit", "Fit the curve of any data: a CSV file with a level and a rate in each row."),
    },
    _MACHINE: {
        "servers": ("machine", "Install pinned database servers from Maven, PyPI and Go modules, or list them."),
        "images": ("machine", "Build a Docker image of an installed database server, without a registry."),
        "hosts": ("hosts", "Prepare, check and clean the hosts of `scale sweep --hosts`."),
        "disks": ("disks", "Make disks for sweeps, list them, remove them."),
        "dashboards": ("boards", "Prometheus and Grafana beside a sweep, on this machine only."),
        "clean": ("machine", _CLEAN),
    },
    _OTHER: {
        "schema": ("sweep_files", "Print the JSON schema of sweep files, for editors that complete and check them."),
        "observe": ("observing", _OBSERVE),
        "load": ("load", "Load a database as taosBenchmark or IoT-benchmark would, by its options or its file."),
    },
}
COMMANDS: Mapping[str, tuple[str, str]] = {name: one for group in GROUPS.values() for name, one in group.items()}


class LazyGroup(PlainGroup):
    """Has every command's name and line, and imports only the command that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        eager = dict(self.commands)
        self.commands = {
            name: PlainCommand(name, help=line, rich_help_panel=title)
            for title, group in GROUPS.items()
            for name, (_, line) in group.items()
        } | eager
        self._loaded = set(eager)

    def get_help_option(self, ctx: Any) -> Any:
        """With a default: for None, Typer imports its validation library, a fifth of the cost of a help."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def main(self, *args: Any, **extra: Any) -> Any:
        """Raises UsageError for a mistake in the command line, else SystemExit with the exit code."""
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except Mistake as mistake:
            raise usage_error(mistake) from None
        except typer.Abort:
            raise UsageError("not started: a question was not answered", remedy="answer it, or give -y") from None
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name in COMMANDS and name not in self._loaded:
            self.commands[name] = load_command(name)
            self._loaded.add(name)
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Any:
    app = typer.Typer(
        rich_markup_mode="rich", add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.callback()(lambda: None)
    import_module(f"scale_sweep.cli.{COMMANDS[name][0]}").register(app)
    # Each command has a hundred options, so the others of the module are left out.
    app.registered_commands = [command for command in app.registered_commands if command.name == name]
    _write_help_plainly(app)
    return typer.main.get_group(app).commands[name]


def _write_help_plainly(app: typer.Typer) -> None:
    for command in app.registered_commands:
        if command.cls in (None, TyperCommand):
            command.cls = PlainCommand
    for group in app.registered_groups:
        group.cls = PlainGroup
        if group.typer_instance is not None:
            _write_help_plainly(group.typer_instance)


app = typer.Typer(
    name="scale",
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    help="Measure how far one database server scales up, and check what limited each rate.\n\n"
    "Example: scale sweep cpu --cores 1..all",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from scale_sweep.cli import console

        console.show_line(f"scale {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", "-V", callback=_show_version, is_eager=True, help="Show the version and end."
    ),
) -> None:
    """Options before the command."""


def with_help(words: Sequence[str]) -> list[str]:
    return [*words[1:], "--help"] if words[:1] == ["help"] else list(words)


def refuse_bytes(words: Sequence[str]) -> None:
    """Raises UsageError for an argument that is not UTF-8."""
    for at, word in enumerate(words):
        if any("\ud800" <= character <= "\udfff" for character in word):
            flag = word.partition("=")[0] if word.startswith("-") else words[at - 1] if at else word
            raise UsageError(f"{flag}: {word!r} has a byte that is not UTF-8")


def run() -> None:
    """Raises SystemExit: a ScaleError is shown as one message and gives its code."""
    listen()
    try:
        refuse_bytes(sys.argv[1:])
        app(with_help(sys.argv[1:]))
    except ScaleError as error:
        _end(error)
    except UnicodeEncodeError as error:  # of the name of a file: streams show every character somehow
        if sys.getfilesystemencoding() == "utf-8":
            raise
        remedy = "use a locale of UTF-8, like LC_ALL=C.UTF-8"
        _end(UsageError(f"{error.object!a} is no name of a file in this locale ({error.encoding})", remedy=remedy))


def _end(error: ScaleError) -> NoReturn:
    from scale_sweep.cli import console

    console.show_error(error)
    sys.exit(error.exit_code)
