"""Servers: what a target wants started, and where their CPU time is read. In no runtime's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from runner.model.planned import Placement


class ServerSource(StrEnum):
    """Where a trial's server comes from. INSTALLATION: programs of this machine, or of wherever the runtime runs them.
    IMAGE: an image of a container. ENDPOINT: it runs already, and is somebody else's."""

    INSTALLATION = "installation"
    IMAGE = "image"
    ENDPOINT = "endpoint"


@dataclass(frozen=True, kw_only=True)
class SiteRequest:
    """What a trial needs of a runtime before its server is described. port None: a free one. endpoint: host:port of a
    server that runs already, else empty. disks: mount points that the server gets a directory on."""

    run_id: str
    trial_id: str
    data_dir: str
    home: str
    port: int | None = None
    endpoint: str = ""
    disks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where a server will live, told to the target so that it can write commands: paths are as the server sees them.

    disks: a directory of the trial's own on each disk that the server is given, from d1 on; empty where the data lie
    in data_dir. disk_placement, wal_disk: how the data and the write-ahead log are spread over them.
    """

    data_dir: str
    port: int
    bind_address: str
    home: str = ""
    disks: tuple[str, ...] = ()
    disk_placement: str = ""
    wal_disk: str = ""


@dataclass(frozen=True, kw_only=True)
class ServerSpec:
    """What a target wants started, in no runtime's terms. Paths are as the server sees them (Site).

    folders, links (path → where it leads), files (path → text): made in this order before anything runs; all paths are
    absolute. setup: commands run to the end, one after the other, before argv.
    refuses_root: the server will not run as root. log_paths: files worth keeping, besides standard output.
    ports: every TCP port that the server listens on. stop_signal goes to the process with this name (stop_process,
    empty: the first one).
    """

    argv: tuple[str, ...]
    setup: tuple[tuple[str, ...], ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    image: str = ""
    hostname: str = ""
    refuses_root: bool = False
    log_paths: tuple[str, ...] = ()
    stop_signal: str = "SIGTERM"
    stop_process: str = ""
    stop_timeout_s: float = 60.0


@dataclass(frozen=True, kw_only=True)
class ServerOrder:
    """What a runtime starts, where, on which CPUs, with how much memory (None: all), for which trial."""

    spec: ServerSpec
    site: Site
    placement: Placement
    memory_bytes: int | None
    run_id: str
    trial_id: str


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """Where a subject's CPU and memory are read: cgroup directories by controller, or a process tree.

    kind "cgroup1": paths has "cpuacct", "memory" and perhaps "cpu"; "cgroup2": paths has "unified";
    "processes": root_pids and all their descendants.
    """

    kind: Literal["cgroup1", "cgroup2", "processes"]
    paths: Mapping[str, str] = field(default_factory=dict)
    root_pids: tuple[int, ...] = ()
