"""The seam of a fleet: an engine reaches hosts, and runs a whole sweep on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scale_sweep.base.errors import UsageError
from scale_sweep.base.registry import Registry
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.measure.executing.place import Place
from scale_sweep.model.declared import Sweep
from scale_sweep.model.planned import Finding
from scale_sweep.plan.preparing.prepared import Prepared

Say = Callable[[str], None]
Campaign = Callable[["HereRun"], Path]


@dataclass(frozen=True, kw_only=True)
class FleetHost:
    """A host that a sweep can run on."""

    name: str
    host: Host
    machine: str  # the same text for two names of one machine; "" if it is not known


@dataclass(frozen=True, kw_only=True)
class HereRun:
    """A run whose trials are elsewhere, and which is stored by this process."""

    host: str
    place: Place
    prepared: Prepared
    fleet: Mapping[str, object]
    before_trial: Callable[[], None]  # before each trial; it may wait
    say: Say


@dataclass(frozen=True, kw_only=True)
class FleetOrder:
    """The sweep for every host."""

    # what, flags: as the user wrote them, the flags by key
    what: str
    flags: Mapping[str, str | list[str]]
    results: Path
    fleet: Mapping[str, object]  # of the manifest, the same for all runs
    insecure_network: bool
    resolve: Callable[[Host], Sweep]  # the sweep on a host with these facts
    campaign: Campaign  # executes a run that this process stores, and returns its directory


@dataclass(frozen=True, kw_only=True)
class Announced:
    """The plan of a run, before it starts."""

    sentences: tuple[str, ...]  # for people
    findings: tuple[Finding, ...]
    seconds: float  # estimated
    trials: int  # their number

    @property
    def trial_s(self) -> float:
        return self.seconds / max(1, self.trials)


class Task(Protocol):
    """One whole run on one host. It has been planned and checked there."""

    @property
    def host(self) -> str: ...
    @property
    def announced(self) -> Announced: ...

    def start(self, say: Say) -> None:
        """Begins the run. say: called with each line of its progress, from any thread."""

    def has_ended(self) -> bool: ...

    def finished_run(self) -> Path:
        """The directory of the run, after its end. Raises ScaleError if it did not come to its end."""

    def stop(self) -> None:
        """Requests the end, from any thread. A second request hurries."""


class Fleet(Protocol):
    """The hosts of an engine, reached, in its order; the first is the base of comparisons."""

    @property
    def hosts(self) -> tuple[FleetHost, ...]: ...

    def tasks(self, order: FleetOrder) -> Sequence[Task]:
        """A task for each host, planned and checked, not started. Raises UsageError or PreflightError that names the
        host."""


class Engine(Protocol):
    """A module. opened: reaches the hosts of an address until the end of the block. Raises UsageError."""

    def opened(self, address: str, say: Say) -> AbstractContextManager[Fleet]: ...


ENGINES = Registry(
    "scale_sweep.engines",
    {"": "scale_sweep.fleet.each_server", "tls": "scale_sweep.fleet.cluster", "tcp": "scale_sweep.fleet.cluster"},
)


def engine_of(address: str) -> Engine:
    """The engine for an address. Raises UsageError that lists the known schemes."""
    scheme, is_named, _ = address.partition("://")
    name = scheme if is_named else ""
    if name not in ENGINES:
        known = ", ".join(f"{one}://" for one in ENGINES.names() if one)
        raise UsageError(f"--cluster {address}: {name}:// is none of {known}", remedy="like tls://HOST:8786")
    engine: Engine = ENGINES.load(name)
    return engine
