"""Cassandra, one node: a device is a partition, written by unlogged batches of CQL."""

from __future__ import annotations

import math
from collections.abc import Mapping

from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Installation, Surroundings, Target, series
from scale_sweep.server.targets.cassandra.cassandra_queries import TYPES
from scale_sweep.server.targets.cassandra.cassandra_session import ROOT, CassandraSession
from scale_sweep.server.targets.cassandra_node import Node, doubtful, find, java, java_runtime, programs
from scale_sweep.server.targets.java import options

LOOPBACK = "127.0.0.1"
_NOT_ITEMS = {"connections", "heap"}


class CassandraTarget(Target):
    """One node for each trial."""

    def find(self, home: str) -> Installation | None:
        """The jars in `home`, else where `scale servers install` puts them, with a Java that runs them."""
        return find(home)

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

    def programs(self, trial: Trial, home: str) -> tuple[str, ...]:
        """Its Java runtime, if that is the machine's."""
        return programs(home)

    def java_runtime(self, home: str) -> str:
        return java_runtime(home)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """One node with its files in a directory of the trial."""
        settings = self.settings(trial, is_ours=True)
        root = f"{site.data_dir}/{ROOT}"
        host, clients = (LOOPBACK, site.bind_address) if site.in_image else (site.bind_address, "")
        node = Node(root=root, host=host, port=site.port, nodes_port=site.port + 1, clients_host=clients)
        jvm = options(site.data_dir, int(settings["jvm_processors"]), settings["jvm_heap"])
        return ServerSpec(
            folders=(f"{site.data_dir}/tmp",),
            argv=node.command(java(site, site.home, self.facts.image_java), site.home, jvm),
            env={"TZ": "UTC", "LC_ALL": "C.UTF-8"},
            files=node.files({name: value for name, value in settings.items() if not name.startswith("jvm_")}),
            ports=(site.port,) if site.in_image else (site.port, site.port + 1),
            stop_timeout_s=60.0,
        )

    def session(self, trial: Trial, address: Address) -> CassandraSession:
        return CassandraSession(trial, address, self.settings(trial, is_ours=True))

    def suspicious(self, log: str) -> tuple[str, ...]:
        """Errors, and reports of dropped writes."""
        return doubtful(log)
