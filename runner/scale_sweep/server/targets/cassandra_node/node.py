"""One node of Cassandra: its command, its configuration, how its commit log is synced, and doubtful lines of its
log."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.input_file import sync as sync_files
from scale_sweep.model import Site
from scale_sweep.server.targets.java import find_jars, outside, program, runtime
from scale_sweep.server.targets.records import Installation, lines_with

JAVA = 17
MARKED_S = 0.25  # the log marks its contents every 0.1 s: a start reads up to the last mark
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
    """Where a node is: its folder as an absolute path, its address, the ports for clients and for other nodes."""

    root: str
    host: str
    port: int
    nodes_port: int
    clients_host: str = ""  # where clients are listened to, if not at that address: all addresses of a container

    def command(self, java: str, home: str, jvm: Sequence[str]) -> tuple[str, ...]:
        """The command that starts it from the jars of `home`. java: the program. jvm: flags for its resources."""
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
        """Its configuration with these items of cassandra.yaml, and what it logs."""
        return {f"{self.root}/cassandra.yaml": self._yaml(items), f"{self.root}/logback.xml": _LOG}

    def _yaml(self, settings: Mapping[str, str]) -> str:
        """One node on the given address, batches of any size, long timeouts."""
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


def find(home: str) -> Installation | None:
    """The jars in `home`, else where `scale servers install` puts them, with a Java that runs them."""
    return find_jars("cassandra", "cassandra-all-", home, JAVA, JAVA)


def programs(home: str) -> tuple[str, ...]:
    return outside(home, JAVA, JAVA)


def java(site: Site, home: str, image_java: str = "") -> str:
    return program(site, home, JAVA, JAVA, image_java=image_java)


def java_runtime(home: str) -> str:
    return runtime(home, JAVA, JAVA)


def sync(root: Path) -> None:
    """Returns when the commit log of the node in this folder has marked what was acknowledged, and its files are
    fsynced."""
    time.sleep(MARKED_S)
    sync_files(Path(root, _COMMIT_LOG).glob("*.log"))  # the rows of one may become files of the table meanwhile


def doubtful(log: str) -> tuple[str, ...]:
    """Errors, and reports of dropped writes."""
    return lines_with(DOUBTFUL, log)
