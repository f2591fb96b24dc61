"""What fake servers and proxies share: a port of 127.0.0.1, and a thread for each connection; and HTTP.

A `FakeServer` reads requests and answers them itself; a `Proxy` (proxy.py) passes them on to a real server.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, TypeVar

PATIENCE_S = 60  # of a connection on which nothing comes, and of an answer that is held back


class Listener:
    """Serves each connection to `port` in a thread of its own, until `close`."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self.threads: list[threading.Thread] = []  # of all connections so far
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # a thread that waits in accept would keep a closed listener open
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.threads.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
            self.threads[-1].start()


class FakeServer:
    """Listens on `port` from its creation until `close`. Base of the dataclasses that speak a protocol.

    over: set by `close`; an answer that never comes waits for it."""

    def __post_init__(self) -> None:
        self.over = threading.Event()
        self.connections = 0
        self._listener = Listener(self._connected)
        self.port = self._listener.port

    def close(self) -> None:
        self.over.set()
        self._listener.close()

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        """Reads requests from the file and answers on the connection; both are closed when it returns.

        OSError and EOFError: the client has left."""
        raise NotImplementedError

    def drip(self, connection: socket.socket, answer: bytes) -> None:
        """Sends a byte every 0.1 s."""
        for byte in answer:
            connection.sendall(bytes([byte]))
            if self.over.wait(0.1):
                return

    def wait_for_clients(self) -> None:
        """Until every connection so far has ended, each for a minute at most."""
        for thread in self._listener.threads:
            thread.join(60)

    def _connected(self, connection: socket.socket) -> None:
        self.connections += 1
        connection.settimeout(PATIENCE_S)
        with contextlib.suppress(OSError, EOFError), connection, connection.makefile("rb") as file:
            self.serve(connection, file)


Server = TypeVar("Server", bound=FakeServer)


@contextmanager
def closing(server: Server) -> Iterator[Server]:
    """The server, closed at the end of the block."""
    try:
        yield server
    finally:
        server.close()


def http_request(file: BinaryIO) -> tuple[str, bytes]:
    """The request line with the header lines, and the body; ("", b"") when the client has left."""
    lines = []
    while (line := file.readline()) not in (b"\r\n", b""):
        lines.append(line.decode())
    head = "".join(lines)
    length = re.search(r"(?im)^content-length:(.*)", head)
    return head, file.read(int(length[1])) if length else b""


def http_answer(body: bytes | str, status: str = "200 OK", *, chunk: int = 0) -> bytes:
    """An answer with its length, or in chunks of so many bytes."""
    data = body.encode() if isinstance(body, str) else body
    if not chunk:
        return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(data), data)
    parts = [*(data[at : at + chunk] for at in range(0, len(data), chunk)), b""]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return b"HTTP/1.1 %s\r\nTransfer-Encoding: chunked\r\n\r\n%s" % (status.encode(), chunks)
