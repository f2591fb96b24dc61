"""Operations of all local runtimes on this machine: fresh directories, ports, files, ends of logs, allowed CPUs."""

from __future__ import annotations

import contextlib
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
from scale_sweep.machine.host import open_files
from scale_sweep.machine.host.server_user import rights_of
from scale_sweep.machine.state import make_ready, read_record, ready, record_of, remove_recorded, save, write_own
from scale_sweep.model import LOOPBACK, ServerSpec, Site, SiteRequest
from scale_sweep.server.runtimes.processes import has_left

UNPRIVILEGED_USER = "nobody"
CONSOLE = "console.log"  # what a server prints, in its data directory
PORTS_FROM, SERVER_PORTS, PORT_TRIES = 11_000, 16, 100


def fresh_directories(wanted: SiteRequest) -> tuple[str, tuple[str, ...]]:
    """A new, empty directory named after run and trial, and one of that name on each disk, with a record of their own,
    so that `scale clean` finds them if the run is killed. Raises ProvisionError, and PreflightError for a folder that
    another user can change."""
    name = f"{wanted.run_id[-6:]}-{wanted.trial_id}-{secrets.token_hex(4)}"
    fresh = f"{wanted.data_dir}/{name}"
    disks = tuple(f"{disk}/{name}" for disk in wanted.disks)
    try:
        make_ready(Path(wanted.data_dir))
        save(record_of(name, (fresh, *disks)))  # before there is anything to find
        _make(fresh, 0o700)
    except OSError as error:
        remove_recorded(name)
        reason = f"no data directory in {wanted.data_dir}: {error.strerror}"
        raise ProvisionError(reason, remedy="--data-dir DIR") from None
    for path in disks:
        try:
            _make(path, 0o700)
        except OSError as error:
            remove_recorded(name)
            reason = f"no data directory on the disk at {os.path.dirname(path)}: {error.strerror}"
            raise ProvisionError(reason, remedy="--dir DIR") from None
    save(record_of(name, (fresh, *disks)))
    return fresh, disks


def _make(path: str, mode: int) -> None:
    parent, name = os.path.split(path)
    at = ready(Path(parent))
    try:
        os.mkdir(name, mode, dir_fd=at)
    finally:
        os.close(at)


def remove_directories(site: Site) -> None:
    """Removes a server's directories with their contents, and then their record. An endpoint's site has none of ours.

    Everything stays while a process of the server is left, for `scale clean`.
    """
    if not site.data_dir:
        return
    name = os.path.basename(site.data_dir)
    with deferred():
        record = read_record(name)
        if record is not None and not has_left(record):
            remove_recorded(name)


def lay_out(spec: ServerSpec, trees: Sequence[str], user: pwd.struct_passwd | None) -> None:
    """Gives the trees to the user, then creates the spec's folders, links and files in them with the user's rights.

    The user alone may read the files. Raises ProvisionError.
    """
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
        path.unlink(missing_ok=True)  # of a server that had this directory before
        write_own(path, text)


def open_log(path: Path, user: pwd.struct_passwd | None) -> BinaryIO:
    """Opens a server's log with the user's rights, to write at its end; the user need not reach its folder."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with rights_of(user):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            return open(os.open(path.name, flags, 0o600, dir_fd=folder), "ab")
    finally:
        os.close(folder)


def free_port(address: str = LOOPBACK) -> int:
    """The first of SERVER_PORTS consecutive TCP ports of an address of this machine that nobody listens on now, for a
    server with several ports.

    It is below the ports that the kernel gives to outgoing connections, so that none of those takes it before the
    server does. Raises ProvisionError if there are no such ports, or too many open files to look for them.
    """
    for _ in range(PORT_TRIES):
        first = random.randrange(PORTS_FROM, _ephemeral_ports() - SERVER_PORTS)
        try:
            with contextlib.ExitStack() as held:
                for port in range(first, first + SERVER_PORTS):
                    held.enter_context(socket.socket()).bind((address, port))
                return first
        except OSError as error:  # somebody listens there
            if open_files.is_reached(error):
                raise ProvisionError(open_files.reached_words(error), remedy=open_files.REMEDY) from None
    raise ProvisionError(f"no {SERVER_PORTS} free TCP ports in a row on {address}", remedy="--port PORT")


def _ephemeral_ports() -> int:
    try:
        ports = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="utf-8").split()
        return max(PORTS_FROM + 1000, int(ports[0]))
    except (OSError, ValueError):
        return 32768


def allowed_cpus(pids: Sequence[int]) -> tuple[int, ...]:
    """The union of the CPUs on which any thread of the processes may run. Threads that end meanwhile are skipped.

    It makes one system call for each thread. Reading /proc/PID/task/TID/status would take fifty times as long, which
    matters for a server with hundreds of threads.
    """
    cpus: set[int] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(ProcessLookupError):
                    cpus |= os.sched_getaffinity(int(thread))
    return tuple(sorted(cpus))


def tail(paths: Sequence[Path], lines: int, owner: int | None = None) -> str:
    """The last lines of each file that exists. owner: of the files; what is another user's is left out, because a
    server may have linked it there."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe of the server's must not hold us up
    parts = []
    for path in paths:
        with (
            contextlib.suppress(OSError),
            open(os.open(path, flags), "rb") as file,
        ):
            seen = os.fstat(file.fileno())
            if stat.S_ISREG(seen.st_mode) and owner in (None, seen.st_uid):
                size = 400 * lines
                file.seek(max(0, seen.st_size - size))
                parts += file.read(size).decode("utf-8", "replace").splitlines()[-lines:]
    return "\n".join(parts)
