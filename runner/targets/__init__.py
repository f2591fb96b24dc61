"""Targets: what a database wants. They know a database, and no Docker, no processes and no timing.

A module is an implementation (the Protocol below, and TARGETS). A target says how its server is started, what schema
the workload needs, how the truth is read back; when and where is not its business. A session never sleeps or retries:
it answers once, and the trial decides how long to wait.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from runner.errors import UsageError
from runner.loadgen.foreign import ForeignCommand
from runner.model import Counted as Counted
from runner.model import Finding, ResourceRange, Rule, ServerSpec, Site, Trial

ENDPOINT_PASSWORD = "SCALE_TARGET_PASSWORD"  # the environment's name for the password of a server that is not ours


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A server found on this machine: its home (holding bin/ and lib/), version and how it was found."""

    home: str
    version: str
    found: str


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a session connects: the server's loopback address, and the secret made for this trial alone.

    data_dir: the trial's directory, as this side sees it; "" for a server that is not ours.
    disks, disk_placement: as in the trial's Site.
    is_ours: started for this trial; else nothing of it may be changed but the trial's own database, and the secret is
    the user's ("" for the database's default).
    """

    host: str
    port: int
    secret: str
    home: str = ""
    data_dir: str = ""
    is_ours: bool = True
    disks: tuple[str, ...] = ()
    disk_placement: str = ""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a trial is checked against before anything starts. free_bytes: on the data's disk.

    explicit: keys of the settings that the user gave, by flag or in the sweep's file.
    """

    memory_bytes: int
    free_bytes: int
    explicit: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of the database that lies on one disk: a vnode, a partition.

    path: a file or directory of it, as this side sees it. disk: where it was to be, an index into Site.disks; None:
    the server chose.
    """

    name: str
    path: str
    disk: int | None


class Session(Protocol):
    """One control connection to a running server. Raises TargetError with the server's words."""

    def not_ready(self) -> str:
        """Why the server cannot be loaded yet; "" when it can. Never waits."""

    def version(self) -> str: ...
    def create_schema(self) -> None:
        """Database and partitions for the trial; nothing of it is on the clock."""

    def schema_pending(self) -> str:
        """Why the schema cannot be written to yet; "" when it can. Never waits."""

    def create_tables(self) -> None:
        """The tables of the workload, where the database wants them made one by one."""

    def expected(self) -> Mapping[str, str]:
        """What `effective` must say for the trial's number to count, by the same names."""

    def effective(self) -> Mapping[str, str]:
        """What the server says its settings are, read back after the schema is there."""

    def parts(self) -> tuple[Part, ...]:
        """Where the parts of the database really are, read back; empty where they are not placed on disks."""

    def load_spec(self) -> Mapping[str, str]:
        """The part of the load core's spec that only the target knows: driver, method, address, table names."""

    def genuine_load(self) -> ForeignCommand:
        """The database's own load generator on this trial. Raises TargetError where it has none."""

    def commit_cycles(self) -> int | None:
        """How many commits (checkpoints, flushes) the server has finished; None: it does not say."""

    def flush(self) -> None:
        """Returns when everything acknowledged is on disk."""

    def count(self) -> Counted | None:
        """Rows by the database's own count, and table by table; None: it keeps none (the null target)."""

    def drop_schema(self) -> None:
        """Removes what create_schema made, on a server that is not ours."""

    def close(self) -> None: ...


class Target(Protocol):
    """A database, as a module."""

    NAME: str
    RUNTIMES: tuple[str, ...]
    METHODS: tuple[str, ...]
    KNOBS: tuple[str, ...]
    ANY_KNOB: bool
    ROWS_PER_REQUEST: int
    ROWS_PER_CORE_S: float
    """A rough rate of one core, only to estimate how long fixed work takes."""
    OVERHEAD_S: float
    """What a trial takes besides its load (start, tables, flush, count, stop), roughly, for the same use."""
    REFUSES_ROOT: bool
    THREAD_NAMES: bool
    THREADS_PER_PROCESS: int
    """How many threads of one load process the client library serves well; 0: any number."""
    LOADERS: tuple[str, ...]
    DISK_PLACEMENTS: tuple[str, ...]
    """How its data can be put on several disks, best first; empty: it has none."""
    WAL_DISKS: tuple[str, ...]
    """Where its write-ahead log can go in a disk sweep, the default first."""
    IMAGE_LIBRARY: str
    """The client library's path in the image, taken out for the load core; "": the load core finds its own."""

    def default_knobs(self, given: ResourceRange) -> Mapping[str, Rule]: ...
    def default_image(self, version: str) -> str: ...
    def image_home(self) -> str: ...
    def find(self, home: str) -> Installation | None: ...
    def what_to_install(self) -> str: ...
    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Everything that decides performance and will be set for the trial, derived items included.

        is_ours: started for the trial; of a server that runs already, only what the trial's own database is given.
        """

    def reserves(self, trial: Trial, memory_bytes: int) -> Mapping[str, str]:
        """What the trial takes of the server's own limits, for the plan; empty where it has none."""

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """What the server would refuse or silently change."""

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """What the server installed at home says against the trial's settings, asked without starting it."""

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        """Whether the client library is there and fits; home: where it is looked for first. Connects to nothing."""

    def check_endpoint(self, address: Address, trials: Sequence[Trial]) -> tuple[Finding, ...]:
        """Whether a server that already runs lets us in, and has room for what each trial asks."""

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec: ...
    def session(self, trial: Trial, address: Address) -> Session: ...
    def suspicious(self, log: str) -> tuple[str, ...]:
        """Lines of the server's log that make a trial's number doubtful."""


TARGETS: Mapping[str, str] = {
    "tdengine": "runner.targets.tdengine",
    "null": "runner.targets.null",
    "postgres": "runner.targets.postgres",
}


def load_target(name: str) -> Target:
    """The module of a target. Raises UsageError that lists the known ones."""
    if name not in TARGETS:
        raise UsageError(f"--target: {name!r} is not one of auto, {', '.join(TARGETS)}")
    return importlib.import_module(TARGETS[name])  # type: ignore[return-value]
