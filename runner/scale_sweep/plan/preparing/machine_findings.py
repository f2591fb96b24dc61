"""Findings that this machine would stop a sweep or distort its figures: directories, space, port, other programs."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path

from scale_sweep.base.errors import PreflightError
from scale_sweep.experiment.work import takes_fixed_work
from scale_sweep.machine.host.block_devices import RamDirectory, shortage
from scale_sweep.machine.host.disturbing import disk_obstacle
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.machine.host.processes import OPEN_FILES_REMEDY, USED_SHARE, open_files_limit, other_cores
from scale_sweep.machine.sampling.programs import OtherPrograms
from scale_sweep.machine.state.places import check, check_nearest, folder_path
from scale_sweep.machine.state.runs import other_sweeps
from scale_sweep.model.planned import Finding, Plan, Trial
from scale_sweep.model.resources import NewPages
from scale_sweep.server.runtimes.stacks import profile_obstacle

FREE_BYTES_MIN = 2 * 10**9
LOAD_BUSY_SHARE = 0.3  # of a CPU: other programs slow some trials
LOAD_TOO_BUSY_SHARE = 0.5  # and here nearly all
OPEN_FILES_MIN = 256  # of a server, a load generator or this program, besides connections


def stop(subject: str, sentence: str, remedy: str) -> Finding:
    return Finding(blocking=True, subject=subject, sentence=sentence, remedy=remedy)


def caution(subject: str, sentence: str, remedy: str = "") -> Finding:
    return Finding(blocking=False, subject=subject, sentence=sentence, remedy=remedy)


def existing(path: Path) -> Path:
    return next(p for p in (path, *path.absolute().parents) if os.path.exists(p))  # a name that is too long does not


def writable_data(data_dir: Path) -> list[Finding]:
    return [] if data_dir.is_relative_to(folder_path("")) else writable("--data-dir", data_dir)


def writable(flag: str, path: Path) -> list[Finding]:
    there = existing(path)
    if os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK) and not os.statvfs(there).f_flag & os.ST_RDONLY:
        return []
    what = "is not a directory" if not there.is_dir() else "is not writable"
    return [stop(flag, f"{there} {what}", f"give another directory with {flag}")]


def results_folder(path: Path) -> list[Finding]:
    try:
        check_nearest(path, of_sudo=True)
    except PreflightError as error:
        return [stop("--results", error.message, error.remedy)]
    return writable("--results", path)


def trusted(data_dir: Path) -> list[Finding]:
    try:
        check(data_dir)
    except PreflightError as error:
        return [stop("state", error.message, error.remedy)]
    return []


def on_disk(wanted_dir: str, data_dir: Path) -> list[Finding]:
    """A name that does not exist may be a typing error; "", the default, is made silently."""
    findings = []
    if wanted_dir and not os.path.exists(data_dir):
        who = "root" if os.geteuid() == 0 else "this user"
        sentence = f"{data_dir} is not there: {who} makes it for the run, and removes it afterwards"
        findings.append(caution("--data-dir", sentence, "correct --data-dir if another directory was meant"))
    there = free(data_dir)
    if there < FREE_BYTES_MIN:
        sentence = f"{data_dir} has {there / 1e9:.1f} GB free, a trial needs {FREE_BYTES_MIN / 1e9:.0f} GB"
        findings.append(stop("--data-dir", sentence, "free some space, or choose another disk with --data-dir"))
    return findings


def in_memory(directory: RamDirectory) -> list[Finding]:
    if lacking := shortage(directory):
        return [stop("--data-dir", lacking, "give less, like --data-dir ram:1GiB, or a directory on a disk")]
    return [caution("--data-dir", directory.sentence)]


def free(data_dir: Path) -> int:
    return shutil.disk_usage(existing(data_dir)).free


def few_open_files(trials: Iterable[Trial]) -> list[Finding]:
    connections = max((trial.work.connections(trial.load.connections) for trial in trials), default=0)
    least, there = OPEN_FILES_MIN + connections, open_files_limit()
    if there >= least:
        return []
    sentence = (
        f"a program may have {there} files open (ulimit -n), and this sweep needs {least}: {OPEN_FILES_MIN}, and one "
        "for each connection"
    )
    return [stop("machine", sentence, OPEN_FILES_REMEDY)]


def profiling(wanted: bool) -> list[Finding]:
    obstacle = profile_obstacle() if wanted else None
    return [] if obstacle is None else [stop("--profile", obstacle.sentence, obstacle.remedy)]


def proving(plan: Plan, data_dir: Path, *, in_memory: bool) -> list[Finding]:
    """Disks that the sweep prepares can be disturbed."""
    if plan.sweep.disks is not None or not any("disk" in trial.disturbed for trial in plan.trials):
        return []
    why = "the data is in memory, not on a disk" if in_memory else disk_obstacle(str(existing(data_dir)))
    remedy = "leave out disk, or give a --data-dir on a disk"
    refusal = Finding(blocking=True, subject="--prove disk", sentence=why, remedy=remedy, is_input=True)
    return [refusal] if why else []


def interfaces(names: Iterable[str], net: Path = Path("/sys/class/net")) -> list[Finding]:
    there = sorted(one.name for one in net.iterdir()) if net.is_dir() else []
    remedy = f"it has {', '.join(there)}" if there else "leave it out"
    absent = [name for name in names if name not in there]
    return [stop("--network-speed", f"this machine has no network interface {name}", remedy) for name in absent]


def port_free(port: int | None) -> list[Finding]:
    """None: a free port is taken later."""
    if port is None:
        return []
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            sentence = f"port {port} on 127.0.0.1 cannot be used: {error.strerror}"
            return [stop("--port", sentence, "choose another with --port, or leave it out: a free one is taken")]
    return []


def dear_pages(plan: Plan, pages: NewPages | None, held_bytes: int) -> list[Finding]:
    """Unless the server's memory is held or the plan writes less."""
    writes_less = plan.sweep.origin.get("load.rows") == "host"
    if pages is None or not pages.are_dear or held_bytes or writes_less:
        return []
    flag = "--rows" if takes_fixed_work(plan.sweep.load, plan.sweep.work) else "--duration"
    remedy = f"write less in a trial ({flag}): a level that writes more than that looks slower than it is"
    return [caution("memory", pages.sentence, remedy)]


def beside() -> list[Finding]:
    return [caution("machine", f"another sweep of `scale` runs: {one}", "wait until it ends") for one in other_sweeps()]


def idle(host: Host) -> list[Finding]:
    """If the CPUs were busy, and other programs use them now."""
    cpus = max(1, len(host.allowed))
    busy = os.getloadavg()[0] / cpus
    if busy <= LOAD_BUSY_SHARE:
        return []
    programs, used = OtherPrograms(), other_cores(host.allowed)
    if used is not None and used <= USED_SHARE * cpus:
        return []
    named = f" ({', '.join(busiest)})" if (busiest := programs.busiest(host.allowed)) else ""
    effect, remedy = "the figures will be lower and noisier", "stop them, or raise --replicates"
    if busy > LOAD_TOO_BUSY_SHARE:
        effect = "while they run, trials may be rejected"
        remedy = "stop them, or scale sweep --wait-quiet 5m, which lets each trial wait for quiet"
    return [caution("machine", f"other programs run{named}: load average is {busy:.1f} per CPU; {effect}", remedy)]
