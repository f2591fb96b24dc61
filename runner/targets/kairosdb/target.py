"""KairosDB on its own H2 database: each column of a row is a point of a series, stored before it is acknowledged.

The jars are in the home's `lib`, with a Java runtime in its `java` folder or on the machine: Java 17, no newer one.
Refuses text columns, its telnet port, and the metrics that it would write about itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from runner.model import Finding, ServerSpec, Site, Trial
from runner.targets import Address, Installation, Surroundings, Target, series
from runner.targets.java import find_jars, java, options
from runner.targets.kairosdb.session import DATABASE, KairosdbSession

JAVA = 17
WHOLE = ("bool", "tinyint", "smallint", "int", "bigint", "utinyint", "usmallint", "uint", "timestamp")
TYPES = (*WHOLE, "float", "double")
_NOT_ITEMS = {"write_threads", "heap"}
_LOG = """<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %level %logger %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root></configuration>
"""
_DOUBTFUL = re.compile(
    r"ERROR .*|.*(OutOfMemoryError|No space left|JdbcSQL\w*Exception|MVStoreException|IllegalStateException).*"
)


class KairosdbTarget(Target):
    """One server for each trial."""

    def find(self, home: str) -> Installation | None:
        """The jars in `home`, else where `scale servers install` puts them, with a Java that runs them."""
        return find_jars("kairosdb", "kairosdb-", home, JAVA, JAVA)

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """The JVM's resources, and items of kairosdb.conf that knobs name."""
        return {
            "jvm_processors": str(max(1, math.ceil(trial.cores))),
            "jvm_heap": trial.knobs["heap"],
            **{k: v for k, v in trial.knobs.items() if k not in _NOT_ITEMS},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have."""
        return series.refused_columns("KairosDB", trial, TYPES)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """The server on a directory of the trial. It also reads files beside its configuration."""
        root = f"{site.data_dir}/kairosdb"
        settings = self.settings(trial, is_ours=True)
        items = {
            **{name: f'"{value}"' for name, value in settings.items() if not name.startswith("jvm_")},
            "service.telnet": '"<disabled>"',
            "service.reporter": '"<disabled>"',
            "jetty.address": f'"{site.bind_address}"',
            "jetty.port": str(site.port),
            "datastore.h2.database_path": f'"{site.data_dir}/{DATABASE}"',
            "queue_processor.queue_path": f'"{root}/queue"',
            "query_cache.cache_dir": f'"{root}/cache"',
        }
        text = "".join(f"kairosdb.{name} = {value}\n" for name, value in items.items())
        opens = (f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "util"))
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp", f"{root}/cache"),
            argv=(
                java(site.home, JAVA, JAVA) or "java",
                *options(site.data_dir, int(settings["jvm_processors"]), settings["jvm_heap"]),
                *opens,
                f"-Dlogback.configurationFile={root}/log/logback.xml",
                "-cp",
                f"{site.home}/lib/*",
                "org.kairosdb.core.Main",
                "-c",
                "run",
                "-p",
                f"{root}/kairosdb.conf",
            ),
            env={"TZ": "UTC", "LC_ALL": "C.UTF-8"},
            files={f"{root}/kairosdb.conf": text, f"{root}/log/logback.xml": _LOG},
            ports=(site.port,),
            stop_timeout_s=30.0,
        )

    def session(self, trial: Trial, address: Address) -> KairosdbSession:
        return KairosdbSession(trial, address, self.settings(trial, is_ours=True))

    def suspicious(self, log: str) -> tuple[str, ...]:
        """Errors, and writes that H2 could not finish."""
        found = (match.group(0).strip()[:300] for match in map(_DOUBTFUL.search, log.splitlines()) if match)
        return tuple(dict.fromkeys(found))[:20]
