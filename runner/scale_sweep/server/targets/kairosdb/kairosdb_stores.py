"""Stores of KairosDB's points: its own H2, one file, or a Cassandra that is started before it."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scale_sweep.base.errors import PreflightError, TargetError
from scale_sweep.base.input_file import sync as sync_files
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import LOOPBACK, Site
from scale_sweep.server.targets.base import cores_of
from scale_sweep.server.targets.cassandra_node import FLUSHED, JAR, JAVA, Cql, Node, sync
from scale_sweep.server.targets.java import effective as jvm
from scale_sweep.server.targets.java import find_jars, in_turn, options, outside, program
from scale_sweep.server.targets.kairosdb.kairosdb_facts import FACTS
from scale_sweep.server.targets.records import IN_MEMORY, Address, blocking


@dataclass(frozen=True, kw_only=True)
class KairosdbStart:
    items: Mapping[str, str]  # of kairosdb.conf, without its prefix
    argv: tuple[str, ...]  # of the whole server
    files: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()


class Store(ABC):
    name = ""  # of the knob `datastore`
    acknowledged = ""
    compression = ""
    is_queued = False  # KairosDB acknowledges points that it stores later

    def settings(self, trial: Trial) -> Mapping[str, str]:
        """Besides KairosDB's own, by names of knobs."""
        return {}

    def check(self) -> tuple[Finding, ...]:
        return ()

    def programs(self) -> tuple[str, ...]:
        """As in Target, besides KairosDB's."""
        return ()

    def image_folders(self) -> Mapping[str, str]:
        return {}

    @abstractmethod
    def started(self, site: Site, root: str, kairosdb: Sequence[str], settings: Mapping[str, str]) -> KairosdbStart:
        """root: of KairosDB's files. kairosdb: its command."""

    def start_kairosdb(self, address: Address, within_s: float) -> None:
        """Raises TargetError while it cannot start."""
        return

    def effective(self, address: Address, within_s: float) -> Mapping[str, str]:
        return {}

    def commit_cycles(self, address: Address, within_s: float) -> int | None:
        return None

    def flush(self, address: Address, store_point: Callable[[], None], within_s: float) -> None:
        return


def is_item(name: str) -> bool:
    """Whether it is in the datastore's own configuration, not in kairosdb.conf."""
    return name.startswith("cassandra.")


DATABASE = "kairosdb/h2"  # in the trial's directory


class H2(Store):
    name = "h2"
    acknowledged = IN_MEMORY
    compression = "rows of H2, not compressed"

    def started(self, site: Site, root: str, kairosdb: Sequence[str], settings: Mapping[str, str]) -> KairosdbStart:
        items = {"datastore.h2.database_path": f'"{site.data_dir}/{DATABASE}"'}
        return KairosdbStart(items=items, argv=tuple(kairosdb))

    def effective(self, address: Address, within_s: float) -> Mapping[str, str]:
        """By its file."""
        return {"datastore": self.name} if _files(address) else {}

    def commit_cycles(self, address: Address, within_s: float) -> int | None:
        """Chunks of its file, by the file's header, which may be some behind."""
        files = _files(address)
        if not files:
            return None
        with files[0].open("rb") as file:
            chunk = re.search(rb"\bchunk:([0-9a-f]+)", file.read(4096))
        return int(chunk.group(1), 16) if chunk else 0

    def flush(self, address: Address, store_point: Callable[[], None], within_s: float) -> None:
        """H2 writes its commits into the file every half second, and has no command for it over HTTP. So this stores a
        point and waits until the file changes, twice: the first change may have begun before the point."""
        files = _files(address)
        for _ in range(2 if files else 0):
            before = files[0].stat().st_mtime_ns
            store_point()
            deadline = time.monotonic() + min(within_s, 60)
            while files[0].stat().st_mtime_ns == before:
                if time.monotonic() > deadline:
                    raise TargetError("H2 did not write its file within a minute of a commit")
                time.sleep(0.02)
        sync_files(files)


def _files(address: Address) -> list[Path]:
    """None if the server is not ours."""
    return list(Path(address.data_dir, DATABASE).glob("*.mv.db")) if address.data_dir else []


ROOT, READY = "cassandra", "cassandra.ready"  # in the trial's directory; a file when it answers
PORT, NODES_PORT = 2, 3  # from KairosDB's on
INSTALL = "scale servers install cassandra"
LACKING = "KairosDB stores its rows in Cassandra, which is not on this machine"
_IN_IMAGE = "/opt/cassandra"
_MODULE = "org.kairosdb.datastore.cassandra.CassandraModule"
_SYNC, _HEAP = "cassandra.commitlog_sync", "cassandra_heap"
_PROCESSORS = "cassandra_processors"


