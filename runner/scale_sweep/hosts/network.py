"""Measures the network between each load host and the server's: round trip, and a stream in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from scale_sweep.base.errors import ProvisionError
from scale_sweep.hosts.inventory import Inventory
from scale_sweep.hosts.link import AgentLink
from scale_sweep.model import HostNetwork

STREAM_S = 60.0


def networks(inventory: Inventory, links: Mapping[str, AgentLink]) -> tuple[HostNetwork, ...]:
    """The network of every host, the server's first. Raises ProvisionError that names the host."""
    server, address = links[inventory.server.name], inventory.server.address
    load = [links[host.name] for host in inventory.load]
    alone = [_path(link, server, address) for link in load]
    together = _together(load, server, address) if len(load) > 1 else []
    own = HostNetwork(
        host=inventory.server.name,
        sent_bytes_per_s=sum(path.from_server for path in together) or None,
        received_bytes_per_s=sum(path.to_server for path in together) or None,
    )
    return own, *(path.network(link.host.name) for path, link in zip(alone, load, strict=True))


@dataclass(frozen=True, kw_only=True)
class _Path:
    """Bytes per second to and from the server's host, and the round trip."""

    to_server: float
    from_server: float
    round_trip_s: float

    def network(self, host: str) -> HostNetwork:
        return HostNetwork(
            host=host,
            sent_bytes_per_s=self.to_server,
            received_bytes_per_s=self.from_server,
            round_trip_ms=1e3 * self.round_trip_s,
        )


def _together(load: Sequence[AgentLink], server: AgentLink, address: str) -> list[_Path]:
    with ThreadPoolExecutor(max_workers=len(load)) as pool:
        return list(pool.map(lambda link: _path(link, server, address), load))


def _path(link: AgentLink, server: AgentLink, address: str) -> _Path:
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
            return _Path(
                to_server=float(line["answer"]),
                from_server=float(seen["received"]),
                round_trip_s=float(seen["round_trip_s"]),
            )
    raise ProvisionError(f"{server.host.name} did not measure the network of {link.host.name}")
