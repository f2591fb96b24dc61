"""A server that reads text over bare TCP and answers nothing, or misbehaves in the mood that it was told."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.loadgen.listening import PATIENCE_S, FakeServer


@dataclass
class BareServer(FakeServer):
    """Listens on `port` until `close`. moods: "closes" after some bytes, once; "speaks" once; "stays" open at the end;
    "deaf" reads nothing."""

    mood: str = ""
    slow_s: float = 0.0  # after each part that was read
    texts: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """Of all connections that have ended."""
        self.wait_for_clients()
        return [line for text in self.texts for line in text.splitlines()]

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        mood, self.mood = self.mood, self.mood if self.mood in ("stays", "deaf") else ""
        parts: list[bytes] = []
        if mood == "deaf":
            self.over.wait(PATIENCE_S)
            return
        while part := connection.recv(65536):
            parts.append(part)
            time.sleep(self.slow_s)
            if mood == "closes":
                break
            if mood == "speaks":
                connection.sendall(b"put: illegal argument: bad value\n")
                mood = ""
        self.texts.append(b"".join(parts).decode())
        if mood == "stays":
            self.over.wait(PATIENCE_S)
