"""Targets: what a database needs."""

from __future__ import annotations

import functools
import importlib

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import Registry
from scale_sweep.base.texts import not_one_of
from scale_sweep.server.targets.base import Session, Target
from scale_sweep.server.targets.records import (
    ENDPOINT_PASSWORD,
    ENDPOINT_USER,
    Address,
    Counted,
    Installation,
    Part,
    Surroundings,
)
from scale_sweep.server.targets.target_facts import Facts, Knob, columns_of

__all__ = [
    "ENDPOINT_PASSWORD",
    "ENDPOINT_USER",
    "TARGETS",
    "Address",
    "Counted",
    "Facts",
    "Installation",
    "Knob",
    "Part",
    "Session",
    "Surroundings",
    "Target",
    "all_facts",
    "columns_of",
    "load_facts",
    "load_target",
]

TARGETS = Registry(
    "scale_sweep.targets",
    {
        "tdengine": "scale_sweep.server.targets.tdengine.tdengine_facts:FACTS",
        "null": "scale_sweep.server.targets.null:FACTS",
        "simulated": "scale_sweep.server.targets.simulated.simulated_facts:FACTS",
        "influxdb": "scale_sweep.server.targets.influxdb.influxdb_facts:FACTS",
        "influxdb2": "scale_sweep.server.targets.influxdb.influxdb_facts:FACTS_V2",
        "victoriametrics": "scale_sweep.server.targets.victoriametrics.victoriametrics_facts:FACTS",
        "prometheus": "scale_sweep.server.targets.prometheus.prometheus_facts:FACTS",
        "questdb": "scale_sweep.server.targets.questdb.questdb_facts:FACTS",
        "cassandra": "scale_sweep.server.targets.cassandra.cassandra_facts:FACTS",
        "kairosdb": "scale_sweep.server.targets.kairosdb.kairosdb_facts:FACTS",
        "opentsdb": "scale_sweep.server.targets.opentsdb.opentsdb_facts:FACTS",
        "iotdb": "scale_sweep.server.targets.iotdb.iotdb_facts:FACTS",
        "cratedb": "scale_sweep.server.targets.cratedb.cratedb_facts:FACTS",
        "clickhouse": "scale_sweep.server.targets.clickhouse.clickhouse_facts:FACTS",
        "mariadb": "scale_sweep.server.targets.mariadb.mariadb_facts:FACTS",
        "postgres": "scale_sweep.server.targets.postgres.postgres_facts:FACTS",
        "timescaledb": "scale_sweep.server.targets.postgres.postgres_facts:TIMESCALE",
        "command": "scale_sweep.server.targets.command:FACTS",
    },
)


REMOVED = dict.fromkeys(("greptimedb", "influxdb3"), "written from its documentation and never run, so it was removed")


def load_facts(name: str) -> Facts:
    """Without its implementation. Raises UsageError that lists the known ones."""
    if name in REMOVED and name not in TARGETS:
        raise UsageError(f"--target {name}: {REMOVED[name]}", remedy="a package can add it: docs/architecture.md")
    if name not in TARGETS:
        raise UsageError(f"--target: {not_one_of(name, ('auto', *TARGETS.names()))}")
    try:
        facts: Facts = TARGETS.load(name)
    except (ImportError, AttributeError) as error:
        raise _unusable(name, error) from None
    if facts.name != name:
        raise UsageError(f"target {name} calls itself {facts.name}", remedy="register it by the name in its facts")
    return facts


def all_facts() -> tuple[Facts, ...]:
    return tuple(load_facts(name) for name in TARGETS.names())


@functools.cache
def load_target(name: str) -> Target:
    """Raises UsageError that lists the known ones, or says why this one cannot be used."""
    facts = load_facts(name)
    module, _, attribute = facts.implementation.partition(":")
    try:
        made: Target = getattr(importlib.import_module(module), attribute)(facts)
    except (ImportError, AttributeError, TypeError) as error:
        raise _unusable(name, error) from None
    return made


def _unusable(name: str, error: Exception) -> UsageError:
    return UsageError(
        f"target {name}: the package that registers it cannot be used: {error}", remedy="correct or remove it"
    )
