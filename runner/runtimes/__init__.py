"""Runtimes: where a server runs. They know Docker, processes and cgroups, and no database.

A module is an implementation (the Protocol below), registered by its name. A runtime leaves nothing behind: whatever it
creates is named after the run, `Server.stop` undoes it, and `clean` removes what a power cut left.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from runner.errors import UsageError
from runner.model import Accounting, ServerOrder, Site, SiteRequest
from runner.registry import Registry
from runner.runtimes.capabilities import Capabilities, Obstacle


class Server(Protocol):
    """One server. `stop` is safe to call twice and at any moment, and Ctrl-C waits until it is done."""

    host: str
    port: int
    network_namespace: str
    """Path of the server's own network namespace, where the load generator needs no proxy; "" for the host's."""

    def alive(self) -> bool: ...
    def accounting(self) -> Accounting | None: ...
    def pids(self) -> tuple[int, ...]:
        """Host PIDs of every process of the server, its children included."""

    def cpus_allowed(self) -> tuple[int, ...]:
        """Union of the CPUs that the kernel allows to any thread of any of its processes: the proof of the pinning.

        Cheap, and may be asked again at any time: threads that began or moved since are seen. Empty when nothing of it
        lives, and for a server that is not ours.
        """

    def log_tail(self, lines: int) -> str: ...
    def facts(self) -> Mapping[str, str]:
        """What the manifest keeps: image digest, container id, user, cgroup."""

    def stop(self) -> None: ...


class Runtime(Protocol):
    """Where servers run, as a module."""

    CAN: Capabilities

    def obstacle(self, image: str) -> Obstacle | None:
        """Why no server can be run here, None when one can. image: "" where it needs none."""

    def phrase(self, place: str) -> str:
        """How its servers run, for a sentence. place: the image, the address, or how the installation was found."""

    def site(self, wanted: SiteRequest) -> Site:
        """Reserves a fresh data directory and a port (a free one when port is None), and a directory on each disk.
        Whoever asks for it removes the directories (`remove_directories`)."""

    def start(self, order: ServerOrder, cleanup: ExitStack) -> Server:
        """Runs the setup and starts the server; `cleanup` stops it, be it half started. Raises ProvisionError."""

    def copy_out(self, image: str, path: str, folder: Path) -> Path:
        """Only where it has images: a file of the image, copied into `folder` once. Raises ProvisionError."""


RUNTIMES = Registry(
    "scale.runtimes",
    {
        "process": "runner.runtimes.process",
        "docker": "runner.runtimes.docker",
        "endpoint": "runner.runtimes.endpoint",
    },
)


def load_runtime(name: str) -> Runtime:
    """The module of a runtime. Raises UsageError that lists the known ones."""
    if name not in RUNTIMES:
        raise UsageError(f"--runtime: {name!r} is not one of auto, {', '.join(RUNTIMES.names())}")
    try:
        found: Runtime = RUNTIMES.load(name)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"runtime {name}: the package that registers it cannot be used: {error}", remedy="correct or remove it"
        ) from None
    return found
