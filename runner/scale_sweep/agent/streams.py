"""Streams between two hosts, which show what their network can carry, and its round trip."""

from __future__ import annotations

import contextlib
import secrets
import socket
import statistics
import time
from collections.abc import Mapping
from typing import Any

from scale_sweep.agent.lines import Talk
from scale_sweep.base.errors import ScaleError

STREAM_S = 1.0
ACCEPT_S = 15.0
CHUNK = 2**17
TOKEN_BYTES = 16
ROUND_TRIPS = 50


def listen(talk: Talk, line: Mapping[str, Any]) -> float:
    """Takes the connections of another host on an address. Says its port and the word.

    Returns the bytes per second that arrived.
    """
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
    """Connects to a host that listens. Returns the bytes per second that came from it, and the median round trip."""
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


REQUESTS = {"listen": listen, "send": send}
