"""One node of Cassandra: command, configuration, sync of its commit log, doubtful lines, and its protocol."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.input_file import sync as sync_files

JAVA = (17, 17)  # oldest and newest
JAR = "cassandra-all-"
MARKED_S = 0.25  # the log is marked every 0.1 s: a start reads up to the last mark
FLUSHED = "SELECT completed_tasks FROM system_views.thread_pools WHERE name = 'MemtableFlushWriter'"
DOUBTFUL = re.compile(
    r"^ERROR .*|.*(OutOfMemoryError|No space left|[Dd]ropp(ed|ing) .*(mutation|message|MUTATION)|Stopping native).*"
)
_COMMIT_LOG = "commitlog"
_LOG = """<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%level %logger{0} %msg%n</pattern></encoder></appender>
<logger name="org.apache.cassandra.cql3.statements.SelectStatement" level="ERROR"/>
<root level="WARN"><appender-ref ref="out"/></root></configuration>
"""
# The internal packages of Java's modules that it uses.
_OPENED = (
    "java.io java.lang java.lang.module java.lang.reflect java.math java.net java.nio java.nio.charset java.util"
    " java.util.concurrent java.util.concurrent.atomic java.util.stream sun.nio.ch jdk.internal.loader"
    " jdk.internal.math jdk.internal.misc jdk.internal.module jdk.internal.perf jdk.internal.ref jdk.internal.reflect"
    " jdk.internal.util.jar"
).split()
_EXPORTED = (
    "java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server"
    " java.rmi/sun.rmi.transport.tcp jdk.attach/sun.tools.attach jdk.compiler/com.sun.tools.javac.file"
    " jdk.unsupported/sun.misc"
).split()


@dataclass(frozen=True, kw_only=True)
class Node:
    root: str  # absolute
    host: str
    port: int  # for clients
    nodes_port: int  # for other nodes
    clients_host: str = ""  # if clients come to another address: all of a container

    def command(self, java: str, home: str, jvm: Sequence[str]) -> tuple[str, ...]:
        """java: the program. home: with its jars. jvm: flags for resources."""
        opened = [f"--add-{word}=java.base/{name}=ALL-UNNAMED" for name in _OPENED for word in ("opens", "exports")]
        exported = [f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTED]
        return (
            java,
            *jvm,
            *opened,
            *exported,
            "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djdk.attach.allowAttachSelf=true",
            "-Djava.net.preferIPv4Stack=true",
            "-Dcassandra-foreground=yes",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",  # there is no other node
            "-Dcassandra.ring_delay_ms=1",
            f"-Dcassandra.config=file://{self.root}/cassandra.yaml",
            f"-Dcassandra.storagedir={self.root}",
            f"-Dlogback.configurationFile={self.root}/logback.xml",
            "-cp",
            f"{home}/lib/*",
            "org.apache.cassandra.service.CassandraDaemon",
        )

    def files(self, items: Mapping[str, str]) -> Mapping[str, str]:
        """items: of cassandra.yaml."""
        return {f"{self.root}/cassandra.yaml": self._yaml(items), f"{self.root}/logback.xml": _LOG}

    def _yaml(self, settings: Mapping[str, str]) -> str:
        """One node, batches of any size, long timeouts."""
        root = self.root
        items = {
            "cluster_name": "scale",
            "num_tokens": "1",
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "endpoint_snitch": "SimpleSnitch",
            "seed_provider": "[{class_name: org.apache.cassandra.locator.SimpleSeedProvider,"
            f' parameters: [{{seeds: "{self.host}:{self.nodes_port}"}}]}}]',
            "listen_address": self.host,
            "rpc_address": self.clients_host or self.host,
            **({"broadcast_rpc_address": self.host} if self.clients_host else {}),
            "storage_port": str(self.nodes_port),
            "native_transport_port": str(self.port),
            "data_file_directories": f"[{root}/data]",
            "commitlog_directory": f"{root}/{_COMMIT_LOG}",
            "saved_caches_directory": f"{root}/saved_caches",
            "hints_directory": f"{root}/hints",
            "cdc_raw_directory": f"{root}/cdc_raw",
            "auto_snapshot": "false",
            "batch_size_warn_threshold": "16384KiB",
            "batch_size_fail_threshold": "65536KiB",
            "read_request_timeout": "3600s",
            "range_request_timeout": "3600s",
            "write_request_timeout": "60s",  # not 2 s: a write that times out is stored nevertheless
            "native_transport_timeout": "3600s",  # not 12 s, which would end all of the above
            **settings,
        }
        if items["commitlog_sync"] == "periodic":
            items.setdefault("commitlog_sync_period", "10000ms")
        return "".join(f"{name}: {value}\n" for name, value in items.items())


def sync(root: Path) -> None:
    """Returns when the node's commit log has marked what was acknowledged, and is fsynced."""
    time.sleep(MARKED_S)
    sync_files(Path(root, _COMMIT_LOG).glob("*.log"))  # one may become a file of the table meanwhile


