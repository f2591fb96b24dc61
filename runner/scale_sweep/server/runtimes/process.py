"""Servers as processes, on their own CPUs, in their own control group if that is permitted.

A shell line joins the group, gives up root and sets the parent-death signal before the program runs, so that no process
of the server is ever elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred
from scale_sweep.base.spawning import spawn
from scale_sweep.machine.host.block_devices import is_shared
from scale_sweep.machine.host.processes import started_ticks
from scale_sweep.machine.host.server_user import as_user, privileges, refuse_unexecutable
from scale_sweep.machine.state.copies import reachable
from scale_sweep.machine.state.records import SERVER_VARIABLE, save
from scale_sweep.model.resources import CORES, DISKS, Accounting, ServerOrder, Site, SiteRequest
from scale_sweep.server.runtimes import Capabilities, Obstacle
from scale_sweep.server.runtimes.cgroup import LIMITS, Group, OutOfMemory, make_group, read_out_of_memory
from scale_sweep.server.runtimes.local import (
    CONSOLE,
    LocalServer,
    free_port,
    fresh_directories,
    lay_out,
    open_log,
    remove_directories,
    tail,
    with_own_memory,
)
from scale_sweep.server.runtimes.processes import Processes, remove_segments, remove_shared, send, wait_until

CAN = Capabilities(gives=frozenset({CORES, DISKS, *LIMITS}), is_local=True, owns_server=True, has_images=False)
SETUP_S = 120.0
COMPANIONS_S = 5.0
KILL_S = 30.0  # a slow disk may keep a killed process in the kernel
HURRY_S = 1.0  # after a second Ctrl-C
LAUNCH_S = 10.0  # to join the group and to give up root
_LAUNCH = 'read go || exit 125; for f in $1; do echo 0 > "$f" || exit 125; done; shift; exec "$@" </dev/null'


def obstacle(image: str) -> Obstacle | None:
    return None


def phrase(place: str) -> str:
    return f"as a process ({place})"


def site(wanted: SiteRequest) -> Site:
    home, *programs = (reachable(path) for path in (wanted.home, *wanted.programs))
    data_dir, disks = fresh_directories(wanted)
    return Site(
        data_dir=data_dir,
        port=wanted.port or free_port(wanted.address),
        bind_address=wanted.address,
        home=home,
        disks=disks,
        copies=dict(zip(wanted.programs, programs, strict=True)),
        address=wanted.address,
    )


def start(order: ServerOrder, cleanup: ExitStack) -> ProcessServer:
    server = ProcessServer(order)
    cleanup.callback(server.stop)
    server.launch()
    return server


class ProcessServer(LocalServer):
    def __init__(self, order: ServerOrder) -> None:
        super().__init__(order)
        self._group: Group | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._processes = Processes(self.pids)
        self._log = Path(self._site.data_dir, CONSOLE)

    def launch(self) -> None:
        save(self._record)
        with deferred():
            self._group = make_group(f"scale-{self._record.name}", self._order.resources)
            if self._group is not None:
                self._record = replace(self._record, cgroup_paths=tuple(self._group.paths.values()))
                save(self._record)
        lay_out(self._spec, self._trees, self._user)
        for command in self._spec.setup:
            self._run_setup(command)
        process = self._run(self._spec.argv)
        wait_until(lambda: process.poll() is not None or _is_launched(process.pid), LAUNCH_S)

    def _command(self, argv: Sequence[str], before: Sequence[str]) -> list[str]:
        joins = " ".join(self._group.procs_files) if self._group is not None else ""
        return ["/bin/sh", "-c", _LAUNCH, "scale-launch", joins, *before, *as_user(self._user), *argv]

    def _run(self, argv: Sequence[str], before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """`stop` and `scale clean` know only the last one."""
        refuse_unexecutable(argv[0], self._user)
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": self._site.data_dir, **self._spec.env}
        environment[SERVER_VARIABLE] = self._record.name
        with deferred(), open_log(self._log, self._user) as log, _gate() as (entry, opener):
            process = self._process = spawn(
                self._command(argv, before),
                self._order.resources.placement.server_cpus,
                stdin=entry,
                stdout=log,
                stderr=log,
                cwd=self._site.data_dir,
                env=environment,
                start_new_session=True,
            )
            self._record = replace(self._record, server_pid=process.pid, server_started=started_ticks(process.pid))
            save(self._record)
            os.write(opener, b"\n")  # not before the record, by which others find what it makes
        return process

    def _run_setup(self, command: Sequence[str]) -> None:
        own = () if is_shared(Path(self._site.data_dir)) else with_own_memory()  # the mount would hide the data
        process = self._run(command, own)
        try:
            code = process.wait(timeout=SETUP_S)
        except subprocess.TimeoutExpired:
            raise ProvisionError(f"{Path(command[0]).name} did not end within {SETUP_S:.0f} s") from None
        if code != 0:
            raise ProvisionError(f"{Path(command[0]).name} ended with code {code}: {self._why_ended()}")

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def accounting(self) -> Accounting | None:
        if self._group is not None:
            return self._group.accounting()
        return Accounting(kind="processes", root_pids=(self._process.pid,)) if self._process else None

    def pids(self) -> tuple[int, ...]:
        if self._group is not None:
            return self._group.pids()
        if self._process is None:
            return ()
        try:
            root = psutil.Process(self._process.pid)
            return (root.pid, *(child.pid for child in root.children(recursive=True)))
        except psutil.NoSuchProcess:
            return ()

    def log_tail(self, lines: int) -> str:
        return tail([self._log, *map(Path, self._spec.log_paths)], lines, self._uid)

    def out_of_memory(self) -> OutOfMemory:
        if self._group is not None and (seen := read_out_of_memory(self._group.paths)).killed:
            self._out_of_memory = seen
        return self._out_of_memory

    def exit_code(self) -> int | None:
        return self._process.poll() if self._process is not None else None

    def facts(self) -> Mapping[str, str]:
        held = privileges(self.pids(), self._spec.needs_root)
        return {**held, "cgroup": " ".join(self._record.cgroup_paths), "data_dir": self._site.data_dir}

    def shut_down(self, within_s: float) -> bool:
        with deferred() as hurry:
            ended = self._ask_to_end(hurry, self._spec.clean_stop_signal or self._spec.stop_signal, within_s)
            self._end(hurry)
            self._group = self._process = None
        return ended

    def stop(self) -> None:
        """A second Ctrl-C skips the clean shutdown."""
        with deferred() as hurry:
            self._ask_to_end(hurry, self._spec.stop_signal, self._spec.stop_timeout_s)
            self._end(hurry)
            remove_directories(self._site)

    def _end(self, hurry: Callable[[], bool]) -> None:
        """A process that does not die keeps its group and its record, for `scale clean`."""
        is_gone = self._processes.kill(lambda: HURRY_S if hurry() else KILL_S)
        if self._process is not None:
            self._process.poll()
        remove_segments(self._record.server_pid, self._record.server_started)
        remove_shared(self._processes.shared, self._uid, self._record.server_started)
        self.out_of_memory()  # the group takes its counts with it
        if self._group is not None and is_gone:
            self._group.remove()

    def _ask_to_end(self, hurry: Callable[[], bool], number: str, within_s: float) -> bool:
        if not self.alive():
            return False
        first = self._first(self.pids())
        send(first, signal.Signals[number])
        wait_until(lambda: hurry() or not self.alive() or not psutil.pid_exists(first), within_s)
        ended = not self.alive() or not psutil.pid_exists(first)
        self._processes.send(signal.SIGTERM)
        wait_until(lambda: hurry() or not self._processes.left(), COMPANIONS_S)
        return ended

    def _first(self, pids: Sequence[int]) -> int:
        assert self._process is not None
        named = [p for p in pids if self._spec.stop_process and _comm(p) == self._spec.stop_process]
        return named[0] if named else self._process.pid


def _comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


@contextlib.contextmanager
def _gate() -> Iterator[tuple[int, int]]:
    """A launch waits at the first end for a line of the second, and ends if this process does."""
    entry, opener = os.pipe()
    try:
        yield entry, opener
    finally:
        os.close(entry)
        os.close(opener)


def _is_launched(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return True
    return words[0] != b"setpriv" and b"scale-launch" not in words[:4]
