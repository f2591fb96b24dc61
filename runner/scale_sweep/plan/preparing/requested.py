"""The part of a subject that the user requests, and which requests contradict each other."""

from __future__ import annotations

from typing import Protocol

from scale_sweep.base.errors import UsageError
from scale_sweep.model import ServerSource
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.sweep.vary import SUBJECT_FIELDS

ANY = "auto"


class RequestedServer(Protocol):
    """A database, its runtime, and its version or build. "auto" and "" leave the choice open."""

    @property
    def target(self) -> str: ...
    @property
    def runtime(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def image(self) -> str: ...
    @property
    def home(self) -> str: ...
    @property
    def endpoint(self) -> str: ...


def subject_key(asked: RequestedServer) -> str:
    """Equal for trials that are measured on the same server."""
    return "|".join(getattr(asked, name) for name in SUBJECT_FIELDS)


def source_of(runtime: str) -> ServerSource | None:
    """What a runtime starts its server from; None for `auto`. Raises UsageError for an unknown runtime."""
    return None if runtime == ANY else load_runtime(runtime).CAN.source


def refuse_two_places(asked: RequestedServer) -> None:
    """Raises UsageError if more than one source of the server is given: endpoint, image, installation.

    With --endpoint, --home is the directory of the client library.
    """
    wanted = source_of(asked.runtime)
    runs = bool(asked.endpoint) or wanted is ServerSource.ENDPOINT
    given = {
        ServerSource.ENDPOINT: "--endpoint" if asked.endpoint else "",
        ServerSource.IMAGE: "--image" if asked.image else "",
        ServerSource.INSTALLATION: "--home" if asked.home and not runs else "",
    }
    flags = [flag or (f"--runtime {asked.runtime}" if source is wanted else "") for source, flag in given.items()]
    flags = [flag for flag in flags if flag]
    if len(flags) > 1:
        raise UsageError(
            f"{' and '.join(flags)}: a server either runs already, or is in an image, or is installed",
            remedy="leave out one of the two",
        )
    if wanted is ServerSource.ENDPOINT and not asked.endpoint:
        raise UsageError(f"--runtime {asked.runtime}: where does the server run?", remedy="give --endpoint HOST:PORT")
