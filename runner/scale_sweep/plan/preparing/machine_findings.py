"""Findings that this machine would stop a sweep or distort its figures: directories, space, port, other programs."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.experiment.work import takes_fixed_work
from scale_sweep.machine.host import Host
from scale_sweep.machine.host.block_devices import RamDirectory, shortage
from scale_sweep.machine.host.processes import OPEN_FILES_REMEDY, open_files_limit, other_cores
from scale_sweep.machine.state import check, check_nearest, folder_path, other_sweeps
from scale_sweep.model import Finding, NewPages, Plan, Trial
from scale_sweep.server.runtimes.stacks import profile_obstacle

FREE_BYTES_MIN = 2 * 10**9
LOAD_BUSY_SHARE = 0.3  # of a CPU: other programs slow some trials
USED_SHARE = 0.05  # of the CPUs that other programs use now: less, and the load was this program's own
LOAD_TOO_BUSY_SHARE = 0.5  # and here nearly all
OPEN_FILES_MIN = 256  # of a server, a load generator or this program, besides connections


def existing(path: Path) -> Path:
    return next(p for p in (path, *path.absolute().parents) if os.path.exists(p))  # a name that is too long does not


def writable_data(data_dir: Path) -> list[Finding]:
    """A finding if data cannot be written there. `trusted` has that of the default directory, which is of the state."""
    return [] if data_dir.is_relative_to(folder_path("")) else writable("--data-dir", data_dir)


def writable(flag: str, path: Path) -> list[Finding]:
    """A finding if results or data cannot be written there."""
    there = existing(path)
    if os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK) and not os.statvfs(there).f_flag & os.ST_RDONLY:
        return []
    what = "is not a directory" if not there.is_dir() else "is not writable"
    return [
        Finding(blocking=True, subject=flag, sentence=f"{there} {what}", remedy=f"give another directory with {flag}")
    ]


def results_folder(path: Path) -> list[Finding]:
    """A finding if another user can change the directory of the runs, or runs cannot be written there."""
    try:
        check_nearest(path, of_sudo=True)
    except PreflightError as error:
        return [Finding(blocking=True, subject="--results", sentence=error.message, remedy=error.remedy)]
    return writable("--results", path)


def missing(wanted_dir: str, data_dir: Path) -> list[Finding]:
    """A finding if a given name does not exist, because it may be a typing error. The default directory ("") is made
    silently."""
    if not wanted_dir or os.path.exists(data_dir):
        return []
    who = "root" if os.geteuid() == 0 else "this user"
    return [
        Finding(
            blocking=False,
            subject="--data-dir",
            sentence=f"{data_dir} is not there: {who} makes it for the run, and removes it afterwards",
            remedy="correct --data-dir if another directory was meant",
        )
    ]


def trusted(data_dir: Path) -> list[Finding]:
    """A finding if scale cannot keep its state, or if another user can change that or the data directory."""
    try:
        check(data_dir)
    except PreflightError as error:
        return [Finding(blocking=True, subject="state", sentence=error.message, remedy=error.remedy)]
    return []


def on_disk(wanted_dir: str, data_dir: Path) -> list[Finding]:
    return [*missing(wanted_dir, data_dir), *room(data_dir)]


def in_memory(directory: RamDirectory) -> list[Finding]:
    if lacking := shortage(directory):
        return [
            Finding(
                blocking=True,
                subject="--data-dir",
                sentence=lacking,
                remedy="give less, like --data-dir ram:1GiB, or a directory on a disk",
            )
        ]
    return [Finding(blocking=False, subject="--data-dir", sentence=directory.sentence)]


def free(data_dir: Path) -> int:
    """Bytes free at the directory, which need not exist yet."""
    return shutil.disk_usage(existing(data_dir)).free


def room(data_dir: Path) -> list[Finding]:
    there = free(data_dir)
    if there >= FREE_BYTES_MIN:
        return []
    return [
        Finding(
            blocking=True,
            subject="--data-dir",
            sentence=f"{data_dir} has {there / 1e9:.1f} GB free, a trial needs {FREE_BYTES_MIN / 1e9:.0f} GB",
            remedy="free some space, or choose another disk with --data-dir",
        )
    ]


def few_open_files(trials: Iterable[Trial]) -> list[Finding]:
    """A finding if this user's programs may not open as many files as the trials need."""
    connections = max((trial.work.connections(trial.load.connections) for trial in trials), default=0)
    least, there = OPEN_FILES_MIN + connections, open_files_limit()
    if there >= least:
        return []
    return [
        Finding(
            blocking=True,
            subject="machine",
            sentence=f"a program may have {there} files open (ulimit -n), and this sweep needs {least}: "
            f"{OPEN_FILES_MIN}, and one for each connection",
            remedy=OPEN_FILES_REMEDY,
        )
    ]


