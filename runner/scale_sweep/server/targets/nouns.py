"""Values passed between a target and the packages that use it. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.model import Counted as Counted

# The environment variables with the login of a server that is not ours. Without a user it is the target's own.
ENDPOINT_USER, ENDPOINT_PASSWORD = "SCALE_TARGET_USER", "SCALE_TARGET_PASSWORD"

# Names in the settings that a session reads back: where a request's rows are when it is acknowledged, and how they are
# stored. Reports of several databases show them as conditions.
ACKNOWLEDGED, COMPRESSION = "acknowledged", "compression"
NOWHERE = "never: nothing is acknowledged"
IN_MEMORY, IN_LOG, ON_DISK = "in memory", "in the log, not yet on disk", "on disk (log fsynced)"
IN_FILES = "in files, not yet on disk"  # of a database without a log


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A server found on this machine: its home (holding bin/ and lib/), version, and where it was found: "--home",
    "PATH" and the like."""

    home: str
    version: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a session connects: the server's loopback address, and the secret made for this trial."""

    host: str
    port: int
    secret: str
    home: str = ""
    data_dir: str = ""  # the trial's directory as the controller sees it; "" for a server that is not ours
    # started for this trial. Otherwise only the trial's own database may be changed, and the secret is the user's (""
    # for the database's default)
    is_ours: bool = True
    # disks, disk_placement: as in the trial's Site
    disks: tuple[str, ...] = ()
    disk_placement: str = ""
    # it was started on the files of another server of this run, which have its tables and the secret
    holds_data: bool = False
    # user, database: chosen on a server that is not ours, if its facts say that they can be; "": the target's own
    user: str = ""
    database: str = ""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The machine against which a trial is checked before anything starts."""

    memory_bytes: int
    free_bytes: int  # on the data's disk
    explicit: frozenset[str] = frozenset()  # keys of the settings that the user gave, by flag or in the sweep's file


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of the database on one disk: a vnode, a partition."""

    name: str
    path: str  # one of its files or directories as the controller sees it
    disk: int | None  # the intended disk, an index into Site.disks; None: the server chose
