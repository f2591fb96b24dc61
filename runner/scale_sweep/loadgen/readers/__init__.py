"""Readers of load tools: a row of plain data for each, and what it reads from the tool's arguments and output. Packages
add rows by the entry point `scale_sweep.readers`."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import Registry
from scale_sweep.base.texts import not_one_of
from scale_sweep.loadgen.readers.arguments import program_at as program_at
from scale_sweep.loadgen.readers.arguments import value_of as value_of
from scale_sweep.loadgen.readers.arguments import with_progress as with_progress
from scale_sweep.loadgen.readers.output import progress_of as progress_of
from scale_sweep.loadgen.readers.output import result_of as result_of
from scale_sweep.loadgen.readers.reader import VARIABLE_ROLES as VARIABLE_ROLES
from scale_sweep.loadgen.readers.reader import Reader as Reader
from scale_sweep.loadgen.readers.reader import ToolProgress as ToolProgress
from scale_sweep.loadgen.readers.reader import ToolResult as ToolResult
from scale_sweep.loadgen.readers.reader import from_plain as from_plain
from scale_sweep.loadgen.readers.reader import pattern_reader as pattern_reader
from scale_sweep.loadgen.readers.reader import to_plain as to_plain
from scale_sweep.loadgen.readers.reader import written_out
from scale_sweep.model.declared_parts import LoadCommand

READERS = Registry("scale_sweep.readers", {})
_PATTERNS = ("progress", "result", "details")


@functools.cache
def _readers() -> Mapping[str, Reader]:
    """All rows by name; ours hide those of other packages."""
    ours = tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))
    for name, row in ours.items():
        for key in row.keys() & _PATTERNS:
            row[key] = written_out(row[key]) if isinstance(row[key], str) else [written_out(one) for one in row[key]]
        ours[name] = from_plain({"name": name, "programs": [name], **row})
    return {**{name: READERS.load(name) for name in READERS.names()}, **ours}


def reader_named(name: str) -> Reader:
    if name not in _readers():
        raise UsageError(f"reader {not_one_of(name, _readers())}")
    return _readers()[name]


def reader_of(argv: Sequence[str]) -> Reader | None:
    """The row of the program that these arguments start; None: no row has it."""
    program = PurePath(argv[at]).name if (at := program_at(argv)) < len(argv) else ""
    return next((row for row in _readers().values() if program in row.programs), None)


def reader_of_load(command: LoadCommand) -> Reader | None:
    """Raises UsageError for a wrong expression of --rate-from."""
    return pattern_reader(command.rate_from) if command.rate_from else reader_of(command.argv)
