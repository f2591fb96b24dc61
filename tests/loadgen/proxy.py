"""A proxy on 127.0.0.1 between the load generator and a real server. It connects and closes; what passes on a
connection is the matter of its protocol: lying_postgres.py, lying_http.py, lying_iotdb.py.
"""

from __future__ import annotations

import contextlib
import random
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from tests.loadgen.listening import Listener

WHEN: Mapping[str, Callable[[int], bool]] = {  # by the number of the answer on its connection
    "after the first 100 of a connection": lambda number: number >= 100,
    "1 in 5": lambda number: random.random() < 1 / 5,
    "1 in 20": lambda number: random.random() < 1 / 20,
    "half of each half second": lambda number: time.monotonic() % 0.5 < 0.25,
}


def at_times(
    lie: Callable[[Any], Any], honest: Callable[[Any], Any], when: Callable[[int], bool]
) -> Callable[[Any], Any]:
    """The lie for some answers, and what is honest for the others."""
    return lambda answer: (lie if when(answer.number) else honest)(answer)


class Proxy:
    """Listens until the end of the block. lies: answers that it changed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._sockets: list[socket.socket] = []
        self.lies = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        for listener in self._listeners:
            listener.close()
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # wakes the threads that wait for more
            one.close()

    def pass_on(self, client: socket.socket, server: socket.socket) -> None:
        """One connection, until OSError or EOFError says that a side has closed it. In a thread of its own."""
        raise NotImplementedError

    def answered(self, *, is_lie: bool) -> None:
        """Counts an answer before it is passed on."""
        self.lies += is_lie

    def listen(self, server: str | tuple[str, int]) -> int:
        """The port of a proxy of the server at this socket, or host and port."""
        self._listeners.append(Listener(lambda client: self._connect(client, server)))
        return self._listeners[-1].port

    def _connect(self, client: socket.socket, address: str | tuple[str, int]) -> None:
        server = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        with client, server, contextlib.suppress(OSError, EOFError):
            server.connect(address)
            for one in (client, server):
                if one.family == socket.AF_INET:
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets += [client, server]
            self.pass_on(client, server)


def exactly(source: socket.socket, count: int) -> bytes:
    """So many bytes. Raises EOFError if the connection ends before."""
    parts = b""
    while len(parts) < count:
        part = source.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts
