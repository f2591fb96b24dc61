"""A server that already runs: only loaded and observed."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from contextlib import ExitStack

import psutil

from scale_sweep.model.resources import CORES, DISKS, MEMORY, Accounting, ServerOrder, Site, SiteRequest
from scale_sweep.server.runtimes import Capabilities, Obstacle, Server

CAN = Capabilities(
    gives=frozenset(),
    is_local=False,
    owns_server=False,
    has_images=False,
    why_not={
        CORES: "a server that already runs is never pinned",
        MEMORY: "a server that already runs keeps the memory that it has",
        DISKS: "the files of a server that already runs are not moved",
    },
)


def obstacle(image: str) -> Obstacle | None:
    return None


def phrase(place: str) -> str:
    return f"at {place}, which already runs: neither pinned nor stopped"


def site(wanted: SiteRequest) -> Site:
    host, _, number = wanted.endpoint.rpartition(":")
    return Site(data_dir="", port=int(number), bind_address=host, home=wanted.home)


def start(order: ServerOrder, cleanup: ExitStack) -> EndpointServer:
    return EndpointServer(order.site.bind_address, order.site.port)


class EndpointServer(Server):
    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._roots = listeners(host, port)

    def alive(self) -> bool:
        """True if its process cannot be seen: then only the database knows."""
        return not self._roots or any(psutil.pid_exists(pid) for pid in self._roots)

    def accounting(self) -> Accounting | None:
        return Accounting(kind="processes", root_pids=self._roots) if self._roots else None

    def pids(self) -> tuple[int, ...]:
        return self._roots

    def facts(self) -> Mapping[str, str]:
        return {"endpoint": f"{self.host}:{self.port}", "pids": " ".join(map(str, self._roots))}


def listeners(host: str, port: int) -> tuple[int, ...]:
    """Processes that are bound to an address of this name, else to all addresses."""
    addresses = own_addresses(host)
    try:
        listening = [
            c for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.laddr.port == port and c.pid
        ]
    except psutil.AccessDenied:
        return ()
    bound = {c.pid for c in listening if plain(c.laddr.ip) in addresses}
    to_all = {c.pid for c in listening if addresses and ipaddress.ip_address(c.laddr.ip).is_unspecified}
    return tuple(sorted(bound or to_all))


def own_addresses(host: str) -> frozenset[str]:
    """Those that are this machine's: the kernel binds a socket to no other."""
    try:
        resolved = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return frozenset()
    return frozenset(plain(str(address[0])) for family, _, _, _, address in resolved if _is_own(family, address))


def _is_own(family: int, address: object) -> bool:
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(address)  # type: ignore[arg-type]
        except OSError:
            return False
    return True


def plain(address: str) -> str:
    """Without a zone, and as IPv4 if IPv6 wraps it."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped or parsed)
