"""A host's agent, reached by OpenSSH: requests out, lines in, until the process here ends."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import IO, Any

from scale_sweep.agent.lines import BEAT_S, LEASE_S, READY, SharedWriter, error_of, parsed
from scale_sweep.base.errors import ProvisionError, UsageError
from scale_sweep.base.interrupts import current, deferred
from scale_sweep.base.spawning import run_within
from scale_sweep.hosts.inventory import HostEntry
from scale_sweep.hosts.package import FOLDER
from scale_sweep.machine.disks.limits import DISK_LIMIT_SWITCH
from scale_sweep.machine.host.child_programs import NEW_PAGES_SWITCH
from scale_sweep.server.targets.installations import COPIES_VARIABLE

READY_S = 60.0
ANSWER_S = 120.0
END_S = 100.0  # longer than the agent needs to remove a server and its data
HURRY_S = 5.0
END_LOOK_S = 0.02
Line = Mapping[str, Any]


class AgentRequest:
    """A request that runs on a host. lines: of it, its answer or error last. on_line: called in the reader's thread in
    place of the queue. An empty line only wakes."""

    def __init__(self, link: AgentLink, number: int, on_line: Callable[[Line], None] | None) -> None:
        self.link, self.number = link, number
        self.lines: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self.is_over = False
        self._on_line = on_line or self.lines.put

    def take(self, line: Line) -> None:
        """In the reader's thread."""
        self.is_over = self.is_over or "answer" in line or "error" in line
        self._on_line(line)

    def tell(self, **line: Any) -> None:
        self.link.put(to=self.number, **line)

    def stop(self) -> None:
        self.tell(stop=True)

    def events(self, limit_s: float) -> Iterator[Line]:
        """The lines, the answer last. Raises Stopped, the host's error with its name, ProvisionError after limit_s."""
        stop, deadline = current(), time.monotonic() + limit_s
        with stop.waking(partial(self.lines.put, {})):
            while True:
                stop.look()
                try:
                    line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
                except queue.Empty:
                    raise ProvisionError(f"{self.link.host.name} did not answer within {limit_s:.0f} s") from None
                if "error" in line:
                    raise error_of(line["error"], self.link.host.name)
                if line:
                    yield line
                if "answer" in line:
                    return

    def answer(self, limit_s: float = ANSWER_S) -> Any:
        """Raises as `events`."""
        return next((line["answer"] for line in self.events(limit_s) if "answer" in line), None)


