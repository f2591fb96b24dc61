"""The stacks of a server's processes while it is loaded, recorded by Linux' `perf` and kept in folded form.

Sampled by the CPU clock, which every machine has, 99 times a second on each CPU. Refuses to be the end of a trial: a
recording that fails says why, and the trial goes on without stacks.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from runner.runtimes.capabilities import Obstacle
from runner.spawning import spawn

HZ = 99  # no multiple of the timers of servers and kernel
PROBE_S = 10.0
READY_S = 15.0
LOOK_S = 0.02
TRIES = 3
STOP_S = 15.0
READ_S = 60.0
_EVENT = ("-e", "cpu-clock")
_FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \((.*)\)$")


def profile_obstacle() -> Obstacle | None:
    """Why stacks cannot be recorded here, found by trying it; None when they can."""
    if shutil.which("perf") is None:
        return Obstacle(sentence="there is no program perf", remedy="apt-get install linux-perf")
    done = _run("perf", "record", *_EVENT, "-o", "/dev/null", "--", "true", limit_s=PROBE_S)
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines() or ["it says nothing"]
    return Obstacle(sentence=f"perf cannot record here: {said[0]}", remedy="run as root, or leave out --profile")


class StackRecorder:
    """One recording. `start` while the server is idle, `stop`, then `close`, which reads it: `folded` and `trouble` say
    what came of it. Threads and processes that the server makes later are recorded with those that make them."""

    def __init__(self) -> None:
        self.folded, self.trouble, self._said = "", "", ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, pids: Callable[[], Sequence[int]], cpus: Sequence[int]) -> None:
        """Returns when perf records, or has not come that far in time. pids: those of the server now, with all their
        threads; cpus: where perf itself runs. Once begun it goes on.

        perf refuses to begin when one of the processes has just ended, so it is asked again with those that are left.
        """
        if self._folder is not None:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="scale-perf-")
        deadline = time.monotonic() + READY_S
        for _ in range(TRIES):
            if not self._begun(pids(), cpus) or self._records(deadline):
                return
            self.stop()

    def _begun(self, pids: Sequence[int], cpus: Sequence[int]) -> bool:
        of = ",".join(map(str, pids))
        argv = ["perf", "record", "-q", "-B", "-N", "-F", str(HZ), "-g", *_EVENT, "-o", self._data, "-p", of]
        try:
            self._process = spawn(
                argv, cpus, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
        except OSError as error:
            self.trouble = f"perf was not started: {error}"
        return self._process is not None

    def _records(self, deadline: float) -> bool:
        """perf writes its file's head when it has attached itself. A slow one is left to come to it later."""
        data = Path(self._data)
        while self._process is not None and self._process.poll() is None and time.monotonic() < deadline:
            if data.exists() and data.stat().st_size:
                return True
            time.sleep(LOOK_S)
        return self._process is not None and self._process.poll() is None

    @property
    def _data(self) -> str:
        return f"{self._folder.name}/perf.data" if self._folder else ""

    def stop(self) -> None:
        """Ends the recording; safe to call twice."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate(timeout=STOP_S)
        self._said = said.decode("utf-8", "replace")

    def close(self) -> None:
        """Ends the recording, folds it, and leaves no file behind; safe to call twice."""
        self.stop()
        if self._folder is not None:
            if not self.trouble:
                self._fold(self._said)
            self._folder.cleanup()
            self._folder = None

    def _fold(self, said: str) -> None:
        done = _run("perf", "script", "--no-inline", "-F", "comm,ip,sym,dso", "-i", self._data, limit_s=READ_S)
        self.folded = fold(done.stdout.splitlines())
        if not self.folded:
            words = [*said.strip().splitlines(), *done.stderr.strip().splitlines()]
            told = [word for word in words if word.strip() not in ("", "Error:")]
            self.trouble = f"perf recorded no stacks: {(told or ['no sample'])[0].strip()}"


def fold(lines: Iterable[str]) -> str:
    """The output of `perf script` as folded stacks: "comm;outermost;...;innermost count", one a line, sorted.

    A frame without a symbol is its file's name in brackets, so that a server without symbols has a graph too.
    """
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
            comm = line.strip().replace(";", ":")


def _frame(symbol: str, file: str) -> str:
    known = symbol not in ("", "[unknown]")
    name = re.sub(r"\+0x[0-9a-f]+$", "", symbol) if known else f"[{Path(file.strip('[]')).name or 'unknown'}]"
    return name.replace(";", ":")


def _run(*command: str, limit_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=limit_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))
