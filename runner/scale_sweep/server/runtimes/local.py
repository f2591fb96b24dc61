"""Steps of both local runtimes: directories, ports, files, ends of logs, allowed CPUs."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import random
import secrets
import socket
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred
from scale_sweep.machine.host.processes import OPEN_FILES_REMEDY, is_open_files_error, open_files_sentence
from scale_sweep.machine.host.server_user import rights_of, server_user
from scale_sweep.machine.state.places import make_ready
from scale_sweep.machine.state.records import Record, read_record, record_of, remove_recorded, save
from scale_sweep.machine.state.trusted import write_own
from scale_sweep.model.resources import LOOPBACK, ServerOrder, ServerSpec, Site, SiteRequest
from scale_sweep.server.runtimes import Server
from scale_sweep.server.runtimes.cgroup import OutOfMemory, out_of_memory_words
from scale_sweep.server.runtimes.data_dir import make_below_own, tried
from scale_sweep.server.runtimes.processes import has_left

UNPRIVILEGED_USER = "nobody"
CONSOLE = "console.log"  # in the data directory
PORTS_FROM, SERVER_PORTS, PORT_TRIES = 11_000, 16, 100


class LocalServer(Server):
    def __init__(self, order: ServerOrder) -> None:
        self._order, self._spec, self._site = order, order.spec, order.site
        self._trees = (self._site.data_dir, *self._site.disks)
        self._record: Record = record_of(os.path.basename(self._site.data_dir), self._trees)
        self._out_of_memory = OutOfMemory()
        self._user = server_user(needs_root=bool(self._spec.needs_root))
        self._uid = self._user.pw_uid if self._user else os.geteuid()
        self.host, self.port = self._site.address, self._site.port

    def cpus_allowed(self) -> tuple[int, ...]:
        return allowed_cpus(self.pids())

    def _why_ended(self) -> str:
        killed = out_of_memory_words(self.out_of_memory(), self._order.resources.memory_bytes, self._order.level)
        return killed or " | ".join(self.log_tail(5).splitlines())


def fresh_directories(wanted: SiteRequest) -> tuple[str, tuple[str, ...]]:
    """For the data, and one on each disk. Raises ProvisionError, PreflightError."""
    name = f"{wanted.run_id[-6:]}-{wanted.trial_id}-{secrets.token_hex(4)}"
    fresh = f"{wanted.data_dir}/{name}"
    disks = tuple(f"{disk}/{name}" for disk in wanted.disks)
    where, remedy = f"in {wanted.data_dir}", "--data-dir DIR"
    try:
        make_ready(Path(wanted.data_dir))
        save(record_of(name, (fresh, *disks)))  # before there is anything to find
        make_below_own(Path(fresh), 0o700)
        for path in disks:
            where, remedy = f"on the disk at {os.path.dirname(path)}", "--dir DIR"
            make_below_own(Path(path), 0o700)
    except OSError as error:
        remove_recorded(name)
        raise ProvisionError(f"no data directory {where}: {error.strerror}", remedy=remedy) from None
    save(record_of(name, (fresh, *disks)))
    return fresh, disks


def remove_directories(site: Site) -> None:
    """All stays while a process of the server is left."""
    if not site.data_dir:
        return
    name = os.path.basename(site.data_dir)
    with deferred():
        record = read_record(name)
        if record is not None and not has_left(record):
            remove_recorded(name)


def lay_out(spec: ServerSpec, trees: Sequence[str], user: pwd.struct_passwd | None) -> None:
    """The trees become the user's, and files are made with his rights. Raises ProvisionError."""
    try:
        if user is not None:
            for tree in trees:
                os.chown(tree, user.pw_uid, user.pw_gid, follow_symlinks=False)
        with rights_of(user):
            _create(spec)
    except OSError as error:
        by = f" by {user.pw_name}, as whom the server runs" if user is not None else ""
        what = f"{error.filename} cannot be made{by}: {error.strerror}"
        raise ProvisionError(what, remedy="--data-dir DIR") from None


def _create(spec: ServerSpec) -> None:
    for folder in spec.folders:
        Path(folder).mkdir(parents=True, exist_ok=True)
    for link, where in spec.links.items():
        Path(link).parent.mkdir(parents=True, exist_ok=True)
        Path(link).symlink_to(where)
    for name, text in spec.files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # of an earlier server
        write_own(path, text)


def open_log(path: Path, user: pwd.struct_passwd | None) -> BinaryIO:
    """With the user's rights; he need not reach its folder."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with rights_of(user):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            return open(os.open(path.name, flags, 0o600, dir_fd=folder), "ab")
    finally:
        os.close(folder)


def free_port(address: str = LOOPBACK) -> int:
    """The first of SERVER_PORTS in a row, below those of outgoing connections. Raises ProvisionError."""
    for _ in range(PORT_TRIES):
        first = random.randrange(PORTS_FROM, _ephemeral_ports() - SERVER_PORTS)
        try:
            with contextlib.ExitStack() as held:
                for port in range(first, first + SERVER_PORTS):
                    held.enter_context(socket.socket()).bind((address, port))
                return first
        except OSError as error:  # somebody listens there
            if is_open_files_error(error):
                raise ProvisionError(open_files_sentence(error), remedy=OPEN_FILES_REMEDY) from None
    raise ProvisionError(f"no {SERVER_PORTS} free TCP ports in a row on {address}", remedy="--port PORT")


def _ephemeral_ports() -> int:
    try:
        ports = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="utf-8").split()
        return max(PORTS_FROM + 1000, int(ports[0]))
    except (OSError, ValueError):
        return 32768


def allowed_cpus(pids: Sequence[int]) -> tuple[int, ...]:
    """/proc/PID/task/TID/status would take fifty times as long."""
    cpus: set[int] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(ProcessLookupError):
                    cpus |= os.sched_getaffinity(int(thread))
    return tuple(sorted(cpus))


def tail(paths: Sequence[Path], lines: int, owner: int | None = None) -> str:
    """owner: files of others are left out, because a server may have linked them."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # not to wait for a pipe
    parts = []
    for path in paths:
        with contextlib.suppress(OSError), open(os.open(path, flags), "rb") as file:
            seen = os.fstat(file.fileno())
            if stat.S_ISREG(seen.st_mode) and owner in (None, seen.st_uid):
                size = 400 * lines
                file.seek(max(0, seen.st_size - size))
                parts += file.read(size).decode("utf-8", "replace").splitlines()[-lines:]
    return "\n".join(parts)


_TRY_S = 10.0
_ENTER = 'mount -t tmpfs -o nosuid,nodev,mode=1777 scale /dev/shm && exec "$@"'
_THEN = ("--ipc", "--mount", "/bin/sh", "-c", _ENTER, "scale-memory")
_NO_RIGHTS = ("setpriv", "--inh-caps=-all", "--ambient-caps=-all")
# A user who is not root may mount in a user namespace.
WAYS: Sequence[Sequence[str]] = (
    ("unshare", *_THEN),
    ("unshare", "--user", "--map-current-user", "--keep-caps", *_THEN, *_NO_RIGHTS),
)


@functools.cache
def with_own_memory() -> tuple[str, ...]:
    """Words before a command that give it its own /dev/shm; empty if this user may not."""
    if not os.path.isdir("/dev/shm"):
        return ()
    ways = WAYS[:1] if os.geteuid() == 0 else WAYS  # in a user namespace root could not become the server's user
    return next((tuple(way) for way in ways if not tried(_TRY_S, *way, "true").returncode), ())