class AgentLink:
    """One agent, started by `with`. digest: that its files must have."""

    def __init__(self, host: HostEntry, digest: str) -> None:
        self.host, self._digest = host, digest
        self._requests: dict[int, AgentRequest] = {}
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self._hello: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._heard = time.monotonic()
        self.broken = ""

    def __enter__(self) -> AgentLink:
        self.begin()
        try:
            self.greet()
        except BaseException:
            self.close()
            raise
        return self

    def begin(self) -> None:
        """Starts the agent. Call `greet` then, and `close` in any case. Raises UsageError."""
        home, python = shell_path(f"{self.host.home}/{self._digest}"), shlex.quote(self.host.python)
        line = (
            f"cd / && test -f {home}/digest || {{ echo 'scale is not prepared here' >&2; exit 9; }}; "
            f"PYTHONPATH={home}/site SCALE_LOADGEN={home}/bin/scale-loadgen PYTHONDONTWRITEBYTECODE=1 {switches()}"
            f"{COPIES_VARIABLE}={shell_path(f'{self.host.home}/{FOLDER}')} "
            f'PATH={home}/bin:"$PATH" SCALE_PYTHON={python} exec {python} -P -m scale_sweep.agent'
        )
        pipe = subprocess.PIPE
        try:
            with deferred():
                self._process = subprocess.Popen(
                    self.host.command(line),
                    stdin=pipe,
                    stdout=pipe,
                    stderr=self._errors,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,  # Ctrl-C of the terminal ends the agent by its input, after its trial
                )
        except OSError as error:
            raise UsageError(f"--hosts: {self.host.name}: {error}", remedy="apt install openssh-client") from None
        assert self._process.stdin is not None
        self._writer = SharedWriter(self._process.stdin)
        threading.Thread(target=self._read, name=f"host {self.host.name}", daemon=True).start()

    def again(self) -> AgentLink:
        """A new link to the same host, not started."""
        return AgentLink(self.host, self._digest)

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        self.close()

    def greet(self) -> None:
        """Waits for the agent's first line, then keeps its lease. Raises UsageError."""
        stop, deadline, hello = current(), time.monotonic() + READY_S, dict[str, Any]()
        with stop.waking(partial(self._hello.put, {})):
            while not hello:
                stop.look()
                if self.broken:
                    raise self._unprepared(self.broken)
                try:
                    hello = dict(self._hello.get(timeout=max(0.0, deadline - time.monotonic())))
                except queue.Empty:
                    raise self._unprepared(f"its agent did not start within {READY_S:.0f} s") from None
        if (digest := hello.get("digest")) != self._digest:
            raise self._unprepared(f"its files are {digest}, this scale's are {self._digest}")
        threading.Thread(target=self._beat, name=f"beat {self.host.name}", daemon=True).start()

    def _unprepared(self, sentence: str) -> UsageError:
        return UsageError(f"--hosts: {self.host.name}: {sentence}", remedy=TO_PREPARE)

    def put(self, **line: Any) -> None:
        self._writer.put(**line)

    def ask(self, what: str, /, on_line: Callable[[Line], None] | None = None, **words: Any) -> AgentRequest:
        request = AgentRequest(self, next(self._numbers), on_line)
        with self._lock:
            if not self.broken:
                self._requests[request.number] = request
        if self.broken:
            request.take({"error": self._plain()})
        else:
            self.put(id=request.number, ask=what, **words)
        return request

    def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        why = ""
        try:
            for text in self._process.stdout:
                self._heard = time.monotonic()
                self._take(parsed(text))
        except ValueError as error:
            why = f"its agent broke the protocol: {error}"
        self._break(why or self._last_words())

    def _take(self, line: Line) -> None:
        if READY in line:
            self._hello.put(line)
            return
        number = line.get("id")
        with self._lock:
            request = self._requests.get(number) if isinstance(number, int) else None
            if request is not None and ("answer" in line or "error" in line):
                del self._requests[request.number]
        if request is not None:
            request.take(line)

    def _break(self, why: str) -> None:
        with self._lock:
            self.broken = self.broken or why
            request, self._requests = list(self._requests.values()), {}
        self._hello.put({})
        for one in request:
            one.take({"error": self._plain()})

    def _plain(self) -> dict[str, str]:
        return {"kind": "ProvisionError", "message": self.broken, "remedy": "scale hosts check shows what it lacks"}

    def _last_words(self) -> str:
        assert self._process is not None
        code: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(timeout=HURRY_S)
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read()[-4000:].splitlines() if line.strip()]
        return lines[-1] if lines and code else "its agent ended"

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_S) and not self.broken:
            self.put(beat=True)
            if time.monotonic() - self._heard > LEASE_S:
                self._break(f"nothing came from its agent for {LEASE_S:.0f} s")

    def hang_up(self) -> None:
        """Ends the input of the agent, which then removes what it made. Does not wait."""
        self._ended.set()
        if self._process is not None and self._process.stdin is not None:
            with deferred(), contextlib.suppress(OSError, ValueError):
                self._process.stdin.close()

    def close(self) -> None:
        """Waits until the agent has removed what it made; kills it after END_S or a second Ctrl-C."""
        self.hang_up()
        process = self._process
        if process is None:
            return
        with deferred() as hurry:
            deadline = time.monotonic() + (HURRY_S if self.broken else END_S)
            while process.poll() is None and time.monotonic() < deadline and not hurry():
                time.sleep(END_LOOK_S)
            if process.poll() is None:
                process.kill()


TO_PREPARE = "scale hosts prepare HOSTS.ini, then scale hosts check HOSTS.ini"


def switches() -> str:
    """Switches of this process that its agents have too, as words of the shell."""
    there = [(name, os.environ[name]) for name in (NEW_PAGES_SWITCH, DISK_LIMIT_SWITCH) if name in os.environ]
    return "".join(f"{name}={shlex.quote(value)} " for name, value in there)


def shell_path(path: str) -> str:
    """As a word of the shell, below the home directory if it is not absolute."""
    return shlex.quote(path) if path.startswith("/") else f'"$HOME"/{shlex.quote(path)}'


def run_line(host: HostEntry, line: str) -> str:
    """The output of a line of the shell on a host. Raises UsageError that names the host."""
    try:
        done = run_within(READY_S, host.command(line))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--hosts: {host.name}: {error}", remedy="does ssh reach it?") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        remedy = "try it by hand: ssh HOST"
        if "verification failed" in last:
            remedy = (
                "its host key is unknown or another: log in once by hand (ssh HOST), or ssh-keyscan it to known_hosts"
            )
        raise UsageError(f"--hosts: {host.name}: {last}", remedy=remedy)
    return done.stdout
