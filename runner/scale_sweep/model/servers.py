"""Servers: how a target wants them started, and where their CPU time is read. In no runtime's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from scale_sweep.model.resources import Resources

LOOPBACK = "127.0.0.1"


class ServerSource(StrEnum):
    """The source of a trial's server. INSTALLATION: programs of this machine, or of the runtime's machine. IMAGE: a
    container's image. ENDPOINT: a server that runs already and belongs to somebody else."""

    INSTALLATION = "installation"
    IMAGE = "image"
    ENDPOINT = "endpoint"


@dataclass(frozen=True, kw_only=True)
class SiteRequest:
    """The needs of a trial before its server is described."""

    run_id: str
    trial_id: str
    data_dir: str
    home: str
    port: int | None = None  # None means a free one
    endpoint: str = ""  # host:port of a server that runs already, else empty
    disks: tuple[str, ...] = ()  # mount points on which the server gets a directory
    programs: tuple[str, ...] = ()  # folders and files outside its home that the server runs or loads
    address: str = LOOPBACK  # of this machine, on which the server is reached


@dataclass(frozen=True, kw_only=True)
class Site:
    """The place of a server, so that the target can write commands. Paths are as the server sees them."""

    data_dir: str
    port: int
    bind_address: str
    home: str = ""
    # a directory of the trial on each of the server's disks, from d1 on; empty if the data is in data_dir
    disks: tuple[str, ...] = ()
    # disk_placement, wal_disk: how the data and the write-ahead log are distributed over the disks
    disk_placement: str = ""
    wal_disk: str = ""
    # of those requested programs that the server's user may not reach, by their own paths
    copies: Mapping[str, str] = field(default_factory=dict)
    in_image: bool = False  # the server's programs are those of a container's image, at the paths that its vendor chose
    address: str = LOOPBACK  # on which it is reached

    def reachable(self, program: str) -> str:
        """A requested program, or its copy if the server's user may not reach it."""
        return self.copies.get(program, program)


@dataclass(frozen=True, kw_only=True)
class ServerSpec:
    """The server that a target wants started, in no runtime's terms. Paths are as the server sees them (Site). folders,
    links (path → destination), files (path → text): created in this order before anything runs; all paths are
    absolute."""

    argv: tuple[str, ...]
    # commands that run to their end, one after the other, before argv; they make an empty database, so a server that
    # starts on existing files does not run them
    setup: tuple[tuple[str, ...], ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()  # every TCP port that the server listens on
    image: str = ""
    hostname: str = ""
    needs_root: str = ""  # why it runs as root where `scale` does; "": it does not (from the target's facts)
    log_paths: tuple[str, ...] = ()  # files to keep, besides standard output
    stop_signal: str = "SIGTERM"  # for the process with this name (stop_process; empty: the first one)
    clean_stop_signal: str = ""  # the signal if the files are to be used again; "": the same one
    stop_process: str = ""
    stop_timeout_s: float = 60.0


@dataclass(frozen=True, kw_only=True)
class ServerOrder:
    """An order to start a server for a trial, with its resources."""

    spec: ServerSpec
    site: Site
    resources: Resources
    run_id: str
    trial_id: str
    level: str = ""  # in words, for messages


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """Where to read a server's or load generator's CPU time and memory: cgroup directories by controller, or a process
    tree.

    kind "cgroup1": paths has "cpuacct", "memory" and possibly "cpu". "cgroup2": paths has "unified". "processes":
    root_pids and all their descendants.
    """

    kind: Literal["cgroup1", "cgroup2", "processes"]
    paths: Mapping[str, str] = field(default_factory=dict)
    root_pids: tuple[int, ...] = ()
