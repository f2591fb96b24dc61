"""Facts of a host, its clock, samples and network, and the removal of what a crash left."""

from __future__ import annotations

import contextlib
import os
import platform
import queue
import secrets
import socket
import statistics
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from scale_sweep.agent.lines import Talk
from scale_sweep.base.errors import ScaleError
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.host.processes import machine_identity
from scale_sweep.machine.sampling.sampler import HostReader
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from scale_sweep.server.targets import TARGETS, load_target


def facts(talk: Talk, line: Mapping[str, Any]) -> dict[str, Any]:
    """The machine, its load generator, and the databases that are installed there."""
    try:
        program, lacks = loadgen_path(), ""
    except ScaleError as error:
        program, lacks = "", error.message
    there = {name: load_target(name) for name in TARGETS.names()}
    servers = {name: target.find("") for name, target in there.items() if target.facts.to_install}
    return {
        "host": asdict(read_host()),
        "machine": machine_identity(),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
        "program": program,
        "lacks": lacks,
        "servers": {name: installed.version for name, installed in servers.items() if installed is not None},
    }


def clock(talk: Talk, line: Mapping[str, Any]) -> int:
    return time.monotonic_ns()


def clean(talk: Talk, line: Mapping[str, Any]) -> list[str]:
    """Removes what ended runs left. Returns it in words."""
    from scale_sweep.machine.disks.prepare import leftover_sets, remove_sets  # a load host has none

    removed = []
    with _cleaning:
        for leftover in find_leftovers():
            if not remove(leftover):
                removed.append(f"{leftover.kind} {leftover.name}")
        left = leftover_sets() if os.geteuid() == 0 else ()
        remove_sets(left)
    return [*removed, *(f"disks {disk_set.name}" for disk_set in left)]


_cleaning = threading.Lock()


PERIOD_S = 1.0


def watch(talk: Talk, line: Mapping[str, Any]) -> None:
    """Sends a sample each second until the request ends. cpus: of a host that makes the load; empty: all."""
    makes_load, cpus = bool(line["makes_load"]), [int(cpu) for cpu in line["cpus"]]
    reader = HostReader(str(line["server"]), (cpus or sorted(os.sched_getaffinity(0))) if makes_load else ())
    due = time.monotonic()
    while not talk.stop.requested():
        talk.put(event=asdict(reader.read()))
        due = max(due + PERIOD_S, time.monotonic())
        with contextlib.suppress(queue.Empty):
            talk.heard.get(timeout=max(0.0, due - time.monotonic()))


STREAM_S = 1.0
ACCEPT_S = 15.0
CHUNK = 2**17
TOKEN_BYTES = 16
ROUND_TRIPS = 50


def listen(talk: Talk, line: Mapping[str, Any]) -> float:
    """Says its port and token. Returns the bytes per second that arrived."""
    token = secrets.token_bytes(TOKEN_BYTES)
    with socket.create_server((str(line["address"]), 0)) as server:
        server.settimeout(ACCEPT_S)
        talk.put(event={"port": server.getsockname()[1], "token": token.hex()})
        with _accepted(server, token) as trips:
            for _ in range(ROUND_TRIPS):
                trips.sendall(trips.recv(1))
        with _accepted(server, token) as stream:
            arrived = _taken_per_s(stream)
        with _accepted(server, token) as stream:
            _give(stream)
    return arrived


def send(talk: Talk, line: Mapping[str, Any]) -> dict[str, float]:
    """Returns the bytes per second that came from the host that listens, and the median round trip."""
    place, token = (str(line["address"]), int(line["port"])), bytes.fromhex(str(line["token"]))
    with _connected(place, token) as trips:
        round_trip_s = statistics.median(_round_trip_s(trips) for _ in range(ROUND_TRIPS))
    with _connected(place, token) as stream:
        _give(stream)
    with _connected(place, token) as stream:
        return {"received": _taken_per_s(stream), "round_trip_s": round_trip_s}


def _accepted(server: socket.socket, token: bytes) -> socket.socket:
    stream, _ = server.accept()
    stream.settimeout(ACCEPT_S)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if stream.recv(TOKEN_BYTES, socket.MSG_WAITALL) != token:
        stream.close()
        raise ScaleError("somebody else connected to the port of the network measurement")
    return stream


def _connected(place: tuple[str, int], token: bytes) -> socket.socket:
    stream = socket.create_connection(place, timeout=ACCEPT_S)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.sendall(token)
    return stream


def _round_trip_s(stream: socket.socket) -> float:
    begun = time.monotonic()
    stream.sendall(b".")
    if not stream.recv(1):
        raise ScaleError("the other host ended the network measurement")
    return time.monotonic() - begun


def _give(stream: socket.socket) -> None:
    chunk, deadline = bytes(CHUNK), time.monotonic() + ACCEPT_S
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < deadline:
            stream.sendall(chunk)


def _taken_per_s(stream: socket.socket) -> float:
    """Bytes per second from the first one on, for a second."""
    buffer = bytearray(CHUNK)
    stream.recv_into(buffer)
    taken, begun = 0, time.monotonic()
    while time.monotonic() - begun < STREAM_S and (part := stream.recv_into(buffer)):
        taken += part
    return taken / (time.monotonic() - begun)


REQUESTS = {"facts": facts, "clock": clock, "clean": clean, "watch": watch, "listen": listen, "send": send}