class OnCassandra(Store):
    name = "cassandra"
    acknowledged = "in KairosDB's queue, not yet in Cassandra"
    compression = "rows by series and three weeks, LZ4"
    is_queued = True

    def settings(self, trial: Trial) -> Mapping[str, str]:
        """Resources, and items of cassandra.yaml as `cassandra.NAME`. The heap is by default that of KairosDB."""
        chosen = {k: v for k, v in trial.knobs.items() if k == _HEAP or is_item(k)}
        return {_PROCESSORS: cores_of(trial), _HEAP: trial.knobs["heap"], _SYNC: "periodic", **chosen}

    def check(self) -> tuple[Finding, ...]:
        if _home():
            return ()
        return (blocking("--knob datastore", LACKING, INSTALL),)

    def programs(self) -> tuple[str, ...]:
        return (_home(), *outside(_home(), *JAVA)) if _home() else ()

    def image_folders(self) -> Mapping[str, str]:
        if not _home():
            raise PreflightError(LACKING, remedy=INSTALL)
        return {f"{_IN_IMAGE}/lib/": f"{_home()}/lib"}

    def started(self, site: Site, root: str, kairosdb: Sequence[str], settings: Mapping[str, str]) -> KairosdbStart:
        folder = f"{site.data_dir}/{ROOT}"
        port, nodes_port = site.port + PORT, site.port + NODES_PORT
        host, clients = (LOOPBACK, site.bind_address) if site.in_image else (site.bind_address, "")
        node = Node(root=folder, host=host, port=port, nodes_port=nodes_port, clients_host=clients)
        home = _IN_IMAGE if site.in_image else site.reachable(_home())
        flags = options(folder, settings[_PROCESSORS], settings[_HEAP])
        command = node.command(program(site, home, *JAVA, image_java=FACTS.image_java), home, flags)
        items = {name.partition(".")[2]: value for name, value in settings.items() if is_item(name)}
        both = f"{root}/both.sh"
        return KairosdbStart(
            items={
                "service.datastore": f'"{_MODULE}"',
                "datastore.cassandra.write_cluster.cql_host_list": f'["{host}:{port}"]',
                # Cassandra 5 has no COMPACT STORAGE, which is the default.
                "datastore.cassandra.table_create_with.data_points": '""',
            },
            argv=("/bin/sh", both),
            files={**node.files(items), both: in_turn(f"{site.data_dir}/{READY}", command, kairosdb)},
            folders=(f"{folder}/tmp",),
            ports=(port,) if site.in_image else (port, nodes_port),
        )

    def start_kairosdb(self, address: Address, within_s: float) -> None:
        """By the file READY, when the node answers."""
        ready = Path(address.data_dir, READY)
        if address.data_dir and not ready.exists():
            _cql(address).ask("SELECT release_version FROM system.local", within_s)
            ready.touch()

    def effective(self, address: Address, within_s: float) -> Mapping[str, str]:
        """Settings, version and JVM of the node, and the datastore where it has KairosDB's tables."""
        cql = _cql(address)
        reported = cql.ask("SELECT name, value FROM system_views.settings", within_s)
        (version,) = cql.ask("SELECT release_version FROM system.local", within_s)[0]
        spaces = cql.ask("SELECT keyspace_name FROM system_schema.keyspaces", within_s)
        resources = jvm(f"{address.data_dir}/{ROOT}")
        return {
            **{f"cassandra.{name}": str(value) for name, value in reported},
            "cassandra_version": str(version),
            **({"datastore": self.name} if ["kairosdb"] in spaces else {}),
            **({_HEAP: resources["jvm_heap"]} if "jvm_heap" in resources else {}),
            **({_PROCESSORS: resources["jvm_processors"]} if "jvm_processors" in resources else {}),
        }

    def commit_cycles(self, address: Address, within_s: float) -> int | None:
        """Memtables that became files."""
        return int(_cql(address).ask(FLUSHED, within_s)[0][0])

    def flush(self, address: Address, store_point: Callable[[], None], within_s: float) -> None:
        if address.data_dir:
            sync(Path(address.data_dir, ROOT))


def _home() -> str:
    installation = find_jars("cassandra", JAR, "", *JAVA)
    return installation.home if installation else ""


def _cql(address: Address) -> Cql:
    return Cql(host=address.host, port=address.port + PORT)


STORES: dict[str, Store] = {store.name: store for store in (OnCassandra(), H2())}


def store_of(trial: Trial) -> Store:
    """The first one for an unknown name, which `Target.check` refuses."""
    return STORES.get(trial.knobs.get("datastore", ""), next(iter(STORES.values())))
