"""A server that reads text over bare TCP and answers nothing, or misbehaves in the mood that it was told."""

from __future__ import annotations

import socket
import threading
import time


class BareServer:
    """Listens on `port` until `close`. moods: "closes" after some bytes, once; "speaks" once; "stays" open at the end;
    "deaf" reads nothing."""

    def __init__(self, mood: str = "", *, slow_s: float = 0.0) -> None:
        self.mood, self._slow_s = mood, slow_s
        self.texts: list[str] = []
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        self._listener.close()

    @property
    def lines(self) -> list[str]:
        """Of all connections that have ended."""
        for thread in self._threads:
            thread.join(10)
        return [line for text in self.texts for line in text.splitlines()]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._threads.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        mood, self.mood = self.mood, self.mood if self.mood in ("stays", "deaf") else ""
        connection.settimeout(20)
        parts: list[bytes] = []
        with connection:
            if mood == "deaf":
                self._over.wait(20)
                return
            while part := connection.recv(65536):
                parts.append(part)
                time.sleep(self._slow_s)
                if mood == "closes":
                    break
                if mood == "speaks":
                    connection.sendall(b"put: illegal argument: bad value\n")
                    mood = ""
            self.texts.append(b"".join(parts).decode())
            if mood == "stays":
                self._over.wait(20)
