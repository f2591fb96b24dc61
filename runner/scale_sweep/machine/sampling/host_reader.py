"""Reads a host of a sweep whose load is made elsewhere: the load generator's CPU time, its CPUs, the network."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from scale_sweep.machine.sampling import machine, network
from scale_sweep.machine.sampling.subjects import ProcessTree
from scale_sweep.model import HostSample

ANY_PORT = 9  # nothing is sent to it
_TCP = re.compile(r"^Tcp: (\D.*)\nTcp: (.*)$", re.MULTILINE)


class HostReader:
    """server: the address of the server's host. cpus: that the load generator may use here; empty: none."""

    def __init__(self, server: str, cpus: Sequence[int]) -> None:
        self._cpus = tuple(str(cpu) for cpu in cpus)
        self._interface = interface_towards(server)
        self._load = ProcessTree((os.getpid(),))

    def read(self) -> HostSample:
        """One sample, now; its time is on this host's clock."""
        moved = network.bytes_total({self._interface: 0.0}) if self._interface else {}
        segments = tcp_segments()
        return HostSample(
            monotonic_ns=time.monotonic_ns(),
            cpus=len(self._cpus),
            load_cpu_s_total=self._load.read().cpu_s_total,
            busy_cpu_s_total=self._sum(machine.each_cpu_busy_s()),
            stolen_cpu_s_total=self._sum(machine.each_cpu_stolen_s()),
            sent_bytes_total=moved.get(f"{self._interface} sent"),
            received_bytes_total=moved.get(f"{self._interface} received"),
            segments_total=segments.get("OutSegs"),
            segments_again_total=segments.get("RetransSegs"),
        )

    def _sum(self, seconds: Mapping[str, float]) -> float | None:
        known = [seconds[cpu] for cpu in self._cpus if cpu in seconds]
        return sum(known) if len(known) == len(self._cpus) else None


def interface_towards(server: str) -> str:
    """The interface that reaches an address; "" if none does."""
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((server, ANY_PORT))
        except OSError:
            return ""
        own = probe.getsockname()[0]
    addresses = ((name, one.address.partition("%")[0]) for name, ones in psutil.net_if_addrs().items() for one in ones)
    return next((name for name, address in addresses if address == own), "")


def tcp_segments(proc: Path = Path("/proc")) -> Mapping[str, float]:
    """The kernel's counters of TCP for this network namespace (proc(5), /proc/net/snmp); empty if it has none."""
    try:
        lines = _TCP.search((proc / "net/snmp").read_text(encoding="ascii"))
    except OSError:
        return {}
    return dict(zip(lines[1].split(), map(float, lines[2].split()), strict=False)) if lines else {}
