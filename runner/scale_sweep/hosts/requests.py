"""Requests that run on hosts beside a run: the set-up of the server's host, processes of a load, samples."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred
from scale_sweep.hosts.check import HostClock
from scale_sweep.hosts.link import END_S, AgentLink, AgentRequest, Line
from scale_sweep.loadgen.remote import Folders, RemoteProcess, shifted_line, shifted_spec
from scale_sweep.machine.host.child_programs import TAKE_S
from scale_sweep.measure.machine_setup import MachineSetup, PreparedDisks, Say
from scale_sweep.model.samples import HostSample
from scale_sweep.results.store.codec import from_plain


@dataclass(frozen=True, kw_only=True)
class LoadHost:
    link: AgentLink
    clock: HostClock

    def start(
        self,
        on_line: Callable[[Mapping[str, Any]], None],
        spec: Mapping[str, str],
        secret: str,
        folders: Folders,
        offset_ns: int = 0,
    ) -> AgentRequest:
        """One process. on_line: gets {"text"}, then {"code", "errors"}, or {"lost"}. folders: files of those that the
        spec names. offset_ns: the clock of who wrote the spec and reads the lines, minus this machine's."""
        by_ns = offset_ns - self.clock.offset_ns

        def take(line: Line) -> None:
            if "text" in line:
                on_line({"text": shifted_line(str(line["text"]), by_ns)})
            elif "answer" in line:
                answer = line["answer"]
                on_line({"code": int(answer["code"]), "errors": str(answer["errors"])})
            elif "error" in line:
                on_line({"lost": f"{self.link.host.name}: {line['error'].get('message')}"})

        words = {"secret": secret, "folders": folders, "cpus": list(self.link.host.cpus)}
        return self.link.ask("load", on_line=take, spec=shifted_spec(spec, -by_ns), **words)

    def watch(
        self, server: str, reader_offset_ns: int, on_sample: Callable[[Mapping[str, Any]], None], *, makes_load: bool
    ) -> AgentRequest:
        """Once a second, on the clock of the reader. server: the address of the server's host."""
        by_ns, source = reader_offset_ns - self.clock.offset_ns, Path(f"host:{self.link.host.name}")

        def take(line: Line) -> None:
            if "event" in line:
                sample = from_plain(line["event"], HostSample, source)
                on_sample({**line["event"], "monotonic_ns": sample.monotonic_ns + by_ns})

        cpus = list(self.link.host.cpus)
        return self.link.ask("watch", on_line=take, server=server, cpus=cpus, makes_load=makes_load)


class OfController:
    """The processes of a load that this machine reads: a ceiling's."""

    def __init__(self, hosts: Sequence[LoadHost]) -> None:
        self._hosts = hosts
        self.error_ns = 2 * max(host.clock.error_ns for host in hosts)

    def start(self, index: int, spec: Mapping[str, str], secret: str, errors: IO[str]) -> RemoteProcess:
        request: list[AgentRequest] = []
        process = RemoteProcess(lambda number: request[0].tell(signal=number), errors)
        host = self._hosts[index % len(self._hosts)]
        request.append(host.start(process.hear, spec, secret, {}))
        return process


class TrialLoads:
    """Passes on a trial's load: requests of the server's host to the load hosts, lines back. take: in the reader's
    thread."""

    def __init__(self, server: AgentLink, hosts: Mapping[str, LoadHost], clock: HostClock) -> None:
        self._server, self._hosts, self._clock = server, hosts, clock
        self._loads: dict[int, AgentRequest] = {}
        self.request: AgentRequest | None = None
        self.is_over = False

    def take(self, line: Line) -> None:
        number = line.get("load")
        if isinstance(number, int):
            self._pass(number, line)
            return
        self.is_over = self.is_over or "answer" in line or "error" in line
        while self.request is None:  # the request was sent a moment ago
            time.sleep(0.001)
        self.request.lines.put(line)

    def _pass(self, number: int, line: Line) -> None:
        if "signal" in line:
            if number in self._loads:
                self._loads[number].tell(signal=int(line["signal"]))
            return
        host = self._hosts.get(str(line.get("host")))
        if host is None:
            return

        def back(heard: Mapping[str, Any]) -> None:
            if self.request is not None:
                self.request.tell(load=number, **heard)

        spec = {str(key): str(value) for key, value in dict(line["spec"]).items()}
        secret, folders = str(line["secret"]), dict(line["folders"])
        self._loads[number] = host.start(back, spec, secret, folders, self._clock.offset_ns)

    def stop(self) -> None:
        for load in self._loads.values():
            load.stop()


SET_UP_S = 3600.0  # fio measures, and each of its measurements has its own deadline
_TAKE_LATE_S = 30.0
_LOOK_S = 0.02


class HeldSetup:
    """A request that holds data directory, disks and memory as long as the run. say: gets the host's sentences."""

    def __init__(self, setup: MachineSetup, say: Say) -> None:
        self._setup, self._say = setup, say
        self._request: AgentRequest | None = None

    def is_held_by(self, link: AgentLink) -> bool:
        return self._request is not None and self._request.link is link and not self._request.is_over

    def begin(self, link: AgentLink) -> PreparedDisks:
        """Sets it up on a host. Raises ProvisionError or PreflightError that names the host, and Stopped."""
        self._request = link.ask("set_up", setup=asdict(self._setup))
        return from_plain(self._event("disks", SET_UP_S), PreparedDisks, Path(f"host:{link.host.name}"))

    def before_trial(self) -> None:
        """Lets the host hold memory again, if it holds some. Raises as `begin`."""
        if self._setup.held_bytes and self._request is not None:
            self._request.tell(take=True)
            self._event("taken", TAKE_S + _TAKE_LATE_S)

    def end(self) -> None:
        """Waits until the host has removed all of it. A second Ctrl-C ends only the waiting."""
        request = self._request
        if request is None:
            return
        with deferred() as hurry:
            request.stop()
            deadline = time.monotonic() + END_S
            while not request.is_over and time.monotonic() < deadline and not hurry():
                time.sleep(_LOOK_S)

    def _event(self, name: str, limit_s: float) -> Any:
        assert self._request is not None
        for line in self._request.events(limit_s):
            event = dict(line.get("event") or {})
            if "say" in event:
                self._say(str(event["say"]))
            if name in event:
                return event[name]
        raise ProvisionError(f"{self._request.link.host.name} removed the data directory of the run")
