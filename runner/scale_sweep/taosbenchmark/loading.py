"""Parts of each load of `scale load`: the library, lines into a file, one run of the load generator."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from scale_sweep.base.errors import LoadError, PreflightError, StoreError
from scale_sweep.loadgen.handle import Every, watch
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.verbs import run_verb
from scale_sweep.model import Interval, LoadSummary
from scale_sweep.taosbenchmark.job import Connection

LOAD_S_MAX = 30 * 86_400.0
DRAIN_S = 20.0
LIBRARY_S = 20.0
RESULT = "RESULT"  # the level of lines that taosBenchmark writes to standard output, with the level INFO

Say = Callable[[str, str], None]
T = TypeVar("T")


def need_library(program: str, door: Mapping[str, str]) -> None:
    """Raises PreflightError if the load generator cannot open it. door: a spec that reaches the server."""
    try:
        run_verb(program, "library", door, "", "", LIBRARY_S)
    except LoadError as error:
        remedy = "install TDengine's client, or name its libtaos by --library or its home by SCALE_TDENGINE_HOME"
        raise PreflightError(error.message, remedy=remedy) from None


@contextmanager
def saying(job: Connection, to_console: Say) -> Iterator[Say]:
    """Into the result file too, first the job's notes. Raises StoreError."""
    try:
        file = open(job.result_file, "a", encoding="utf-8", opener=_open_at_once)
    except OSError as error:
        raise StoreError(f"-o {job.result_file}: {error.strerror}", remedy="give another with -o") from None
    with file:

        def say(level: str, text: str) -> None:
            line = stamped(datetime.now(), "INFO" if level == RESULT else level, text)
            to_console(level, line)
            file.write(line + "\n")
            file.flush()

        for note in job.notes:
            say("INFO", note)
        yield say


def stamped(now: datetime, level: str, text: str) -> str:
    return f"[{now:%m/%d %H:%M:%S.%f}] {level}: {text}"


@contextmanager
def temporary_file(suffix: str, content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(prefix="scale-", suffix=suffix) as file:
        file.write(content)
        file.flush()
        yield file.name


def reporting(every_s: float, say: Say, line: Callable[[Interval], str]) -> Callable[[Interval], None]:
    """Says the line of a second now and then."""
    due = Every(every_s)

    def report(second: Interval) -> None:
        text = line(second)
        if due.elapsed_s() is not None:
            say("INFO", text)

    return report


def _open_at_once(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    os.set_blocking(descriptor, True)
    return descriptor


@dataclass(frozen=True, kw_only=True)
class OneLoad:
    summary: LoadSummary | None  # None without one
    raw: Sequence[str]  # its output
    troubles: tuple[str, ...]
    failure: LoadError | None  # why it failed; None if it did not
    interrupted: bool


@dataclass(kw_only=True)
class LoadsDone(Generic[T]):
    done: list[T] = field(default_factory=list)
    interrupted: bool = False
    failure: LoadError | None = None  # why no more follow; the caller raises it after the lines were shown

    @property
    def is_over(self) -> bool:
        return self.interrupted or self.failure is not None


def run_load(program: str, spec: Mapping[str, str], password: str, on_interval: Callable[[Interval], None]) -> OneLoad:
    """To its end, or until Ctrl-C. Raises LoadError if it does not start."""
    with LoadProcesses(program, [spec], tuple(sorted(os.sched_getaffinity(0))), password) as load:
        end = watch(load, on_interval, LOAD_S_MAX, DRAIN_S)
        return OneLoad(
            summary=load.summary(),
            raw=load.raw,
            troubles=tuple(f"{t.code} {t.message}" for t in load.troubles),
            failure=end.failure,
            interrupted=end.interrupted,
        )
