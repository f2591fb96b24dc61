"""Looks at every host of an inventory: what it is, its clock, and the network from each load host to the server's.

Measures; changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scale_sweep.base.errors import ProvisionError
from scale_sweep.hosts.clocks import HostClock, measure_clock
from scale_sweep.hosts.inventory import Inventory
from scale_sweep.hosts.link import AgentLink
from scale_sweep.machine.host import Host
from scale_sweep.results.store.codec import from_plain

STREAM_S = 30.0


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """A host as its agent describes it. servers: versions of installed databases, by the name of the target. to_server:
    bytes per second of a stream to the server's host; None for that host itself. lacks: why it cannot make a load."""

    name: str
    role: str
    host: Host
    python: str
    program: str
    lacks: str
    is_root: bool
    servers: Mapping[str, str]
    clock: HostClock
    to_server: float | None = None


def check(inventory: Inventory, links: Mapping[str, AgentLink]) -> tuple[HostFacts, ...]:
    """The facts of every host, the servers' first. Raises ProvisionError that names the host."""
    facts = [facts_of(links[server.name], "server", None) for server in inventory.servers]
    for number, host in enumerate(inventory.load):
        server = inventory.servers[number % len(inventory.servers)]
        rate = network_rate(links[host.name], links[server.name], server.address)
        facts.append(facts_of(links[host.name], "load", rate))
    return tuple(facts)


def facts_of(link: AgentLink, role: str, to_server: float | None) -> HostFacts:
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
        to_server=to_server,
    )


def network_rate(sender: AgentLink, receiver: AgentLink, address: str) -> float:
    """Bytes per second of a stream of two seconds from one host to the address of another. Raises ProvisionError."""
    taking = receiver.ask("listen", address=address)
    rate, sending = 0.0, None
    for line in taking.events(STREAM_S):
        if event := line.get("event"):
            sending = sender.ask("send", address=address, port=int(event["port"]), token=str(event["token"]))
            try:
                sending.answer(STREAM_S)
            except ProvisionError as error:
                taking.stop()
                raise ProvisionError(
                    f"{sender.host.name} cannot reach {receiver.host.name} at {address}: {error.message}",
                    remedy="is scale_address on the load's network, and does a firewall let it pass?",
                ) from None
        elif "answer" in line:
            rate = float(line["answer"])
    return rate


def _where(link: AgentLink) -> Any:
    from pathlib import Path

    return Path(f"host:{link.host.name}")
