"""Cassandra, one node: a device is a partition, written by unlogged batches of CQL.

The jars are in the home's `lib`, with a Java runtime in its `java` folder or on the machine: Java 17, no newer one.
Refuses to open JMX; tags of the load are not stored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from runner.model import Finding, ServerSpec, Site, Trial
from runner.targets import Address, Installation, Surroundings, Target, series
from runner.targets.cassandra.session import COMMIT_LOG, TYPES, CassandraSession
from runner.targets.java import find_jars, java, options

JAVA = 17
_NOT_ITEMS = {"write_threads", "heap"}
_LOG = """<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%level %logger{0} %msg%n</pattern></encoder></appender>
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
_DOUBTFUL = re.compile(
    r"^ERROR .*|.*(OutOfMemoryError|No space left|[Dd]ropp(ed|ing) .*(mutation|message|MUTATION)|Stopping native).*"
)


class CassandraTarget(Target):
    """One node for each trial."""

    def find(self, home: str) -> Installation | None:
        """The jars in `home`, else where `scale servers install` puts them, with a Java that runs them."""
        return find_jars("cassandra", "cassandra-all-", home, JAVA, JAVA)

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """The JVM's resources, and items of cassandra.yaml that knobs name."""
        return {
            "jvm_processors": str(max(1, math.ceil(trial.cores))),
            "jvm_heap": trial.knobs["heap"],
            **{k: v for k, v in trial.knobs.items() if k not in _NOT_ITEMS},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have."""
        return series.refused_columns("Cassandra", trial, TYPES)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """One node with its files in a directory of the trial."""
        root = f"{site.data_dir}/cassandra"
        settings = self.settings(trial, is_ours=True)
        opened = [f"--add-{word}=java.base/{name}=ALL-UNNAMED" for name in _OPENED for word in ("opens", "exports")]
        exported = [f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTED]
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp",),
            argv=(
                java(site.home, JAVA, JAVA) or "java",
                *options(site.data_dir, int(settings["jvm_processors"]), settings["jvm_heap"]),
                *opened,
                *exported,
                "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
                "-XX:+ExitOnOutOfMemoryError",
                "-Djdk.attach.allowAttachSelf=true",
                "-Djava.net.preferIPv4Stack=true",
                "-Dcassandra-foreground=yes",
                "-Dcassandra.skip_wait_for_gossip_to_settle=0",  # there is no other node
                "-Dcassandra.ring_delay_ms=1",
                f"-Dcassandra.config=file://{root}/cassandra.yaml",
                f"-Dcassandra.storagedir={root}",
                f"-Dlogback.configurationFile={root}/logback.xml",
                "-cp",
                f"{site.home}/lib/*",
                "org.apache.cassandra.service.CassandraDaemon",
            ),
            env={"TZ": "UTC", "LC_ALL": "C.UTF-8"},
            files={f"{root}/cassandra.yaml": _yaml(site, root, settings), f"{root}/logback.xml": _LOG},
            ports=(site.port, site.port + 1),
            stop_timeout_s=60.0,
        )

    def session(self, trial: Trial, address: Address) -> CassandraSession:
        return CassandraSession(trial, address, self.settings(trial, is_ours=True))

    def suspicious(self, log: str) -> tuple[str, ...]:
        """Errors, and reports of dropped writes."""
        found = (match.group(0).strip()[:300] for match in map(_DOUBTFUL.search, log.splitlines()) if match)
        return tuple(dict.fromkeys(found))[:20]


def _yaml(site: Site, root: str, settings: Mapping[str, str]) -> str:
    """Its configuration: one node on the given address, batches of any size, long timeouts."""
    host, nodes = site.bind_address, site.port + 1
    items = {
        "cluster_name": "scale",
        "num_tokens": "1",
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "seed_provider": "[{class_name: org.apache.cassandra.locator.SimpleSeedProvider,"
        f' parameters: [{{seeds: "{host}:{nodes}"}}]}}]',
        "listen_address": host,
        "rpc_address": host,
        "storage_port": str(nodes),
        "native_transport_port": str(site.port),
        "data_file_directories": f"[{root}/data]",
        "commitlog_directory": f"{site.data_dir}/{COMMIT_LOG}",
        "saved_caches_directory": f"{root}/saved_caches",
        "hints_directory": f"{root}/hints",
        "cdc_raw_directory": f"{root}/cdc_raw",
        "auto_snapshot": "false",
        "batch_size_warn_threshold": "16384KiB",
        "batch_size_fail_threshold": "65536KiB",
        "read_request_timeout": "3600s",
        "range_request_timeout": "3600s",
        "write_request_timeout": "60s",  # not 2 s: a write that times out is stored nevertheless
        **{name: value for name, value in settings.items() if not name.startswith("jvm_")},
    }
    if items["commitlog_sync"] == "periodic":
        items.setdefault("commitlog_sync_period", "10000ms")
    return "".join(f"{name}: {value}\n" for name, value in items.items())
