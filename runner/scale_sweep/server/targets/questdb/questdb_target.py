"""QuestDB: a table for each partition, loaded with lines."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Installation, series
from scale_sweep.server.targets.base import ENVIRONMENT, cores_of
from scale_sweep.server.targets.installations import places
from scale_sweep.server.targets.java import JavaTarget, java, java_settings, options
from scale_sweep.server.targets.questdb.questdb_facts import FACTS, PGWIRE
from scale_sweep.server.targets.questdb.questdb_session import SQL_TYPES, USER, VOLUME, QuestdbSession

JAR = "questdb.jar"
_OWN_KNOBS = {*(knob.name for knob in FACTS.role_knobs), "heap"}
_LOG = "writers=stdout\nw.stdout.class=io.questdb.log.LogConsoleWriter\nw.stdout.level=ERROR,CRITICAL,ADVISORY\n"
_DOUBTFUL = re.compile(  # rows that were not applied to their table
    r" [EC] .*(suspend|could not apply|apply.*fail|out of memory|No space left|could not (write|sync|append))"
    r"|table is SUSPENDED|java\.lang\.OutOfMemoryError|hs_err|SIGSEGV",
    re.IGNORECASE,
)


class QuestdbTarget(JavaTarget):
    doubtful = _DOUBTFUL
    types = SQL_TYPES
    session_type = QuestdbSession
    newest = None

    def find(self, home: str) -> Installation | None:
        for folder, source in places(self.facts.name, home):
            jar = Path(folder) / JAR
            if jar.is_file() and java(folder, self.oldest):
                return Installation(home=str(jar.parent.resolve()), version=_version(jar), source=source)
        return None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Items of server.conf, with underscores, and the tables: as many threads as cores."""
        if not is_ours:
            return {"partitions": trial.knobs["partitions"]}
        cores = cores_of(trial)
        return {
            "partitions": trial.knobs["partitions"],
            **java_settings(trial),
            "shared_network_worker_count": cores,
            "shared_query_worker_count": cores,
            "shared_write_worker_count": cores,
            "wal_apply_worker_count": trial.knobs.get("wal_apply_worker_count", cores),
            "cairo_commit_mode": "nosync",
            **{k: v for k, v in trial.knobs.items() if k not in _OWN_KNOBS},
        }

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        root = f"{site.data_dir}/questdb"
        settings = self.settings(trial, is_ours=True)
        is_tcp, is_pg = trial.subject.method == series.TCP, trial.subject.method == PGWIRE
        door = site.port + series.DOOR_OFFSET
        volumes = {f"{VOLUME}{i}": f"{path}/{VOLUME}" for i, path in enumerate(site.disks, start=1)}
        items = {
            **{k: v for k, v in settings.items() if k != "partitions" and not k.startswith("jvm_")},
            "http_bind_to": f"{site.bind_address}:{site.port}",
            "http_min_enabled": "false",
            "pg_enabled": str(is_pg).lower(),
            **({"pg_net_bind_to": f"{site.bind_address}:{door}", "pg_user": USER} if is_pg else {}),
            "line_tcp_enabled": str(is_tcp).lower(),
            **({"line_tcp_net_bind_to": f"{site.bind_address}:{door}"} if is_tcp else {}),
            **({"cairo_volumes": ", ".join(f"{name} -> {path}" for name, path in volumes.items())} if volumes else {}),
            "line_udp_enabled": "false",
            "telemetry_enabled": "false",
            "posthog_enabled": "false",
            "query_timeout": "3600s",
            "config_validation_strict": "true",
        }
        text = "".join(f"{name.replace('_', '.')}={value}\n" for name, value in items.items())
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp", *volumes.values()),
            argv=(
                self.java(site),
                *options(site.data_dir, settings["jvm_processors"], settings["jvm_heap"]),
                "-XX:MaxJavaStackTraceDepth=1",  # its last message is then what it refused
                "-p",
                f"{site.home}/{JAR}",
                "-m",
                "io.questdb/io.questdb.ServerMain",
                "-d",
                root,
            ),
            env={**ENVIRONMENT, **({"QDB_PG_PASSWORD": secret} if is_pg else {})},
            files={f"{root}/conf/server.conf": text, f"{root}/conf/log.conf": _LOG},
            ports=(site.port, door) if is_tcp or is_pg else (site.port,),
            stop_timeout_s=30.0,
        )


def _version(jar: Path) -> str:
    try:
        with zipfile.ZipFile(jar) as file:
            text = file.read("META-INF/MANIFEST.MF").decode(errors="replace")
            text += file.read("META-INF/maven/org.questdb/questdb/pom.properties").decode(errors="replace")
    except (OSError, KeyError, zipfile.BadZipFile):
        return ""
    match = re.search(r"^(?:Implementation-Version: |version=)(\d+(?:\.\d+)+)", text, re.MULTILINE)
    return match.group(1) if match else ""
