"""What a runtime can do, as data, and why it cannot be used on this machine. Refuses to name a runtime.

Other packages ask for what they need (a server with pinned CPUs, one whose files they may move) and not for a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.model import ServerSource


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """One runtime's.

    pins_cpus: the server runs on the CPUs of its order and on no others, and says so when asked.
    limits_memory: it gets no more memory than its order says.
    is_local: it runs on this machine, so that its files, its processes and the user it runs as are here.
    owns_server: it starts a server for each trial and stops it; else somebody else's server is loaded.
    has_images: servers come from images, and so does the client library (`copy_out`).
    places_disks: it gives a server directories on the disks that it is told.
    why_not: why it cannot do one of these, as a clause, by its name.
    """

    pins_cpus: bool
    limits_memory: bool
    is_local: bool
    owns_server: bool
    has_images: bool
    places_disks: bool
    why_not: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> ServerSource:
        """What it needs to be given: an address, an image, or else an installation."""
        if not self.owns_server:
            return ServerSource.ENDPOINT
        return ServerSource.IMAGE if self.has_images else ServerSource.INSTALLATION


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """Why a runtime cannot run a server here. installing_helps: an installed server would do instead."""

    sentence: str
    remedy: str
    installing_helps: bool = True
