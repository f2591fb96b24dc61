"""Stacks of a loaded server's processes by Linux' `perf`, in folded form."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from scale_sweep.base.spawning import spawn
from scale_sweep.machine.state.records import scratch
from scale_sweep.server.runtimes import Obstacle
from scale_sweep.server.runtimes.data_dir import tried

HZ = 99  # not a multiple of the timers of servers and kernel
PROBE_S = 10.0
READY_S = 15.0
LOOK_S = 0.02
TRIES = 3
STOP_S = 15.0
READ_S = 60.0
_EVENT = ("-e", "cpu-clock")
_NAMELESS = re.compile(r"^:-?\d+$")
_FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \((.*)\)$")


def profile_obstacle() -> Obstacle | None:
    """Found by trying it."""
    if shutil.which("perf") is None:
        return Obstacle(sentence="there is no program perf", remedy="apt-get install linux-perf")
    done = tried(PROBE_S, "perf", "record", *_EVENT, "-o", "/dev/null", "--", "true")
    if done.returncode == 0:
        return None
    messages = done.stderr.strip().splitlines() or ["no message"]
    return Obstacle(sentence=f"perf cannot record here: {messages[0]}", remedy="run as root, or leave out --profile")


class StackRecorder:
    """Call `start`, `stop`, then `close`; results are `folded` and `trouble`."""

    def __init__(self) -> None:
        self.folded, self.trouble, self._messages = "", "", ""
        self._cleanup = contextlib.ExitStack()
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, pids: Callable[[], Sequence[int]], cpus: Sequence[int]) -> None:
        """Returns when perf records, or is late. cpus: of perf, which is started again if a process just ended."""
        if self._folder is not None:
            return
        self._folder = self._cleanup.enter_context(scratch("perf"))
        deadline = time.monotonic() + READY_S
        for _ in range(TRIES):
            if not self._begun(pids(), cpus) or self._records(deadline):
                return
            self.stop()

    def _begun(self, pids: Sequence[int], cpus: Sequence[int]) -> bool:
        of = ",".join(map(str, pids))
        argv = ["perf", "record", "-q", "-B", "-N", "-F", str(HZ), "-g", *_EVENT, "-o", self._data, "-p", of]
        none = subprocess.DEVNULL
        try:
            self._process = spawn(argv, cpus, stdin=none, stdout=none, stderr=subprocess.PIPE)
        except OSError as error:
            self.trouble = f"perf was not started: {error}"
        return self._process is not None

    def _records(self, deadline: float) -> bool:
        data = Path(self._data)
        while self._process is not None and self._process.poll() is None and time.monotonic() < deadline:
            if data.exists() and data.stat().st_size:
                return True
            time.sleep(LOOK_S)
        return self._process is not None and self._process.poll() is None

    @property
    def _data(self) -> str:
        return f"{self._folder}/perf.data" if self._folder else ""

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            _, output = process.communicate(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            _, output = process.communicate(timeout=STOP_S)
        self._messages = output.decode("utf-8", "replace")

    def close(self) -> None:
        """May be called twice, as `stop`."""
        with self._cleanup:
            self.stop()
            if self._folder is not None and not self.trouble:
                self._fold(self._messages)
            self._folder = None

    def _fold(self, output: str) -> None:
        done = tried(READ_S, "perf", "script", "--no-inline", "-F", "comm,ip,sym,dso", "-i", self._data)
        self.folded = fold(done.stdout.splitlines())
        if not self.folded:
            words = [*output.strip().splitlines(), *done.stderr.strip().splitlines()]
            messages = [word for word in words if word.strip() not in ("", "Error:")]
            self.trouble = f"perf recorded no stacks: {(messages or ['no sample'])[0].strip()}"


def fold(lines: Iterable[str]) -> str:
    """Sorted lines "comm;outermost;...;innermost count". A frame without a symbol is its file in brackets."""
    counts = Counter(";".join(stack) for stack in _stacks(lines))
    return "".join(f"{stack} {count}\n" for stack, count in sorted(counts.items()))


def _stacks(lines: Iterable[str]) -> Iterator[tuple[str, ...]]:
    comm = ""
    frames: list[str] = []
    for line in [*lines, ""]:
        if not line.strip():
            if comm:
                yield (comm, *reversed(frames))
            comm, frames = "", []
        elif match := _FRAME.match(line):
            frames.append(_frame(*match.groups()))
        elif not line[0].isspace():
            comm = _NAMELESS.sub("[process]", line.strip()).replace(";", ":")


def _frame(symbol: str, file: str) -> str:
    known = symbol not in ("", "[unknown]")
    name = re.sub(r"\+0x[0-9a-f]+$", "", symbol) if known else f"[{Path(file.strip('[]')).name or 'unknown'}]"
    return name.replace(";", ":")
