"""The stores of KairosDB's points: the interface that the two datastores fill. Refuses to know either of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scale_sweep.model import Finding, Site, Trial
from scale_sweep.server.targets.records import Address


@dataclass(frozen=True, kw_only=True)
class KairosdbStart:
    """The files and the command that start KairosDB."""

    items: Mapping[str, str]  # of kairosdb.conf, without its prefix, as they are written
    argv: tuple[str, ...]  # of the whole server
    files: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()


class Store(ABC):
    """One datastore. name: of the knob `datastore`. acknowledged, compression: for the terms of a trial. is_queued:
    KairosDB acknowledges points that it stores later."""

    name = ""
    acknowledged = ""
    compression = ""
    is_queued = False

    def settings(self, trial: Trial) -> Mapping[str, str]:
        """The store's settings besides KairosDB's own, by names of the trial's knobs."""
        return {}

    def check(self) -> tuple[Finding, ...]:
        """Whether it can be started on this machine."""
        return ()

    def programs(self) -> tuple[str, ...]:
        """As in Target, of what is started beside KairosDB."""
        return ()

    def image_folders(self) -> Mapping[str, str]:
        """As in Target, of what is started beside KairosDB."""
        return {}

    @abstractmethod
    def started(self, site: Site, root: str, kairosdb: Sequence[str], settings: Mapping[str, str]) -> KairosdbStart:
        """root: of KairosDB's files. kairosdb: its command."""

    def not_ready(self, address: Address, within_s: float) -> str:
        """Why KairosDB cannot start yet; "" if it can."""
        return ""

    def effective(self, address: Address, within_s: float) -> Mapping[str, str]:
        """Its own report of `settings`."""
        return {}

    def commit_cycles(self, address: Address, within_s: float) -> int | None:
        """As in Session."""
        return None

    def flush(self, address: Address, store_point: Callable[[], None], within_s: float) -> None:
        return


def is_item(name: str) -> bool:
    """Whether a knob is an item of the datastore's own configuration, not of kairosdb.conf."""
    return name.startswith("cassandra.")
