"""The load hosts of a sweep: starts processes of the load generator there, and converts the times of their lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from scale_sweep.hosts.clocks import HostClock
from scale_sweep.hosts.link import AgentLink, Asked, Line
from scale_sweep.loadgen.clocks import shifted_line, shifted_spec
from scale_sweep.loadgen.remote import RemoteProcess


@dataclass(frozen=True, kw_only=True)
class LoadHost:
    """A load host and its clock."""

    link: AgentLink
    clock: HostClock

    def start(
        self, spec: Mapping[str, str], secret: str, reader_offset_ns: int, on_line: Callable[[Mapping[str, Any]], None]
    ) -> Asked:
        """Starts one process. reader_offset_ns: the clock of who wrote the spec and reads the lines, minus this
        machine's. on_line: gets {"text"}, then {"code", "errors"}, or {"lost"}."""
        by_ns = reader_offset_ns - self.clock.offset_ns

        def take(line: Line) -> None:
            if "text" in line:
                on_line({"text": shifted_line(str(line["text"]), by_ns)})
            elif "answer" in line:
                answer = line["answer"]
                on_line({"code": int(answer["code"]), "errors": str(answer["errors"])})
            elif "error" in line:
                on_line({"lost": f"{self.link.host.name}: {line['error'].get('message')}"})

        own = shifted_spec(spec, -by_ns)
        return self.link.ask("load", on_line=take, spec=own, secret=secret, cpus=list(self.link.host.cpus))


class OfController:
    """The processes of a load that this machine reads: a ceiling's."""

    def __init__(self, hosts: Sequence[LoadHost]) -> None:
        self._hosts = hosts
        self.error_ns = 2 * max(host.clock.error_ns for host in hosts)

    def start(self, index: int, spec: Mapping[str, str], secret: str, errors: IO[str]) -> RemoteProcess:
        """Starts one process, on the hosts in turn."""
        request: list[Asked] = []
        process = RemoteProcess(lambda number: request[0].tell(signal=number), errors)
        request.append(self._hosts[index % len(self._hosts)].start(spec, secret, 0, process.hear))
        return process
