"""What a runtime can do, as data, and why it cannot be used on this machine. Refuses to name a runtime.

Other packages check for a capability (pinned CPUs, movable files) and never for a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model import ServerSource


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The capabilities of one runtime.

    pins_cpus: the server runs on the CPUs of its order and on no others, and reports its CPUs. limits_memory: the
    server gets no more memory than its order says. is_local: it runs on this machine, with its files, processes and
    user. owns_server: the runtime starts a server for each trial and stops it; else it loads somebody else's server.
    has_images: servers come from images, and so does the client library (`copy_out`). places_disks: it gives a server
    directories on the given disks. why_not: why it lacks a capability, as a clause, by the capability's name.
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
        """What it needs: an address, an image, or an installation."""
        if not self.owns_server:
            return ServerSource.ENDPOINT
        return ServerSource.IMAGE if self.has_images else ServerSource.INSTALLATION


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """Why a runtime cannot run a server here. installing_helps: an installed server would help."""

    sentence: str
    remedy: str
    installing_helps: bool = True
