"""Looks at every host of an inventory: facts, clock, and the network between each load host and the server.

Half of the fastest round trip is the greatest error of a clock (Cristian, "Probabilistic clock synchronization", 1989).
"""

from __future__ import annotations

import queue
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale_sweep.agent.lines import error_of
from scale_sweep.base.errors import ProvisionError
from scale_sweep.hosts.inventory import Inventory, by_server
from scale_sweep.hosts.link import AgentLink, Line
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.samples import HostNetwork
from scale_sweep.results.store.codec import from_plain


@dataclass(frozen=True, kw_only=True)
class HostFacts:
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
    """The servers' first. Raises ProvisionError that names the host."""
    facts: dict[str, HostFacts] = {}
    for part in by_server(inventory):
        for network in networks(part, links):
            role = "server" if network.host == part.server.name else "load"
            if network.host not in facts:  # a load host may serve several servers
                facts[network.host] = facts_of(links[network.host], role, network)
    return tuple(sorted(facts.values(), key=lambda one: one.role != "server"))


def facts_of(link: AgentLink, role: str, network: HostNetwork) -> HostFacts:
    """Raises ProvisionError, and StoreError for an answer that is none."""
    raw: Mapping[str, Any] = link.ask("facts").answer()
    return HostFacts(
        name=link.host.name,
        role=role,
        host=from_plain(raw["host"], Host, Path(f"host:{link.host.name}")),
        python=str(raw["python"]),
        program=str(raw["program"]),
        lacks=str(raw["lacks"]),
        is_root=bool(raw["root"]),
        servers={str(name): str(version) for name, version in dict(raw["servers"]).items()},
        clock=measure_clock(link),
        network=network,
    )


STREAM_S = 60.0


def networks(inventory: Inventory, links: Mapping[str, AgentLink]) -> tuple[HostNetwork, ...]:
    """The server's first. Raises ProvisionError that names the host."""
    server, address = links[inventory.server.name], inventory.server.address
    load, together = [links[host.name] for host in inventory.load], list[HostNetwork]()
    alone = [_network_of(link, server, address) for link in load]
    if len(load) > 1:
        with ThreadPoolExecutor(max_workers=len(load)) as pool:
            together = list(pool.map(lambda link: _network_of(link, server, address), load))
    own = HostNetwork(
        host=inventory.server.name,
        sent_bytes_per_s=sum(one.received_bytes_per_s or 0.0 for one in together) or None,
        received_bytes_per_s=sum(one.sent_bytes_per_s or 0.0 for one in together) or None,
    )
    return own, *alone


def _network_of(link: AgentLink, server: AgentLink, address: str) -> HostNetwork:
    taking = server.ask("listen", address=address)
    seen: Mapping[str, float] = {}
    for line in taking.events(STREAM_S):
        if event := line.get("event"):
            sending = link.ask("send", address=address, port=int(event["port"]), token=str(event["token"]))
            try:
                seen = sending.answer(STREAM_S)
            except ProvisionError as error:
                taking.stop()
                raise ProvisionError(
                    f"{link.host.name} cannot reach {server.host.name} at {address}: {error.message}",
                    remedy="is scale_address on the load's network, and does a firewall let it pass?",
                ) from None
        elif "answer" in line:
            return HostNetwork(
                host=link.host.name,
                sent_bytes_per_s=float(line["answer"]),
                received_bytes_per_s=float(seen["received"]),
                round_trip_ms=1e3 * float(seen["round_trip_s"]),
            )
    raise ProvisionError(f"{server.host.name} did not measure the network of {link.host.name}")


ROUND_TRIPS = 50
CLOCK_ANSWER_S = 15.0
MOVED_NS = 5_000_000  # of a clock during a trial, besides the error of its measurement


@dataclass(frozen=True, kw_only=True)
class HostClock:
    offset_ns: int  # the host's clock minus this machine's
    error_ns: int  # the greatest
    round_trip_ns: int  # the fastest


@dataclass(frozen=True, kw_only=True)
class ClockSeen:
    trial_id: str
    host: str
    before: HostClock
    after: HostClock

    @property
    def moved_ns(self) -> int:
        """Beyond the errors of both measurements."""
        moved = abs(self.after.offset_ns - self.before.offset_ns)
        return max(0, moved - self.before.error_ns - self.after.error_ns)


def measure_clock(link: AgentLink) -> HostClock:
    return measure_clocks({link.host.name: link})[link.host.name]


def measure_clocks(links: Mapping[str, AgentLink]) -> dict[str, HostClock]:
    """Asks each host 50 times, all at the same time; in each round another one last, whose answer waits for no other.
    Raises ProvisionError."""
    names, trips = list(links), {name: list[tuple[int, int]]() for name in links}
    for number in range(ROUND_TRIPS):
        first = number % len(names)
        requests = {name: _request_clock(links[name]) for name in names[first:] + names[:first]}
        for name, (begun, arrived) in requests.items():
            try:
                ended, line = arrived.get(timeout=CLOCK_ANSWER_S)
            except queue.Empty:
                raise ProvisionError(f"{name} did not answer within {CLOCK_ANSWER_S:.0f} s") from None
            if "answer" not in line:
                raise error_of(line.get("error") or {}, name)
            trips[name].append((ended - begun, int(line["answer"]) - (begun + ended) // 2))
    fastest = {name: min(each) for name, each in trips.items()}
    return {
        name: HostClock(offset_ns=offset, error_ns=trip // 2 + 1, round_trip_ns=trip)
        for name, (trip, offset) in fastest.items()
    }


def _request_clock(link: AgentLink) -> tuple[int, queue.SimpleQueue[tuple[int, Line]]]:
    """When the host was asked for its clock, and where its answer arrives with the time."""
    arrived: queue.SimpleQueue[tuple[int, Line]] = queue.SimpleQueue()
    begun = time.monotonic_ns()
    link.ask("clock", on_line=lambda line: arrived.put((time.monotonic_ns(), line)))
    return begun, arrived
