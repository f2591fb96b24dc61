"""Runs another program as the load generator of a trial."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType

from scale_sweep.base.errors import LoadError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.spawning import spawn
from scale_sweep.loadgen.protocol import Phase, ReportedAnswer, Trouble
from scale_sweep.loadgen.remote import StoppedWatch
from scale_sweep.model.loads import Interval, Latency, LoadProgram, LoadSummary

STOP_S = 15.0
LOOK_S = 0.02
KILL_S = 5.0
READ_S = 10.0  # after its end, for output that is still on its way; a child of it may keep the pipe open for longer


@dataclass(frozen=True, kw_only=True)
class ForeignResult:
    """The program's own report. Names give the unit (ms); None for what it does not report."""

    rows: int
    seconds: float
    threads: int
    delay_ms: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class ForeignCommand:
    """How to start the program and read its output."""

    program: LoadProgram
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]  # path → text, readable by the owner only. parse raises ValueError
    parse: Callable[[str], ForeignResult]


class ForeignLoad:
    """Start, read `lines` to the end, then `summary`. A context manager too."""

    def __init__(self, command: ForeignCommand, cpus: tuple[int, ...], network_namespace: str = "") -> None:
        enter = ("nsenter", f"--net={network_namespace}", "--") if network_namespace else ()
        self._command, self._argv, self._cpus = command, (*enter, *command.argv), cpus
        self._process: subprocess.Popen[str] | None = None
        self._stopped = StoppedWatch()
        self._reader: threading.Thread | None = None
        self._started_ns = self._ended_ns = 0
        self._cpu_s = 0.0
        self._is_told = False
        self.raw: list[str] = []
        self.answers: list[ReportedAnswer] = []
        self.troubles: list[Trouble] = []

    def __enter__(self) -> ForeignLoad:
        self.start()
        return self

    def start(self) -> None:
        for path, text in self._command.files.items():
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        try:
            with deferred():
                self._start_process()
        except BaseException as error:
            self.stop()
            if isinstance(error, OSError):
                raise LoadError(f"{self._command.argv[0]} did not start: {error.strerror}") from None
            raise

    def _start_process(self) -> None:
        self._process = spawn(
            self._argv,
            self._cpus,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **self._command.env},
            start_new_session=True,
        )
        self._started_ns = time.monotonic_ns()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self.raw.extend(self._process.stdout)

    @property
    def pids(self) -> tuple[int, ...]:
        return (self._process.pid,) if self._process else ()

    def lines(self, limit_s: float) -> Iterator[Phase | Interval | None]:
        """One phase, then None ten times a second until the output is read. Raises LoadError."""
        assert self._process is not None
        if self._process.returncode is not None:
            yield from self._read_to_the_end()
            return
        if not self._is_told:
            self._is_told = True
            yield Phase(phase="measure", monotonic_ns=self._started_ns)
        deadline = time.monotonic() + limit_s
        while True:
            pid, status, used = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                raise LoadError(f"{self._command.argv[0]} did not end within {limit_s:.0f} s")
            self._stopped.look(self.pids)
            yield None
            time.sleep(0.1)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._ended_ns, self._cpu_s = time.monotonic_ns(), used.ru_utime + used.ru_stime
        yield from self._read_to_the_end()
        if self._process.returncode != 0:
            words = " | ".join("".join(self.raw).strip().splitlines()[-4:])
            raise LoadError(f"{self._command.argv[0]} ended with code {self._process.returncode}: {words}")

    def _read_to_the_end(self) -> Iterator[None]:
        assert self._reader is not None
        deadline = time.monotonic() + READ_S
        while self._reader.is_alive() and time.monotonic() < deadline:
            yield None
            self._reader.join(0.1)

    def summary(self) -> LoadSummary | None:
        if not self._ended_ns:
            return None
        try:
            parsed = self._command.parse("".join(self.raw))
        except ValueError:
            return None
        delay = {name: value * 1000 for name, value in parsed.delay_ms.items()}
        latency = Latency(
            count=0,
            min_us=delay.get("min"),
            mean_us=delay.get("avg"),
            p50_us=None,
            p90_us=delay.get("p90"),
            p95_us=delay.get("p95"),
            p99_us=delay.get("p99"),
            p999_us=None,
            max_us=delay.get("max"),
            hdr="",
        )
        start = self._ended_ns - round(parsed.seconds * 1e9)
        return LoadSummary(
            outcome="ok",
            window_s=parsed.seconds,
            window_start_ns=start,
            window_end_ns=self._ended_ns,
            last_ack_ns=self._ended_ns,
            rows_window=parsed.rows,
            rows_per_s=parsed.rows / parsed.seconds if parsed.seconds else None,
            rows_acked=parsed.rows,
            rows_failed=0,
            requests=0,
            errors=0,
            retries=0,
            cpu_window_s=self._cpu_s,
            offered_rows_per_s=None,
            threads=parsed.threads,
            send_s=0.0,
            make_s=0.0,
            response=latency,
            service=latency,
            program=self._command.program,
        )

    def begin_window(self) -> None:
        """There is no warm-up that could end."""

    def end_window(self) -> None:
        """The program decides itself how long it loads."""

    def stop(self) -> None:
        """By SIGTERM, then SIGKILL. A second Ctrl-C kills it at once."""
        if self._process is None or self._process.returncode is not None:
            return
        with deferred() as hurry:
            self._process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + STOP_S
            while self._process.poll() is None and time.monotonic() < deadline and not hurry():
                time.sleep(LOOK_S)
            if self._process.returncode is None:
                self._process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout=KILL_S)
