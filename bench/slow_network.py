"""A slow network between load generator and server, for real, on one machine: two network namespaces, a veth pair
between them, and on the load generator's end a token bucket (tc tbf) that lets so many bits a second through.

A sweep that runs in the server's namespace starts its server there, on loopback; its load generator is a wrapper that
enters the other namespace, from where loopback leads across the pair. Needs root, ip, tc and iptables. What it makes
has this process in its name and is gone at the end.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.loadgen.binary import loadgen_path

LOADER, SERVER = "10.213.47.1", "10.213.47.2"
INTERFACE = "slow0"


@dataclass(frozen=True, kw_only=True)
class SlowNetwork:
    """How a sweep runs across it: what stands before its command, and what its environment holds. loader_prefix: before
    another command on the load generator's side."""

    prefix: tuple[str, ...]
    loader_prefix: tuple[str, ...]
    environment: Mapping[str, str]


def _run(*words: str) -> None:
    subprocess.run(words, check=True, timeout=20, capture_output=True)


@contextmanager
def slow_network(mbit: float) -> Iterator[SlowNetwork]:
    """A link of so many Mbit/s."""
    loader, server = (f"scale-{end}-{os.getpid()}" for end in ("loader", "server"))
    with ExitStack() as cleanup:
        for name in (loader, server):
            _run("ip", "netns", "add", name)
            cleanup.callback(_run, "ip", "netns", "del", name)
        peer = ("type", "veth", "peer", "name", INTERFACE, "netns", server)
        _run("ip", "link", "add", INTERFACE, "netns", loader, *peer)
        for name, address in ((loader, LOADER), (server, SERVER)):
            _run("ip", "-n", name, "addr", "add", f"{address}/30", "dev", INTERFACE)
            for interface in ("lo", INTERFACE):
                _run("ip", "-n", name, "link", "set", interface, "up")
            _run("ip", "netns", "exec", name, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet")
        _lead(loader, "OUTPUT", "-d", "127.0.0.1", "-j", "DNAT", "--to-destination", SERVER)
        _lead(loader, "POSTROUTING", "-o", INTERFACE, "-j", "SNAT", "--to-source", LOADER)
        _lead(server, "PREROUTING", "-i", INTERFACE, "-j", "DNAT", "--to-destination", "127.0.0.1")
        bucket = ("tbf", "rate", f"{mbit:g}mbit", "burst", "64kb", "latency", "200ms")
        _run("tc", "-n", loader, "qdisc", "add", "dev", INTERFACE, "root", *bucket)
        wrapper = Path(cleanup.enter_context(tempfile.TemporaryDirectory()), "scale-loadgen")
        wrapper.write_text(f'#!/bin/sh\nexec nsenter --net=/run/netns/{loader} {loadgen_path()} "$@"\n')
        wrapper.chmod(0o755)
        enter = ("ip", "netns", "exec")
        environment = {**os.environ, "SCALE_LOADGEN": str(wrapper)}
        yield SlowNetwork(prefix=(*enter, server), loader_prefix=(*enter, loader), environment=environment)


def _lead(namespace: str, chain: str, *rule: str) -> None:
    """Another address for TCP that passes the chain."""
    _run("ip", "netns", "exec", namespace, "iptables", "-t", "nat", "-A", chain, "-p", "tcp", *rule)
