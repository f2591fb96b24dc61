"""Servers that are not here: files in which simulated servers count their work. They need no CPUs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from scale_sweep.model.resources import CORES, Accounting, ServerOrder, Site, SiteRequest
from scale_sweep.server.runtimes import Capabilities, Obstacle, Server
from scale_sweep.server.runtimes.local import fresh_directories, remove_directories

CAN = Capabilities(gives=frozenset({CORES}), is_local=True, owns_server=True, has_images=False, simulates=True)


def obstacle(image: str) -> Obstacle | None:
    return None


def phrase(place: str) -> str:
    return f"simulated: no database, and no CPUs ({place})"


def site(wanted: SiteRequest) -> Site:
    data_dir, disks = fresh_directories(wanted)
    return Site(data_dir=data_dir, port=0, bind_address=wanted.address, disks=disks, address=wanted.address)


def start(order: ServerOrder, cleanup: ExitStack) -> SimulatedServer:
    server = SimulatedServer(order)
    cleanup.callback(server.stop)
    return server


class SimulatedServer(Server):
    def __init__(self, order: ServerOrder) -> None:
        self._order = order
        self.host, self.port = order.site.address, order.site.port

    def alive(self) -> bool:
        return True

    def accounting(self) -> Accounting | None:
        return Accounting(kind="counts", paths={"counts": self._order.spec.counts})

    def pids(self) -> tuple[int, ...]:
        return ()

    def facts(self) -> Mapping[str, str]:
        return {"simulated": "no CPU of a machine was used; the CPU time is that of sleeping servers"}

    def stop(self) -> None:
        remove_directories(self._order.site)
