"""What every command compatible with taosBenchmark does around the load generator: lines into a file, and an end.

Refuses to know what is loaded or asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from scale_sweep.base.errors import LoadError, PreflightError, StoreError
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.statements import run_verb
from scale_sweep.taosbenchmark import output

DRAIN_S = 20.0
LIBRARY_S = 20.0
RESULT = "RESULT"
"""The level of lines that taosBenchmark writes to standard output. They are written with the level INFO, as there."""

Say = Callable[[str, str], None]


def need_library(program: str, door: Mapping[str, str]) -> None:
    """Raises PreflightError if the load generator cannot open the client library. door: the spec that reaches the
    server."""
    try:
        run_verb(program, "library", door, "", "", LIBRARY_S)
    except LoadError as error:
        remedy = "install TDengine's client, or name its libtaos by --library or its home by SCALE_TDENGINE_HOME"
        raise PreflightError(error.message, remedy=remedy) from None


@contextmanager
def saying(result_file: str, to_console: Say) -> Iterator[Say]:
    """Tells each line with its time and level, and appends it to the result file. Raises StoreError."""
    try:
        file = open(result_file, "a", encoding="utf-8", opener=_open_at_once)
    except OSError as error:
        raise StoreError(f"-o {result_file}: {error.strerror}", remedy="give another with -o") from None
    with file:

        def say(level: str, text: str) -> None:
            line = output.stamped(datetime.now(), "INFO" if level == RESULT else level, text)
            to_console(level, line)
            file.write(line + "\n")
            file.flush()

        yield say


def _open_at_once(path: str, flags: int) -> int:
    """Opens the file. A pipe that nobody reads is an error, and not waited for."""
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    os.set_blocking(descriptor, True)
    return descriptor


def drain(load: LoadProcesses) -> LoadError | None:
    """Reads what a stopped load still says."""
    try:
        for _ in load.lines(DRAIN_S):
            pass
    except LoadError as error:
        return error
    return None