STARTUP, READY, QUERY, RESULT, ERROR = 0x01, 0x02, 0x07, 0x08, 0x00
_ROWS, _WARNINGS = 2, 8
_NUMBERS = {0x02: ">q", 0x05: ">q", 0x07: ">d", 0x08: ">f", 0x09: ">i", 0x0B: ">q", 0x13: ">h", 0x14: ">b"}
_TEXT, _BOOLEAN = {0x0001, 0x000D}, 0x0004


@dataclass
class _Reader:
    data: bytes  # not read yet

    def take(self, count: int) -> bytes:
        if len(self.data) < count:
            raise TargetError("Cassandra's answer ends too early")
        part, self.data = self.data[:count], self.data[count:]
        return part

    def number(self, form: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])

    def text(self) -> str:
        return self.take(self.number(">H")).decode(errors="replace")


@dataclass(frozen=True, kw_only=True)
class Cql:
    host: str
    port: int

    def ask(self, statement: str, within_s: float) -> list[list[Any]]:
        """By its own connection. Raises TargetError with the server's message, or after within_s."""
        try:
            with socket.create_connection((self.host, self.port), timeout=within_s) as connection:
                version = struct.pack(">H", 1) + _string("CQL_VERSION") + _string("3.0.0")
                opcode, _ = _exchange(connection, STARTUP, version)
                if opcode != READY:
                    raise TargetError(f"Cassandra did not answer READY to STARTUP (answer {opcode:#04x})")
                text = statement.encode()
                _, body = _exchange(connection, QUERY, struct.pack(">i", len(text)) + text + b"\0\x01\0")
        except OSError as error:
            raise TargetError(f"Cassandra did not answer {statement[:60]!r}: {error}") from None
        return _rows(_Reader(body))


def _string(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _exchange(connection: socket.socket, opcode: int, body: bytes) -> tuple[int, bytes]:
    connection.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)
    _, flags, _, answered, length = struct.unpack(">BBhBi", _receive(connection, 9))
    reader = _Reader(_receive(connection, length))
    for _ in range(reader.number(">H") if flags & _WARNINGS else 0):
        reader.text()
    if answered == ERROR:
        code = reader.number(">I")
        raise TargetError(f"Cassandra refused: {reader.text()[:300]} (code {code:#06x})")
    return answered, reader.data


def _receive(connection: socket.socket, count: int) -> bytes:
    parts = []
    while count > 0:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise TargetError("Cassandra closed the connection")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _rows(reader: _Reader) -> list[list[Any]]:
    if reader.number(">i") != _ROWS:
        return []
    flags, columns = reader.number(">i"), reader.number(">i")
    if flags & 2:
        reader.take(reader.number(">i"))  # the position of the next page: there is none
    if flags & 1:
        reader.text(), reader.text()
    readers = [_column(reader, named=not flags & 1) for _ in range(columns)]
    return [[_value(reader, read) for read in readers] for _ in range(reader.number(">i"))]


def _column(reader: _Reader, *, named: bool) -> Callable[[bytes], Any]:
    if named:
        reader.text(), reader.text()
    name, kind = reader.text(), reader.number(">H")
    if kind in _TEXT:
        return lambda data: data.decode(errors="replace")
    if kind == _BOOLEAN:
        return lambda data: data != b"\0"
    if kind in _NUMBERS:
        form = _NUMBERS[kind]
        return lambda data: struct.unpack(form, data)[0]
    raise TargetError(f"Cassandra's column {name} has a type that is not read here ({kind:#06x})")


def _value(reader: _Reader, read: Callable[[bytes], Any]) -> Any:
    length = reader.number(">i")
    return None if length < 0 else read(reader.take(length))
