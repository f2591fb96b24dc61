"""Facts of a host, its clock, the network to another host, and the remains of a crash. Removes nothing but these."""

from __future__ import annotations

import os
import platform
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from scale_sweep.agent.talk import Talk
from scale_sweep.base.errors import ScaleError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.host import read_host
from scale_sweep.machine.host.alive import machine_identity
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from scale_sweep.server.targets import TARGETS, load_target

STREAM_S = 2.0
ACCEPT_S = 15.0
CHUNK = 2**17
TOKEN_BYTES = 16


def facts(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any]:
    """The machine, its load generator, and the databases that are installed there."""
    try:
        program, lacks = loadgen_path(), ""
    except ScaleError as error:
        program, lacks = "", error.message
    return {
        "host": asdict(read_host()),
        "machine": machine_identity(),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
        "program": program,
        "lacks": lacks,
        "servers": _servers(),
        "interface_bits_per_s": None,
    }


def _servers() -> dict[str, str]:
    """The version of each installed database, by the name of its target."""
    versions = {}
    for name in TARGETS.names():
        target = load_target(name)
        installed = target.find("") if target.facts.to_install else None
        if installed is not None:
            versions[name] = installed.version
    return versions


def clock(talk: Talk, line: Mapping[str, Any]) -> int:
    """The host's monotonic clock in nanoseconds."""
    return time.monotonic_ns()


def listen(talk: Talk, line: Mapping[str, Any]) -> float:
    """Takes the stream of another host on an address. Says its port and a word that the sender must say first. Returns
    bytes per second."""
    with socket.create_server((str(line["address"]), 0)) as server:
        token = secrets.token_bytes(TOKEN_BYTES)
        server.settimeout(ACCEPT_S)
        talk.put(event={"port": server.getsockname()[1], "token": token.hex()})
        stream, _ = server.accept()
        with stream:
            stream.settimeout(ACCEPT_S)
            if stream.recv(TOKEN_BYTES, socket.MSG_WAITALL) != token:
                raise ScaleError("somebody else connected to the port of the network measurement")
            taken, begun = 0, time.monotonic()
            while part := len(stream.recv(CHUNK)):
                taken += part
            return taken / (time.monotonic() - begun)


def send(talk: Talk, line: Mapping[str, Any]) -> None:
    """Sends to a host that listens, for two seconds."""
    with socket.create_connection((str(line["address"]), int(line["port"])), timeout=ACCEPT_S) as stream:
        stream.sendall(bytes.fromhex(str(line["token"])))
        chunk, deadline = bytes(CHUNK), time.monotonic() + STREAM_S
        while time.monotonic() < deadline:
            stream.sendall(chunk)


def clean(talk: Talk, line: Mapping[str, Any]) -> list[str]:
    """Removes what runs left that have ended. Returns it in words."""
    removed = []
    with _cleaning:
        for leftover in find_leftovers():
            if leftover.kind != "cache" and not remove(leftover):
                removed.append(f"{leftover.kind} {leftover.name}")
    return removed


_cleaning = threading.Lock()
REQUESTS = {"facts": facts, "clock": clock, "listen": listen, "send": send, "clean": clean}
