"""Looks at every host of an inventory: what it is, its clock, and the network from each load host to the server's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.hosts.inventory import Inventory, by_server
from scale_sweep.hosts.link import AgentLink
from scale_sweep.hosts.network import HostClock, measure_clock, networks
from scale_sweep.machine.host import Host
from scale_sweep.model import HostNetwork
from scale_sweep.results.store.codec import from_plain


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """A host as its agent describes it."""

    name: str
    role: str
    host: Host
    python: str
    program: str
    lacks: str  # why it cannot make a load
    is_root: bool
    servers: Mapping[str, str]  # versions of installed databases, by the name of the target
    clock: HostClock
    network: HostNetwork


def check(inventory: Inventory, links: Mapping[str, AgentLink]) -> tuple[HostFacts, ...]:
    """The facts of every host, the servers' first. Raises ProvisionError that names the host."""
    facts: dict[str, HostFacts] = {}
    for part in by_server(inventory):
        for network in networks(part, links):
            role = "server" if network.host == part.server.name else "load"
            if network.host not in facts:  # a load host may serve several servers
                facts[network.host] = facts_of(links[network.host], role, network)
    return tuple(sorted(facts.values(), key=lambda one: one.role != "server"))


def facts_of(link: AgentLink, role: str, network: HostNetwork) -> HostFacts:
    """The facts of one host. Raises ProvisionError, and StoreError for an answer that is none."""
    raw: Mapping[str, Any] = link.ask("facts").answer()
    return HostFacts(
        name=link.host.name,
        role=role,
        host=from_plain(raw["host"], Host, _where(link)),
        python=str(raw["python"]),
        program=str(raw["program"]),
        lacks=str(raw["lacks"]),
        is_root=bool(raw["root"]),
        servers={str(name): str(version) for name, version in dict(raw["servers"]).items()},
        clock=measure_clock(link),
        network=network,
    )


def _where(link: AgentLink) -> Path:
    return Path(f"host:{link.host.name}")
