"""The capabilities of a runtime as data, and why it cannot be used on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model import ServerSource


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The capabilities of one runtime."""

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
        """Requirement of a runtime: an address, an image, or an installation."""
        if not self.owns_server:
            return ServerSource.ENDPOINT
        return ServerSource.IMAGE if self.has_images else ServerSource.INSTALLATION


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """Why a runtime cannot run a server here."""

    sentence: str
    remedy: str
    installing_helps: bool = True  # an installed server would help
    lacks_image: bool = False  # only the image is missing, which the target may have to be built for
