"""CrateDB: one table in shards, loaded by INSERT over HTTP."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import series
from scale_sweep.server.targets.base import ENVIRONMENT
from scale_sweep.server.targets.cratedb.cratedb_facts import OF_TABLE, PGWIRE
from scale_sweep.server.targets.cratedb.cratedb_session import PGWIRE_OFFSET, SQL_TYPES, CratedbSession
from scale_sweep.server.targets.java import JavaTarget, java_settings, options

ROOT, DATA, NAME = "cratedb", "crate", "scale"  # folders of files and shards; of cluster and node
_NOT_SETTINGS = {"connections", "heap", "partitions"}
# As the vendor starts it.
_JVM = (
    "-XX:+UseG1GC",
    "-XX:G1ReservePercent=25",
    "-XX:InitiatingHeapOccupancyPercent=30",
    "-XX:+UseCompactObjectHeaders",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "--add-modules=jdk.incubator.vector",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
    "-Dlog4j.shutdownHookEnabled=false",
    "-Dlog4j2.disable.jmx=true",
    "-Dlog4j.skipJansi=true",
    "-Dio.netty.recycler.maxCapacityPerThread=0",
    "-XX:+ExitOnOutOfMemoryError",
)
_LOG = """status = error
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1.} %m%n
"""
_DOUBTFUL = re.compile(
    r"^(ERROR|FATAL) |OutOfMemoryError|CircuitBreakingException|No space left|flood stage|failed shard"
    r"|[Rr]ejected execution"
)


class CratedbTarget(JavaTarget):
    doubtful = _DOUBTFUL
    types = SQL_TYPES
    session_type = CratedbSession
    jar = "crate-server-"
    oldest, newest = 25, None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Shards and settings of the table; of a server of ours also its own and the JVM's."""
        of_table = {name: value for name, value in trial.knobs.items() if name.startswith(OF_TABLE)}
        shards = {"partitions": trial.knobs["partitions"], **of_table}
        if not is_ours:
            return shards
        own = {k: v for k, v in trial.knobs.items() if k not in _NOT_SETTINGS and k not in of_table}
        return {**shards, **java_settings(trial), **own}

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        root = f"{site.data_dir}/{ROOT}"
        settings = self.settings(trial, is_ours=True)
        folders = tuple(f"{path}/{DATA}" for path in site.disks) or (f"{root}/{DATA}",)
        nodes_port, pgwire_port = site.port + series.DOOR_OFFSET, site.port + PGWIRE_OFFSET
        is_pgwire = trial.subject.method == PGWIRE
        own = {k: v for k, v in settings.items() if k in trial.knobs and not k.startswith(OF_TABLE)}
        del own["partitions"]
        items = {
            "path.home": site.home,
            "path.conf": f"{root}/config",
            "path.data": ",".join(folders),
            "path.logs": f"{root}/logs",
            "cluster.name": NAME,
            "node.name": NAME,
            "discovery.type": "single-node",
            "network.host": site.bind_address,
            "http.port": str(site.port),
            "transport.tcp.port": str(nodes_port),
            "psql.enabled": str(is_pgwire).lower(),
            **({"psql.port": str(pgwire_port)} if is_pgwire else {}),
            "udc.enabled": "false",
            # a trial checks the space; else shards have no place on a disk that is 85 % full
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            **own,
        }
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp", f"{root}/logs", *folders),
            argv=(
                self.java(site),
                *options(site.data_dir, settings["jvm_processors"], settings["jvm_heap"]),
                *_JVM,
                "-cp",
                f"{site.home}/lib/*",
                "io.crate.bootstrap.CrateDB",
                *(f"-C{name}={value}" for name, value in items.items()),
            ),
            env=ENVIRONMENT,
            files={f"{root}/config/log4j2.properties": _LOG, f"{root}/config/crate.yml": ""},
            ports=(site.port, *(() if site.in_image else (nodes_port,)), *((pgwire_port,) if is_pgwire else ())),
            stop_timeout_s=60.0,
        )
