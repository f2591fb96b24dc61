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
from scale_sweep.model import Accounting, ServerOrder, ServerSource, Site, SiteRequest
from scale_sweep.server.runtimes.cgroup import OutOfMemory


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    # the quantities of `Resources.amounts` that its servers get exactly: of cores the CPUs of the placement and no
    # others, of disks a directory on each, of memory no more
    gives: frozenset[str]
    is_local: bool  # the server runs on this machine, with its files, processes and user
    owns_server: bool  # the runtime starts a server for each trial and stops it; else it loads somebody else's server
    has_images: bool  # servers come from images, and so does the client library (`copy_out`)
    # why it does not give a quantity, as a clause, by the quantity
    why_not: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> ServerSource:
        if not self.owns_server:
            return ServerSource.ENDPOINT
        return ServerSource.IMAGE if self.has_images else ServerSource.INSTALLATION


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    sentence: str
    remedy: str
    installing_helps: bool = True  # an installed server would help
    lacks_image: bool = False  # only the image is missing, which the target may have to be built for


class Server(Protocol):
    """`stop` may be called twice and at any time. Ctrl-C waits until it has finished."""

    host: str
    port: int
    network_namespace: str
    """The path of the server's own network namespace, where the load generator reaches it without a proxy; "" for the
    host's."""

    def alive(self) -> bool: ...
    def accounting(self) -> Accounting | None: ...
    def pids(self) -> tuple[int, ...]:
        """Host PIDs, with children."""

    def cpus_allowed(self) -> tuple[int, ...]:
        """CPUs of any thread of its processes, which prove the pinning. Empty for a server that is not ours."""

    def log_tail(self, lines: int) -> str: ...
    def out_of_memory(self) -> OutOfMemory:
        """Processes that the kernel killed for want of memory, also after its end."""

    def exit_code(self) -> int | None:
        """Below 0 the number of a signal. None if it lives or is not seen."""

    def facts(self) -> Mapping[str, str]:
        """For the manifest."""

    def shut_down(self, within_s: float) -> bool:
        """Ends it by `ServerSpec.clean_stop_signal`; its files stay until `stop`. Whether it ended by itself in
        time."""

    def stop(self) -> None: ...


class Runtime(Protocol):
    """Modules implement it."""

    CAN: Capabilities

    def obstacle(self, image: str) -> Obstacle | None:
        """None if a server can run here. image: "" if it needs none."""

    def phrase(self, place: str) -> str:
        """For a sentence. place: the image, the address, or how the installation was found."""

    def site(self, wanted: SiteRequest) -> Site:
        """Reserves a fresh data directory, a port, and a directory on each disk, for `remove_directories`."""

    def start(self, order: ServerOrder, cleanup: ExitStack) -> Server:
        """`cleanup` stops it, even if it has only half started. Raises ProvisionError."""

    def copy_out(self, image: str, path: str) -> Path:
        """Copies a file of the image, once. Raises ProvisionError."""


RUNTIMES = Registry(
    "scale_sweep.runtimes",
    {
        "process": "scale_sweep.server.runtimes.process",
        "docker": "scale_sweep.server.runtimes.docker",
        "endpoint": "scale_sweep.server.runtimes.endpoint",
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
