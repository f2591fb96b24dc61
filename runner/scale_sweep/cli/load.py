"""`scale load`: the options and files of taosBenchmark, or a configuration of IoT-benchmark."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep import __version__
from scale_sweep.base.errors import EXIT_INTERRUPTED
from scale_sweep.server.targets.tdengine.tdengine_facts import FACTS
from scale_sweep.taosbenchmark.options import OPTIONS

if TYPE_CHECKING:
    from scale_sweep.taosbenchmark.job import Connection

EXAMPLE = "Example: scale load -h localhost -d test -t 100 -n 100000 -T 4 -v 4 -I stmt -y"
_STYLES = {"SUCC": "green", "ERROR": "red", "WARN": "yellow"}


class TableSharing(StrEnum):
    STOCK = "stock"
    OWNED = "owned"


def register(app: typer.Typer) -> None:
    app.command(
        "load",
        epilog=EXAMPLE,
        help=_help(),
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": ["--help"]},
    )(load)


def _help() -> str:
    lines = [
        f"  {'-' + o.short + ',' if o.short else '   '} --{o.long}{' ' + o.metavar if o.metavar else ''}".ljust(34)
        + (f" {o.text}" + (f" [{o.default}]" if o.default else ""))
        for o in OPTIONS
        if not o.why
    ]
    refused = ", ".join(f"-{o.short}" for o in OPTIONS if o.why)
    return (
        "Load a database as taosBenchmark or IoT-benchmark would, by its options or its file. Without --iot, the "
        "options are those of taosBenchmark: rows for TDengine, or the queries of its query file, and its result "
        "lines. Not supported, and refused by name: " + refused + ".\n\n\b\n" + "\n".join(lines)
    )


def load(
    context: typer.Context,
    placement: Annotated[
        TableSharing,
        typer.Option(
            help="stock: contiguous ranges of tables, as taosBenchmark; owned: separate vgroups for each thread."
        ),
    ] = TableSharing.STOCK,
    library: Annotated[str, typer.Option(help="libtaos.so to open.", metavar="FILE")] = "",
    iot: Annotated[
        str,
        typer.Option(
            help="Run this configuration of IoT-benchmark, and print its result matrix. Further arguments are "
            "KEY=VALUE, and override the file's.",
            metavar="FILE",
        ),
    ] = "",
    own_values: Annotated[
        bool, typer.Option("--own-values", help="Accept min, max, values of a JSON file and use our own values.")
    ] = False,
    row_times: Annotated[
        bool,
        typer.Option("--row-times", help="Subscriptions: timestamps are times of writing; report delays to delivery."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Load a database as taosBenchmark or IoT-benchmark would, by its options or its file."""
    if iot:
        load_iot(iot, tuple(context.args), as_json=as_json)
        return
    from scale_sweep.cli import console
    from scale_sweep.loadgen.binary import loadgen_path
    from scale_sweep.server.targets.tdengine.client import library as find_library
    from scale_sweep.taosbenchmark.command import module_of, read_given, read_job
    from scale_sweep.taosbenchmark.job import ScaleOptions

    options, remarks = read_given(context.args)
    if "version" in options:
        console.show_line(f"scale {__version__}")
        return
    if "help" in options or "usage" in options:
        console.show_line(context.get_help())
        return
    home = os.environ.get(FACTS.home_variable, "")
    own = ScaleOptions(
        placement=placement.value, library=library or find_library(home), own_values=own_values, row_times=row_times
    )
    job = read_job(options, remarks, own, os.environ, datetime.now())
    module = module_of(job)
    _ask(job, module.settings_lines(job))
    done = module.run(job, own, loadgen_path(), partial(_say, as_json))
    if as_json:
        console.show_json(module.document(job, done))
    if done.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if done.failure is not None:
        raise done.failure


def _say(as_json: bool, level: str, line: str) -> None:
    from scale_sweep.cli import console
    from scale_sweep.taosbenchmark.loading import RESULT

    if level == RESULT and not as_json:
        console.show_line(line)
    else:
        console.say(line, _STYLES.get(level, ""))


def _ask(job: Connection, settings: Sequence[str]) -> None:
    from scale_sweep.cli import console

    if job.ask and sys.stdin.isatty():
        for line in settings:
            console.say(line)
        console.say("Press enter key to continue or Ctrl-C to stop")
        sys.stdin.readline()


def load_iot(path: str, overrides: tuple[str, ...], *, as_json: bool) -> None:
    """as_json: a JSON document in place of the result matrix."""
    from scale_sweep.base.interrupts import current
    from scale_sweep.cli import console
    from scale_sweep.iotbenchmark.output import document, matrix_lines, store_results
    from scale_sweep.iotbenchmark.run import read_file, run_job
    from scale_sweep.loadgen.binary import loadgen_path

    job = read_file(path, overrides, os.environ)
    result = run_job(job, loadgen_path(), console.say, current())
    if result.done is not None:
        if as_json:
            console.show_json(document(job, result.done))
        else:
            for line in matrix_lines(job, result.done):
                console.show_line(line)
        store_results(job, result.done)
    if result.failure is not None:
        raise result.failure
    if result.done is None or result.done.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
