"""Another program as the load of a trial, or a command beside it: on its CPUs, in a session of its own that ends with
it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType

from scale_sweep.base.errors import LoadError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.spawning import spawn
from scale_sweep.loadgen.protocol import Phase, ReportedAnswer, Trouble
from scale_sweep.loadgen.readers import Reader
from scale_sweep.loadgen.remote import StoppedWatch
from scale_sweep.loadgen.tool_lines import ToolLines
from scale_sweep.loadgen.tool_output import (
    MEASURE,
    WARMUP,
    ToolLine,
    ToolRun,
    ToolSeconds,
    intervals_of,
    line_text,
    summary_of,
)
from scale_sweep.model.loads import Interval, LoadProgram, LoadSummary

STOP_S = 15.0
LOOK_S, LINES_S = 0.02, 0.1
KILL_S = 5.0
SILENT_S = 2.0  # without a report of its seconds
READ_S = 10.0  # after its end, for output that is still on its way
LAST_LINES = 4


@dataclass(frozen=True, kw_only=True)
class ToolCommand:
    """How to start a program and to read what it prints."""

    program: LoadProgram
    argv: tuple[str, ...]
    env: Mapping[str, str]  # all that it gets
    reader: Reader | None = None  # None: nothing is read
    files: Mapping[str, str] = field(default_factory=dict)  # path → text, readable by the owner only
    clients: int = 1
    warmup_s: float = 0.0  # the longest
    writes_rows: bool = False  # what it counts are rows


class CommandLoad:
    """Start, read `lines` to the end, then `summary`. A context manager too."""

    def __init__(self, command: ToolCommand, cpus: tuple[int, ...], network_namespace: str = "") -> None:
        enter = ("nsenter", f"--net={network_namespace}", "--") if network_namespace else ()
        self._command, self._argv, self._cpus = command, (*enter, *command.argv), cpus
        self._process: subprocess.Popen[bytes] | None = None
        self._new: queue.SimpleQueue[ToolLine] = queue.SimpleQueue()
        self._output = ToolLines(self._new.put)
        self._stopped = StoppedWatch()
        self._seconds: ToolSeconds | None = None
        self._phase = WARMUP if command.warmup_s else MEASURE
        self._begins = False
        self._started_ns = self._measure_ns = self._ended_ns = 0
        self._cpu_s = 0.0
        self.raw: list[str] = []
        self.answers: list[ReportedAnswer] = []
        self.troubles: list[Trouble] = []

    def __enter__(self) -> CommandLoad:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Raises LoadError."""
        for path, text in self._command.files.items():
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        streams = [os.pipe2(os.O_CLOEXEC) for _ in range(2)]
        try:
            with deferred():
                self._process = spawn(
                    self._argv,
                    self._cpus,
                    stdin=subprocess.DEVNULL,
                    stdout=streams[0][1],
                    stderr=streams[1][1],
                    env=self._command.env,
                    start_new_session=True,
                )
        except OSError as error:
            raise LoadError(f"{self._command.argv[0]} did not start: {error.strerror}") from None
        finally:
            for ours, theirs in streams:
                os.close(theirs)
                self._output.follow(ours)
        self._started_ns = time.monotonic_ns()
        self._seconds = ToolSeconds(self._command.reader, self._started_ns)

    @property
    def pids(self) -> tuple[int, ...]:
        return (self._process.pid,) if self._process else ()

    @property
    def kept(self) -> tuple[ToolLine, ...]:
        return self._output.kept

    def lines(self, limit_s: float) -> Iterator[Phase | Interval | None]:
        """Also the program's seconds, where it reports progress. Raises LoadError."""
        assert self._process is not None
        if self._process.returncode is not None:
            yield from self._taken()
            return
        yield Phase(phase=self._phase, monotonic_ns=self._started_ns)
        self._measure_ns = 0 if self._phase == WARMUP else self._started_ns
        deadline, name = time.monotonic() + limit_s, self._command.program.name
        while not self._has_ended():
            if time.monotonic() > deadline:
                raise LoadError(f"{name} did not end within {limit_s:.0f} s")
            self._stopped.look(self.pids)
            yield from self._taken()
            yield None
            time.sleep(LINES_S)
        self._output.wait(READ_S)
        yield from self._taken()
        if (run := self.run) is not None and (code := run.code):
            how = f"ended with code {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"
            raise LoadError(f"{name} {how}: {self._last_words()}")
        if self._phase == WARMUP:
            ran_s = (self._ended_ns - self._started_ns) / 1e9
            remedy = "a longer load, or a shorter --warmup"
            raise LoadError(f"{name} ended after {ran_s:.1f} s, within the warm-up", remedy=remedy)

    def _last_words(self) -> str:
        return " | ".join(line.text.strip() for line in self.kept[-LAST_LINES:]) or "it said nothing"

    def _taken(self) -> Iterator[Phase | Interval]:
        assert self._seconds is not None
        while not self._new.empty():
            line = self._new.get_nowait()
            self.raw.append(line_text(line))
            if (interval := self._seconds.take(line, self._phase)) is not None:
                yield interval
                yield from self._begun(after_s=0.0)
        yield from self._begun(after_s=SILENT_S)

    def _begun(self, after_s: float) -> Iterator[Phase]:
        """The window, with a second of the program where it reports them."""
        now_ns = time.monotonic_ns()
        is_over = self._begins or now_ns - self._started_ns >= (self._command.warmup_s + after_s) * 1e9
        if self._phase == WARMUP and is_over and not self._ended_ns:
            self._phase, self._measure_ns = MEASURE, now_ns
            yield Phase(phase=MEASURE, monotonic_ns=now_ns)

    def _has_ended(self) -> bool:
        """Then it also ends all that was left in the session, while no other process can have its number."""
        assert self._process is not None
        pid = self._process.pid
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return False
        self._ended_ns = time.monotonic_ns()
        self._send(signal.SIGKILL)
        _, status, used = os.wait4(pid, os.WNOHANG)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._cpu_s = used.ru_utime + used.ru_stime
        return True

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pids[0], number)

    @property
    def run(self) -> ToolRun | None:
        """None: it has not ended."""
        if self._process is None or not self._ended_ns:
            return None
        return ToolRun(
            reader=self._command.reader,
            program=self._command.program,
            started_ns=self._started_ns,
            ended_ns=self._ended_ns,
            cpu_s=self._cpu_s,
            code=self._process.returncode,
            clients=self._command.clients,
            writes_rows=self._command.writes_rows,
        )

    def summary(self) -> LoadSummary | None:
        run, lines = self.run, self.kept
        return summary_of(run, lines, intervals_of(run, lines, self._measure_ns)) if run is not None else None

    def begin_window(self) -> None:
        self._begins = True

    def end_window(self) -> None:
        """The program decides itself how long it loads."""

    def stop(self) -> None:
        """By SIGTERM, then SIGKILL. A second Ctrl-C kills it at once."""
        if self._process is None or self._process.returncode is not None:
            return
        with deferred() as hurry:
            self._send(signal.SIGTERM)
            deadline = time.monotonic() + STOP_S
            while not self._has_ended() and time.monotonic() < deadline and not hurry():
                time.sleep(LOOK_S)
            if self._process.returncode is None:
                self._send(signal.SIGKILL)
                deadline = time.monotonic() + KILL_S
                while not self._has_ended() and time.monotonic() < deadline:
                    time.sleep(LOOK_S)


def run_to_end(command: CommandLoad, limit_s: float, look: Callable[[], None]) -> str:
    """Its output. look: is called several times a second. Raises LoadError."""
    with command:
        for _ in command.lines(limit_s):
            look()
    return "\n".join(line.text for line in command.kept)
