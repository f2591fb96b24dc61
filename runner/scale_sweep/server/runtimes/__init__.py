"""Runtimes: where a server runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import Registry
from scale_sweep.base.texts import not_one_of
from scale_sweep.model.resources import Accounting, ServerOrder, ServerSource, Site, SiteRequest
from scale_sweep.server.runtimes.cgroup import OutOfMemory


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    gives: frozenset[str]  # quantities of `Resources.amounts` that its servers get exactly, and no more
    is_local: bool  # its servers, with files and processes, are on this machine
    owns_server: bool  # it starts a server for each trial; else it loads somebody else's
    has_images: bool  # of servers and client libraries (`copy_out`)
    simulates: bool = False  # its servers are not here: they only count their work
    why_not: Mapping[str, str] = field(default_factory=dict)  # a clause, by quantity

    @property
    def source(self) -> ServerSource:
        if self.simulates:
            return ServerSource.SIMULATION
        if not self.owns_server:
            return ServerSource.ENDPOINT
        return ServerSource.IMAGE if self.has_images else ServerSource.INSTALLATION


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    sentence: str
    remedy: str
    installing_helps: bool = True  # an installed server would help
    lacks_image: bool = False  # only the image is missing
    is_elsewhere: bool = False  # its servers would be on another machine


class Server(Protocol):
    """`stop` may be called twice and at any time. Ctrl-C waits until it has finished. Defaults are of a server that is
    not ours."""

    host: str
    port: int
    network_namespace: str = ""  # a path, by which the load generator passes no proxy; "": the host's

    def alive(self) -> bool: ...
    def accounting(self) -> Accounting | None: ...
    def pids(self) -> tuple[int, ...]:
        """Host PIDs, with children."""

    def cpus_allowed(self) -> tuple[int, ...]:
        """CPUs of any thread, as proof of the pinning."""
        return ()

    def log_tail(self, lines: int) -> str:
        return ""

    def out_of_memory(self) -> OutOfMemory:
        """Also after its end."""
        return OutOfMemory()

    def exit_code(self) -> int | None:
        """Below 0 a signal. None if it lives or is not seen."""
        return None

    def facts(self) -> Mapping[str, str]:
        """For the manifest."""

    def shut_down(self, within_s: float) -> bool:
        """By `ServerSpec.clean_stop_signal`; its files stay until `stop`. Whether it ended by itself in time."""
        return False

    def stop(self) -> None:
        return


class Runtime(Protocol):
    CAN: Capabilities

    def obstacle(self, image: str) -> Obstacle | None:
        """image: "" if it needs none."""

    def phrase(self, place: str) -> str:
        """place: the image, the address, or the source of the installation."""

    def site(self, wanted: SiteRequest) -> Site:
        """Reserves fresh directories, also on each disk, and a port."""

    def start(self, order: ServerOrder, cleanup: ExitStack) -> Server:
        """`cleanup` stops it, also one that has half started. Raises ProvisionError."""

    def copy_out(self, image: str, path: str) -> Path:
        """A file of the image, copied once. Raises ProvisionError."""


RUNTIMES = Registry(
    "scale_sweep.runtimes",
    {
        "process": "scale_sweep.server.runtimes.process",
        "docker": "scale_sweep.server.runtimes.docker",
        "endpoint": "scale_sweep.server.runtimes.endpoint",
        "simulated": "scale_sweep.server.runtimes.simulated",
    },
)


def load_runtime(name: str) -> Runtime:
    """Raises UsageError that lists the known ones."""
    if name not in RUNTIMES:
        raise UsageError(f"--runtime: {not_one_of(name, ('auto', *RUNTIMES.names()))}")
    try:
        runtime: Runtime = RUNTIMES.load(name)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"runtime {name}: the package that registers it cannot be used: {error}", remedy="correct or remove it"
        ) from None
    return runtime
