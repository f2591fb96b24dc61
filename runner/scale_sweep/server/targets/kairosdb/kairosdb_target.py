"""KairosDB on its own H2 database or on a Cassandra: each column of a row is a point of a series."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Installation, Surroundings, Target, series
from scale_sweep.server.targets.cassandra_node import doubtful
from scale_sweep.server.targets.java import find_jars, options, outside, program, runtime
from scale_sweep.server.targets.kairosdb.kairosdb_session import KairosdbSession
from scale_sweep.server.targets.kairosdb.kairosdb_stores import STORES, is_item, store_of
from scale_sweep.server.targets.records import first_of

JAVA = 17
WHOLE = ("bool", "tinyint", "smallint", "int", "bigint", "utinyint", "usmallint", "uint", "timestamp")
TYPES = (*WHOLE, "float", "double")
_NOT_ITEMS = {"connections", "heap", "cassandra_heap"}
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
        """The JVM's resources, what the datastore is given, and items of kairosdb.conf that knobs name."""
        return {
            "jvm_processors": str(max(1, math.ceil(trial.cores))),
            "jvm_heap": trial.knobs["heap"],
            "datastore": store_of(trial).name,
            **store_of(trial).settings(trial),
            **{k: v for k, v in trial.knobs.items() if k not in _NOT_ITEMS},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have, for a datastore that there is not, and for its items
        without it."""
        findings, store = list(series.refused_columns("KairosDB", trial, TYPES)), store_of(trial)
        name = trial.knobs.get("datastore", store.name)
        if name not in STORES:
            sentence = f"KairosDB has no datastore {name!r} here"
            remedy = f"--knob datastore={' or '.join(STORES)}"
            findings.append(Finding(blocking=True, subject="--knob datastore", sentence=sentence, remedy=remedy))
        for knob in trial.knobs:
            if knob not in store.settings(trial) and (is_item(knob) or knob in _NOT_ITEMS - {"connections", "heap"}):
                sentence = f"{knob} belongs to another datastore: this trial has {store.name}"
                remedy = f"leave out {knob}, or --knob datastore=NAME"
                findings.append(Finding(blocking=True, subject="--knob", sentence=sentence, remedy=remedy))
        return tuple(findings)

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """A finding for the server of the datastore, if this machine has none."""
        return store_of(trial).check()

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        """Its Java runtime, if that is the machine's, and the programs of its datastore."""
        return tuple(dict.fromkeys((*outside(home, JAVA, JAVA), *store_of(trial).programs())))

    def java_runtime(self, home: str) -> str:
        return runtime(home, JAVA, JAVA)

    def image_folders(self) -> Mapping[str, str]:
        """The programs of every datastore."""
        return {path: folder for store in STORES.values() for path, folder in store.image_folders().items()}

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """The server on a directory of the trial. It also reads files beside its configuration."""
        root = f"{site.data_dir}/kairosdb"
        settings = self.settings(trial, is_ours=True)
        is_telnet = trial.subject.method == series.TELNET
        door = site.port + series.DOOR_OFFSET
        telnet = {"telnetserver.address": f'"{site.bind_address}"', "telnetserver.port": str(door)}
        own = {"datastore", *store_of(trial).settings(trial), *(name for name in settings if name.startswith("jvm_"))}
        items = {
            **{name: f'"{value}"' for name, value in settings.items() if name not in own and not is_item(name)},
            **(telnet if is_telnet else {"service.telnet": '"<disabled>"'}),
            "service.reporter": '"<disabled>"',
            "jetty.address": f'"{site.bind_address}"',
            "jetty.port": str(site.port),
            "queue_processor.queue_path": f'"{root}/queue"',
            "query_cache.cache_dir": f'"{root}/cache"',
        }
        kairosdb = (
            program(site, site.home, JAVA, JAVA, image_java=self.facts.image_java),
            *options(site.data_dir, int(settings["jvm_processors"]), settings["jvm_heap"]),
            *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "util")),
            f"-Dlogback.configurationFile={root}/log/logback.xml",
            "-cp",
            f"{site.home}/lib/*",
            "org.kairosdb.core.Main",
            "-c",
            "run",
            "-p",
            f"{root}/kairosdb.conf",
        )
        started = store_of(trial).started(site, root, kairosdb, settings)
        items |= started.items
        text = "".join(f"kairosdb.{name} = {value}\n" for name, value in items.items())
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp", f"{root}/cache", *started.folders),
            argv=started.argv,
            env={"TZ": "UTC", "LC_ALL": "C.UTF-8"},
            files={f"{root}/kairosdb.conf": text, f"{root}/log/logback.xml": _LOG, **started.files},
            ports=(site.port, *((door,) if is_telnet else ()), *started.ports),
            stop_timeout_s=30.0,
        )

    def session(self, trial: Trial, address: Address) -> KairosdbSession:
        return KairosdbSession(trial, address, self.settings(trial, is_ours=True))

    def suspicious(self, log: str) -> tuple[str, ...]:
        """Errors, and writes that H2 or Cassandra could not finish."""
        errors = (match.group(0) for match in map(_DOUBTFUL.search, log.splitlines()) if match)
        return first_of((*errors, *doubtful(log)))
