"""Readers of load tools: a row of plain data for each, and what it reads from the tool's arguments and output. Packages
add rows by the entry point `scale_sweep.readers`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import Registry
from scale_sweep.base.texts import not_one_of
from scale_sweep.loadgen.readers.arguments import program_at as program_at
from scale_sweep.loadgen.readers.arguments import value_of as value_of
from scale_sweep.loadgen.readers.arguments import with_progress as with_progress
from scale_sweep.loadgen.readers.databases import DATABASES
from scale_sweep.loadgen.readers.output import progress_of as progress_of
from scale_sweep.loadgen.readers.output import result_of as result_of
from scale_sweep.loadgen.readers.reader import VARIABLE_ROLES as VARIABLE_ROLES
from scale_sweep.loadgen.readers.reader import Reader as Reader
from scale_sweep.loadgen.readers.reader import ToolProgress as ToolProgress
from scale_sweep.loadgen.readers.reader import ToolResult as ToolResult
from scale_sweep.loadgen.readers.reader import from_plain as from_plain
from scale_sweep.loadgen.readers.reader import pattern_reader as pattern_reader
from scale_sweep.loadgen.readers.reader import to_plain as to_plain
from scale_sweep.model.declared_parts import LoadCommand

READERS = Registry("scale_sweep.readers", {})


def readers() -> dict[str, Reader]:
    """All rows by name; ours hide those of other packages."""
    return {name: READERS.load(name) for name in READERS.names()} | {row.name: row for row in DATABASES}


def reader_named(name: str) -> Reader:
    rows = readers()
    if name not in rows:
        raise UsageError(f"reader {not_one_of(name, tuple(rows))}")
    return rows[name]


def reader_of(argv: Sequence[str]) -> Reader | None:
    """The row of the program that these arguments start; None: no row has it."""
    program = PurePath(argv[at]).name if (at := program_at(argv)) < len(argv) else ""
    return next((row for row in readers().values() if program in row.programs), None)


def reader_of_load(command: LoadCommand) -> Reader | None:
    """Raises UsageError for a wrong expression of --rate-from."""
    return pattern_reader(command.rate_from) if command.rate_from else reader_of(command.argv)
