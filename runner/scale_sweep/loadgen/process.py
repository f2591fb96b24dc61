"""Runs the load generator: one or several processes, with their lines as one stream."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO

from scale_sweep.base.errors import LoadError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.spawning import spawn
from scale_sweep.loadgen.binary import ended
from scale_sweep.loadgen.kept_files import ContentParts
from scale_sweep.loadgen.merge import merge_summaries, merge_troubles, odd_window
from scale_sweep.loadgen.protocol import (
    ContentPart,
    Hello,
    Line,
    Phase,
    ReportedAnswer,
    Trouble,
    parse_line,
    split_content,
)
from scale_sweep.loadgen.remote import Elsewhere, LoadProcess, StoppedWatch, is_stopped
from scale_sweep.loadgen.spec import spec_text
from scale_sweep.loadgen.split import LineSource, Seconds, marked
from scale_sweep.model.loads import FINISHED, Interval, LoadSummary

STOP_S = 15.0
HURRY_S = 5.0  # after a second signal it waits for no answer, and writes its summary
LOOK_S = 0.02
KILL_S = 5.0  # a killed process that still lives waits for its kernel; waiting for it gains nothing


class LoadProcesses:
    """Iterate `lines()` to the end, then read `summary()`. elsewhere: starts them; None: they run here."""

    def __init__(
        self,
        program: str,
        specs: Sequence[Mapping[str, str]],
        cpus: tuple[int, ...],
        secret: str,
        network_namespace: str = "",
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._elsewhere, self._secret = elsewhere, secret
        enter = ("nsenter", f"--net={network_namespace}", "--") if network_namespace else ()
        self._argv, self._specs, self._cpus = (*enter, program, "load", "-"), specs, cpus
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith("TAOS_")} | {
            "SCALE_PASSWORD": secret
        }
        self._processes: list[LoadProcess] = []
        self._stopped = StoppedWatch()
        self._errors: list[IO[str]] = []
        self._queue: queue.Queue[tuple[int, Line | Exception | None]] = queue.Queue()
        self._summaries: dict[int, LoadSummary] = {}
        self._merged: LoadSummary | None = None
        self._unfinished = set(range(len(specs)))
        self._seconds = Seconds(len(specs))
        self._phases: dict[str, int] = {}
        self.raw: list[str] = []
        self.hello: Hello | None = None
        self.answers: list[ReportedAnswer] = []
        self._troubles: dict[tuple[int, str], Trouble] = {}  # by process and code

    def __enter__(self) -> LoadProcesses:
        self.start()
        return self

    def start(self) -> None:
        try:
            with deferred():
                for index, spec in enumerate(self._specs):
                    self._start_one(index, spec)
        except BaseException as error:
            self.stop()
            if isinstance(error, OSError):
                raise LoadError(f"the load generator did not start: {error}", remedy="scale doctor") from None
            raise

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start_one(self, index: int, spec: Mapping[str, str]) -> None:
        errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        elsewhere = self._elsewhere
        process = elsewhere.start(index, spec, self._secret, errors) if elsewhere else self._spawned(spec, errors)
        self._processes.append(process)
        self._errors.append(errors)
        threading.Thread(target=self._read, args=(index, process), daemon=True).start()

    def _spawned(self, spec: Mapping[str, str], errors: IO[str]) -> subprocess.Popen[str]:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as spec_file:  # a pipe would block until its reader reads
            spec_file.write(spec_text(spec))
            spec_file.seek(0)
            return spawn(
                self._argv,
                self._cpus,
                stdin=spec_file,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                errors="replace",  # a server's texts may be in any encoding, or cut
                env=self._environment,
                start_new_session=True,
            )

    def _read(self, index: int, process: LoadProcess) -> None:
        assert process.stdout is not None
        source, parts = LineSource(process=index, processes=len(self._specs)), ContentParts()
        try:
            for text in process.stdout:
                line = parse_line(text)
                if isinstance(line, ContentPart):
                    parts.take(line)
                    continue
                kept, _ = split_content(text)
                self.raw.append(kept if source.processes == 1 else marked(kept, source))
                if line is not None:
                    self._queue.put((index, parts.whole(line) if isinstance(line, ReportedAnswer) else line))
        except Exception as error:
            self._queue.put((index, error))
        self._queue.put((index, None))

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(p.pid for p in self._processes if p.pid)

    def lines(self, limit_s: float) -> Iterator[Phase | Interval | None]:
        """None after a tenth of a second without a line. Continues after an earlier call. Raises LoadError if a process
        fails or is stopped, or when the limit passes."""
        waiting, seconds, phases = self._unfinished, self._seconds, self._phases
        deadline = time.monotonic() + limit_s
        while waiting:
            if time.monotonic() > deadline:
                raise LoadError(
                    f"{self._unended(waiting)} did not end within {limit_s:.0f} s: {self._last_sign()}",
                    remedy="see the server's log; was the server stopped?",
                )
            try:
                index, line = self._queue.get(timeout=0.1)
            except queue.Empty:
                self._stopped.look([pid for i in waiting if (pid := self._processes[i].pid)])
                yield None
                continue
            if line is None:
                waiting.discard(index)
            elif isinstance(line, Exception):
                raise line
            elif isinstance(line, Phase):
                phases[line.phase] = phases.get(line.phase, 0) + 1
                if phases[line.phase] == len(self._processes):
                    yield line
            else:
                self._keep(index, line)
                yield from seconds.take(index, line)
        self._check_exit()
        self._refuse_odd_windows()

    def _keep(self, index: int, line: Line) -> None:
        if isinstance(line, Hello):
            self._refuse_other_protocol(index, line)
            self.hello = line
        elif isinstance(line, Trouble):
            self._troubles[index, line.code] = line  # reported when it first comes, and at the end with its total
        elif isinstance(line, ReportedAnswer):
            self.answers.append(line)
        elif isinstance(line, LoadSummary):
            self._summaries[index] = line

    @property
    def troubles(self) -> list[Trouble]:
        return merge_troubles(self._troubles.values())

    def _refuse_other_protocol(self, index: int, hello: Hello) -> None:
        wanted = self._specs[index]["protocol"]
        if str(hello.protocol) != wanted:
            spoken = "none" if hello.protocol is None else hello.protocol
            raise LoadError(
                f"the load generator {hello.version} speaks protocol {spoken}, asked for was protocol {wanted}",
                remedy="install the load generator of this version (make setup), or correct SCALE_LOADGEN",
            )

    def _check_exit(self) -> None:
        self._await_end(STOP_S)
        running = {i for i, p in enumerate(self._processes) if p.returncode is None}
        if running:
            raise LoadError(f"{self._unended(running)} wrote its summary and did not end within {STOP_S:.0f} s")
        codes = [(code, i) for i, p in enumerate(self._processes) if (code := p.returncode) not in (0, 6, 130, None)]
        if codes:
            code, index = codes[0]
            which = f" (process {index + 1} of {len(self._processes)})" if len(self._processes) > 1 else ""
            troubles = "; ".join(f"{trouble.code} {trouble.message}" for trouble in self.troubles[:3])
            raise ended(f"the load generator{which}", code or 0, self.error_text(index) or troubles)

    def _await_end(self, limit_s: float, hurry: Callable[[], bool] = lambda: False) -> None:
        """A process that continues has no returncode then."""
        deadline = time.monotonic() + limit_s
        while any(process.poll() is None for process in self._processes):
            if time.monotonic() > deadline or hurry():
                return
            time.sleep(LOOK_S)

    def _unended(self, waiting: Iterable[int]) -> str:
        if len(self._processes) == 1:
            return "the load generator"
        numbers = ", ".join(str(index + 1) for index in sorted(waiting))
        return f"process {numbers} of {len(self._processes)} of the load generator"

    def _last_sign(self) -> str:
        if not self.hello:
            return "it has written nothing"
        if not self._phases:
            return "it did not begin, so the server did not accept all of its connections"
        return f"it was in phase {list(self._phases)[-1]}, and the server did not answer the requests in flight"

    def error_text(self, index: int = 0) -> str:
        self._errors[index].seek(0)
        return "\n".join(str(self._errors[index].read()).strip().splitlines()[-6:])

    def summary(self) -> LoadSummary | None:
        is_whole = self._summaries and len(self._summaries) == len(self._processes)
        if is_whole and self._merged is None:  # histograms of several processes take a quarter of a second
            self._merged = merge_summaries(self._in_order())
        return self._merged

    def _in_order(self) -> list[LoadSummary]:
        return [self._summaries[index] for index in sorted(self._summaries)]

    def _refuse_odd_windows(self) -> None:
        whole = all(part.outcome in FINISHED for part in self._summaries.values())
        by_time = all("duration_s" in spec for spec in self._specs)
        error_ns = self._elsewhere.error_ns if self._elsewhere is not None else 0
        if whole and (odd := odd_window(self._in_order(), ends=by_time, error_ns=error_ns)):
            raise LoadError(odd, remedy="leave the load generator's CPUs to it alone, or take fewer --connections")

    def end_window(self) -> None:
        self._send(signal.SIGUSR1)

    def begin_window(self) -> None:
        self._send(signal.SIGUSR2)

    def stop(self) -> None:
        """SIGTERM, again to end the drain, then SIGKILL; at once after a second Ctrl-C, or if all are stopped."""
        with deferred() as hurry:
            for limit_s in (STOP_S, HURRY_S):
                self._send(signal.SIGTERM)
                self._await_end(limit_s, lambda: hurry() or self._are_all_stopped())
            self._send(signal.SIGKILL)
            self._await_end(KILL_S)

    def _are_all_stopped(self) -> bool:
        running = [process.pid for process in self._processes if process.poll() is None]
        return bool(running) and all(pid and is_stopped(pid) for pid in running)

    def _send(self, number: signal.Signals) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)
