"""What each load of `scale load` needs: the library, lines into a file, one run of the load generator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from scale_sweep.base.errors import LoadError, PreflightError, StoreError
from scale_sweep.loadgen.handle import watch
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.loadgen.verbs import run_verb
from scale_sweep.model import Interval, LoadSummary

LOAD_S_MAX = 30 * 86_400.0
DRAIN_S = 20.0
LIBRARY_S = 20.0
RESULT = "RESULT"  # the level of lines that taosBenchmark writes to standard output, with the level INFO

Say = Callable[[str, str], None]
T = TypeVar("T")


def need_library(program: str, door: Mapping[str, str]) -> None:
    """Raises PreflightError if the load generator cannot open the client library. door: a spec that reaches the
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
            line = stamped(datetime.now(), "INFO" if level == RESULT else level, text)
            to_console(level, line)
            file.write(line + "\n")
            file.flush()

        yield say


def stamped(now: datetime, level: str, text: str) -> str:
    return f"[{now:%m/%d %H:%M:%S.%f}] {level}: {text}"


def _open_at_once(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    os.set_blocking(descriptor, True)
    return descriptor


@dataclass(frozen=True, kw_only=True)
class OneLoad:
    """A load that has ended."""

    summary: LoadSummary | None  # None without one
    raw: Sequence[str]  # its output
    troubles: tuple[str, ...]
    failure: LoadError | None  # why it failed; None if it did not
    interrupted: bool


@dataclass(kw_only=True)
class LoadsDone(Generic[T]):
    """The loads of a command that ended."""

    done: list[T] = field(default_factory=list)
    interrupted: bool = False
    failure: LoadError | None = None  # why no more follow; the caller raises it after the lines were shown

    @property
    def is_over(self) -> bool:
        return self.interrupted or self.failure is not None


def run_load(program: str, spec: Mapping[str, str], password: str, on_interval: Callable[[Interval], None]) -> OneLoad:
    """Runs one load on the CPUs of this process to its end, or until Ctrl-C. Raises LoadError if it does not start."""
    with LoadProcesses(program, [spec], tuple(sorted(os.sched_getaffinity(0))), password) as load:
        end = watch(load, on_interval, LOAD_S_MAX, DRAIN_S)
        return OneLoad(
            summary=load.summary(),
            raw=load.raw,
            troubles=tuple(f"{t.code} {t.message}" for t in load.troubles),
            failure=end.failure,
            interrupted=end.interrupted,
        )
