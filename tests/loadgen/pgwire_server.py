"""A server that takes INSERT by the PostgreSQL protocol, and answers each transaction in the mood that it was told."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.loadgen.listening import PATIENCE_S, FakeServer

OIDS = {16: "bool", 20: "q", 21: "h", 23: "i", 700: "f", 701: "d", 1043: "text", 1114: "time"}
EPOCH_US = 946684800000000
READY = b"Z\0\0\0\5I"
ENDS = {"cut", "garbage", "partial", "short", "huge", "silence", "drip"}


def message(kind: str, body: bytes = b"") -> bytes:
    return kind.encode() + struct.pack("!I", len(body) + 4) + body


def error(code: str, words: str) -> bytes:
    return message("E", b"SERROR\0" + f"C{code}\0M{words}\0".encode() + b"\0")


@dataclass
class PgwireServer(FakeServer):
    """Listens on `port` until `close`. moods: by the number of the transaction from 1. login: "" asks for the password
    in clear text, "trust" for none, "scram" for what the driver has not, "denied" refuses."""

    moods: dict[int, str] = field(default_factory=dict)
    login: str = ""
    passwords: list[str] = field(default_factory=list)
    startup: list[str] = field(default_factory=list)
    statements: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    rows: dict[str, list[list[object]]] = field(default_factory=lambda: defaultdict(list))
    transactions: int = 0
    flushes: int = 0
    refuses_statement: str = ""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[str, list[object]]] = []
        super().__post_init__()

    def serve(self, connection: socket.socket, file: BinaryIO) -> None:
        if self._log_in(connection, file):
            self._answer(connection, file)

    def _log_in(self, connection: socket.socket, file: BinaryIO) -> bool:
        (length,) = struct.unpack("!I", exactly(file, 4))
        words = exactly(file, length - 4)
        assert words[:4] == struct.pack("!I", 196608)
        self.startup = words[4:].decode().split("\0")
        if self.login == "denied":
            connection.sendall(error("28P01", "invalid username/password"))
            return False
        if self.login == "scram":
            connection.sendall(message("R", struct.pack("!I", 10) + b"SCRAM-SHA-256\0\0"))
            return False
        if self.login != "trust":
            connection.sendall(message("R", struct.pack("!I", 3)))
            kind, body = read(file)
            assert kind == "p"
            self.passwords.append(body.rstrip(b"\0").decode())
        connection.sendall(message("R", struct.pack("!I", 0)) + message("S", b"TimeZone\0GMT\0"))
        connection.sendall(message("K", b"\0" * 8) + READY)
        return True

    def _answer(self, connection: socket.socket, file: BinaryIO) -> None:
        """A transaction's rows are kept when it is committed."""
        said, mood, bound, came = b"", "", "", 0
        is_open = has_failed = False
        while True:
            kind, body = read(file)
            if kind == "S":
                said += message("Z", b"T" if is_open else b"I")
                has_failed = False
            elif kind == "H":
                self.flushes += 1
            elif has_failed:
                continue
            elif kind == "P":
                name, sql, oids = parsed(body)
                self.statements[name] = sql, oids
                has_failed = self.refuses_statement in sql if self.refuses_statement else False
                said += error("42P01", "table does not exist") if has_failed else message("1")
            elif kind == "B":
                bound = body[1:].split(b"\0", 1)[0].decode()
                if bound == "begin":
                    self.transactions += 1
                    mood, is_open, came = self.moods.get(self.transactions, ""), True, 0
                elif bound not in ("commit", "rollback"):
                    came += self._bind(body)
                said += message("2")
            elif kind == "E":
                words, has_failed = self._execute(bound, came, mood)
                is_open = is_open and (has_failed or bound not in ("commit", "rollback"))
                said += words
                came = came if bound == "begin" else 0 if mood != "refused" else came
            if kind in "HS":
                if not self._tell(connection, said, mood if is_open or bound == "commit" else ""):
                    return
                said = b""
                mood = "" if bound == "rollback" else mood

    def _execute(self, bound: str, came: int, mood: str) -> tuple[bytes, bool]:
        """The answer to a statement, and whether it is an error."""
        if bound in ("begin", "commit", "rollback"):
            if bound == "commit" and mood == "commit refused":
                return error("58000", "could not commit"), True
            with self._lock:
                for table, row in self._waiting if bound == "commit" else ():
                    self.rows[table].append(row)
                self._waiting.clear()
            return message("C", bound.upper().encode() + b"\0"), False
        if mood == "refused" and came >= 2:
            return error("22P02", "inconvertible value"), True
        return message("C", f"INSERT 0 {came - (mood == 'few')}\0".encode()), False

    def _tell(self, connection: socket.socket, said: bytes, mood: str) -> bool:
        """False: the connection ends."""
        if mood == "silence":
            self.over.wait(PATIENCE_S)
        elif mood == "drip":
            while not self.over.wait(0.05):
                connection.sendall(message("N", b"SNOTICE\0\0"))
        odd = {"garbage": b"\xff\0\0\0\x08what", "short": b"C\0\0\0\1", "huge": b"C\x7f\xff\xff\xffINSERT"}
        if mood in ENDS:
            connection.sendall(odd.get(mood, said[: len(said) // 2] if mood == "partial" else b""))
            return False
        connection.sendall((message("N", b"SNOTICE\0\0") if mood == "notice" else b"") + said)
        return True

    def _bind(self, body: bytes) -> int:
        """Keeps the rows of a statement until they are committed. How many there are."""
        _, name, rest = body.split(b"\0", 2)
        assert rest[:4] == b"\0\1\0\1", "one format for all: binary"
        (count,) = struct.unpack("!H", rest[4:6])
        sql, oids = self.statements[name.decode()]
        assert count == len(oids)
        at, values = 6, []
        for oid in oids:
            (length,) = struct.unpack("!i", rest[at : at + 4])
            values.append(None if length < 0 else value(oid, rest[at + 4 : at + 4 + length]))
            at += 4 + max(length, 0)
        assert rest[at:] == b"\0\0"
        table = re.match(r'INSERT INTO "(\w+)" \((.*?)\) VALUES \((.*)\)$', sql)
        assert table and re.findall(r"\d+", table[3]) == [str(i + 1) for i in range(count)], sql
        width = len(table[2].split(","))
        rows = [values[first : first + width] for first in range(0, count, width)]
        assert len(rows) == table[3].count("(") + 1 and len(rows[-1]) == width
        with self._lock:
            self._waiting += [(table[1], row) for row in rows]
        return len(rows)

    def names(self, statement: str) -> list[str]:
        """The columns of a prepared statement."""
        return re.sub(r".*?\((.*?)\).*", r"\1", self.statements[statement][0]).replace('"', "").split(", ")


def parsed(body: bytes) -> tuple[str, str, list[str]]:
    """The name, the text and the types of a statement."""
    name, sql, rest = body.split(b"\0", 2)
    (count,) = struct.unpack("!H", rest[:2])
    return name.decode(), sql.decode(), [OIDS[oid] for oid in struct.unpack(f"!{count}I", rest[2:])]


def value(kind: str, data: bytes) -> object:
    """As Python has it; a time in microseconds since 1970."""
    if kind == "text":
        return data.decode()
    if kind == "bool":
        return {b"\0": 0, b"\1": 1}[data]
    if kind == "time":
        return struct.unpack("!q", data)[0] + EPOCH_US
    return struct.unpack("!" + kind, data)[0]


def read(file: BinaryIO) -> tuple[str, bytes]:
    head = exactly(file, 5)
    return chr(head[0]), exactly(file, struct.unpack("!I", head[1:])[0] - 4)


def exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise EOFError
    return data