def profiling(wanted: bool) -> list[Finding]:
    """A finding if the server's stacks cannot be recorded, and profiling was requested."""
    obstacle = profile_obstacle() if wanted else None
    if obstacle is None:
        return []
    return [Finding(blocking=True, subject="--profile", sentence=obstacle.sentence, remedy=obstacle.remedy)]


def interfaces(names: Iterable[str], net: Path = Path("/sys/class/net")) -> list[Finding]:
    """A finding for each interface that was given a speed and does not exist."""
    there = sorted(one.name for one in net.iterdir()) if net.is_dir() else []
    return [
        Finding(
            blocking=True,
            subject="--network-speed",
            sentence=f"this machine has no network interface {name}",
            remedy=f"it has {', '.join(there)}" if there else "leave it out",
        )
        for name in names
        if name not in there
    ]


def port_free(port: int | None) -> list[Finding]:
    """A finding if a server cannot listen on this port. None: a free one is taken later."""
    if port is None:
        return []
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return [
                Finding(
                    blocking=True,
                    subject="--port",
                    sentence=f"port {port} on 127.0.0.1 cannot be used: {error.strerror}",
                    remedy="choose another with --port, or leave it out: a free one is taken",
                )
            ]
    return []


def dear_pages(plan: Plan, pages: NewPages | None, held_bytes: int) -> list[Finding]:
    """A finding about new memory pages, if they are dear: a server pays for all that it writes, unless its memory is
    held or the plan writes less, of which a note of the plan informs. scale doctor shows the cost in any case."""
    writes_less = plan.sweep.origin.get("load.rows") == "host"
    if pages is None or not pages.are_dear or held_bytes or writes_less:
        return []
    flag = "--rows" if takes_fixed_work(plan.sweep.load, plan.sweep.work) else "--duration"
    remedy = f"write less in a trial ({flag}): a level that writes more than that looks slower than it is"
    return [Finding(blocking=False, subject="memory", sentence=pages.sentence, remedy=remedy)]


def beside() -> list[Finding]:
    """A finding for each other sweep on this machine: both measure what the other leaves."""
    remedy = "wait until it ends"
    return [
        Finding(blocking=False, subject="machine", sentence=f"another sweep of `scale` runs: {one}", remedy=remedy)
        for one in other_sweeps()
    ]


def idle(host: Host) -> list[Finding]:
    """A finding if the CPUs were busy within the last minute, and other programs use them now."""
    cpus = max(1, len(host.allowed))
    busy = os.getloadavg()[0] / cpus
    if busy <= LOAD_BUSY_SHARE:
        return []
    used = other_cores(host.allowed)
    if used is not None and used <= USED_SHARE * cpus:
        return []
    effect, remedy = "the figures will be lower and noisier", "stop them, or raise --replicates"
    if busy > LOAD_TOO_BUSY_SHARE:
        effect, remedy = "while they run, trials may be rejected", "stop them, or wait until they end"
    return [
        Finding(
            blocking=False,
            subject="machine",
            sentence=f"other programs run: load average is {busy:.1f} per CPU; {effect}",
            remedy=remedy,
        )
    ]
