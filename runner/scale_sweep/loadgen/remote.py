"""Load processes on other hosts, and processes that somebody stopped."""

from __future__ import annotations

import queue
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from scale_sweep.base.errors import LoadError


class LoadProcess(Protocol):
    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    @property
    def stdout(self) -> Iterable[str] | None: ...

    def poll(self) -> int | None: ...

    def send_signal(self, sig: int) -> None: ...


class Elsewhere(Protocol):
    error_ns: int  # the greatest difference between their clocks, after the times of their lines were converted

    def start(self, index: int, spec: Mapping[str, str], secret: str, errors: IO[str]) -> LoadProcess: ...


class RemoteProcess:
    """signal: sends one to the process. errors: gets its standard error at its end."""

    pid = 0

    def __init__(self, signal: Callable[[int], None], errors: IO[str]) -> None:
        self._signal, self._errors = signal, errors
        self._lines: queue.SimpleQueue[str | LoadError | None] = queue.SimpleQueue()
        self.returncode: int | None = None

    @property
    def stdout(self) -> Iterator[str]:
        while (line := self._lines.get()) is not None:
            if isinstance(line, LoadError):
                raise line
            yield line

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.returncode is None:
            self._signal(int(sig))

    def hear(self, news: Mapping[str, Any]) -> None:
        if "text" in news:
            self._lines.put(str(news["text"]))
        elif "lost" in news:
            self.lose(str(news["lost"]))
        else:
            self._errors.write(str(news["errors"]))
            self.returncode = int(news["code"])
            self._lines.put(None)

    def lose(self, why: str) -> None:
        self.returncode = -9
        self._lines.put(LoadError(why, remedy="scale hosts check; scale resume continues the run"))


START = "start_at_ns"
_TIMED = ('{"event":"phase"', '{"event":"interval"', '{"event":"summary"')
_TIME = re.compile(r'"(monotonic_ns|window_start_ns|window_end_ns|last_ack_ns)":(\d+)')


def shifted_line(text: str, by_ns: int) -> str:
    if not text.startswith(_TIMED):
        return text
    return _TIME.sub(lambda match: f'"{match[1]}":{int(match[2]) + by_ns}', text)


def shifted_spec(spec: Mapping[str, str], by_ns: int) -> dict[str, str]:
    return {**spec, START: str(int(spec[START]) + by_ns)} if START in spec else dict(spec)


NAMED = ("client_config",)  # keys of a spec that name a folder
BYTES_MAX = 2**16

Folders = Mapping[str, Mapping[str, str]]  # by the key of the spec, the text of each file by its name


def folders_of(spec: Mapping[str, str]) -> dict[str, dict[str, str]]:
    named = {key: Path(spec[key]) for key in NAMED if spec.get(key)}
    return {
        key: {file.name: file.read_text(encoding="utf-8").replace(str(path), _HERE) for file in _texts(path)}
        for key, path in named.items()
    }


def written(spec: Mapping[str, str], folders: Folders, below: Path) -> dict[str, str]:
    paths = {}
    for key, files in folders.items():
        path = below / key
        path.mkdir(mode=0o700)
        for name, text in files.items():
            (path / Path(name).name).write_text(text.replace(_HERE, str(path)), encoding="utf-8")
        paths[key] = str(path)
    return {**spec, **paths}


_HERE = "{here}"


def _texts(path: Path) -> list[Path]:
    return [file for file in path.glob("*.cfg") if file.is_file() and file.stat().st_size <= BYTES_MAX]


STOPPED_S = 10.0
_STOPPED = ("T", "t")  # by a signal, by a debugger


class GeneratorStopped(LoadError):
    """The server had nothing to answer."""


class StoppedWatch:
    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    def look(self, pids: Sequence[int]) -> None:
        now = time.monotonic()
        self._since = {pid: self._since.get(pid, now) for pid in pids if is_stopped(pid)}
        pid, since = min(self._since.items(), key=lambda item: item[1], default=(0, now))
        if now - since > STOPPED_S:
            raise GeneratorStopped(
                f"the load generator did not run: its process {pid} has been stopped for {now - since:.0f} s (SIGSTOP, "
                "or a debugger)",
                remedy="find out who stopped it; a process that is to go on gets SIGCONT",
            )


def is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in _STOPPED
    except (OSError, IndexError):
        return False
