"""Ends sweeps by `kill -9` at random moments; then `scale clean` and `scale resume` have to restore everything.

Real sweeps on this machine, each with a data directory and results of its own. No finished trial may be lost or
changed, and no process, file, control group or shared memory of the sweep may stay. Only what a sweep itself started is
looked for, so other sweeps on the machine do not matter.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import psutil

SCALE = os.environ.get("SCALE_COMMAND", str(Path(sys.executable).parent / "scale"))
TRIALS = 2
# Seconds that the sweep takes on a quiet machine: the moments are drawn from these.
SECONDS = {"null": 7.0, "postgres": 9.0, "influxdb": 9.0, "victoriametrics": 9.0, "questdb": 14.0}
SECONDS_OF_OTHERS = 60.0
DEADLINE_S = 600.0
RESUMED = (0, 10)  # 10: all trials are there, and none of these short ones is VALID, as on a busy machine
GONE_S = 15.0


@dataclass(frozen=True, kw_only=True)
class Kill:
    """One sweep and the moment of its end. name: what repeats it."""

    name: str
    target: str
    after_s: float


@dataclass(frozen=True, kw_only=True)
class Begun:
    """What a sweep had started and stored when it was killed. processes: PID and start time."""

    processes: frozenset[tuple[int, float]]
    trials: dict[str, bytes]
    ended: bool


def kills_of(seed: int, count: int, targets: list[str]) -> list[Kill]:
    """The kills of a seed, the targets in turn."""
    found = []
    for number in range(count):
        target = targets[number % len(targets)]
        moment = random.Random(f"{seed}:{number}").uniform(0.05, 1.0) * SECONDS.get(target, SECONDS_OF_OTHERS)
        found.append(Kill(name=f"{seed}:{number}", target=target, after_s=moment))
    return found


def faults_of(kill: Kill) -> list[str]:
    """Runs the sweep, kills it, cleans and resumes. Returns every fault, one sentence each."""
    with tempfile.TemporaryDirectory(prefix="scale-provoke-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the server does not run as root
        data_dir = folder / "data"
        data_dir.mkdir()
        begun = _killed(kill, folder)
        faults = _cleaned(folder, begun)
        faults += _resumed(folder, begun)
        return faults


def _scale(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end. One that is not done in time is asked to end, so that it removes what it made; its
    exit code is then 130, and the fault names it."""
    with subprocess.Popen([SCALE, *words], cwd=folder, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            out, err = process.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, err = process.communicate(timeout=DEADLINE_S)
            err += f"\nit was ended after {DEADLINE_S:.0f} s"
        return subprocess.CompletedProcess(words, process.returncode, out, err)


def _killed(kill: Kill, folder: Path) -> Begun:
    """Starts the sweep and kills it at its moment."""
    words = ("--cores", "1", "--target", kill.target, "--runtime", "process", "--duration", "1s", "--warmup", "0s")
    words += ("--tables", "20", "--replicates", str(TRIALS), "--window-max", "0", "--connections-check", "off", "--yes")
    words += (
        "--drift-check",
        "off",
        "--no-metrics",
        "--data-dir",
        str(folder / "data"),
        "--results",
        str(folder / "r"),
    )
    with (folder / "printed").open("wb") as printed:
        sweep = subprocess.Popen([SCALE, "sweep", "cpu", *words], cwd=folder, stdout=printed, stderr=printed)
    deadline, processes = time.monotonic() + kill.after_s, set()
    while time.monotonic() < deadline and sweep.poll() is None:
        processes |= _below(sweep.pid)
        time.sleep(0.02)
    processes |= _below(sweep.pid)
    ended = sweep.poll() is not None
    sweep.send_signal(signal.SIGKILL)
    sweep.wait()
    return Begun(processes=frozenset(processes), trials=_trials(folder), ended=ended)


def _below(pid: int) -> set[tuple[int, float]]:
    """The processes that a process has started, directly or not."""
    try:
        return {(p.pid, p.create_time()) for p in psutil.Process(pid).children(recursive=True)}
    except psutil.NoSuchProcess:
        return set()


def _trials(folder: Path) -> dict[str, bytes]:
    """The finished trials' files by path."""
    return {str(path): path.read_bytes() for path in folder.glob("r/*/trials/*/trial.json")}


def _cleaned(folder: Path, begun: Begun) -> list[str]:
    """The faults of `scale clean` after the kill."""
    done = _scale(folder, "clean", "--data-dir", str(folder / "data"))
    faults = [] if done.returncode == 0 else [f"scale clean ended with {done.returncode}: {done.stderr[-500:]}"]
    return faults + _left(folder, begun.processes, "scale clean")


def _left(folder: Path, processes: Iterable[tuple[int, float]], after: str) -> list[str]:
    """What is still there of the sweep, in words."""
    deadline = time.monotonic() + GONE_S
    while (living := [pid for pid, begun in processes if _lives(pid, begun)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    faults = [f"after {after}: process {pid} lives on" for pid in living]
    files = [path.name for path in (folder / "data").iterdir() if path.name != "programs"]
    faults += [f"after {after}: {name} is left in the data directory" for name in files]
    pids = {pid for pid, _ in processes}
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    faults += [f"after {after}: shared memory {line.split()[1]}" for line in lines if int(line.split()[4]) in pids]
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return faults + [f"after {after}: {mount} is mounted" for mount in mounts if mount.startswith(str(folder))]


def _lives(pid: int, begun: float) -> bool:
    try:
        process = psutil.Process(pid)
        return process.create_time() == begun and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _resumed(folder: Path, begun: Begun) -> list[str]:
    """The faults of `scale resume` after the kill, if a run was begun, and of `scale verify` after that."""
    runs = list(folder.glob("r/*/manifest.json"))
    if not runs:
        return ["trials without a manifest"] if begun.trials else []
    done = _scale(folder, "resume", "last", "--results", "r", "--yes", "--no-metrics")
    if done.returncode not in RESUMED:
        return [f"scale resume ended with {done.returncode}: {done.stderr[-800:]}"]
    now = _trials(folder)
    faults = [f"{path} was lost or changed" for path, content in begun.trials.items() if now.get(path) != content]
    faults += [] if len(now) == TRIALS else [f"{len(now)} of {TRIALS} trials after scale resume"]
    checked = _scale(folder, "verify", "last", "--results", "r")
    faults += (
        [] if checked.returncode == 0 else [f"scale verify ended with {checked.returncode}: {checked.stdout[-800:]}"]
    )
    return faults + _left(folder, (), "scale resume")


def main(words: list[str]) -> int:
    """The exit code: 0, or 1 if a kill lost or left something."""
    parser = argparse.ArgumentParser(prog="tools/provoke.py kills", description=__doc__)
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default="null,postgres", help="databases that this machine has, in turn")
    parser.add_argument("--jobs", type=int, default=2, help="sweeps beside each other")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no kill after this time")
    parser.add_argument("--only", type=int, help="the kill of this number alone")
    asked = parser.parse_args(words)
    if shutil.which(SCALE) is None:
        parser.error(f"{SCALE} is missing; SCALE_COMMAND names another")
    kills = kills_of(asked.seed, asked.count, asked.targets.split(","))
    kills = kills if asked.only is None else [kills[asked.only]]
    begun, failed, done = time.monotonic(), 0, 0

    def tried(kill: Kill) -> list[str] | None:
        return faults_of(kill) if time.monotonic() - begun < asked.minutes * 60 else None

    with ThreadPoolExecutor(asked.jobs) as threads:
        for kill, faults in zip(kills, threads.map(tried, kills), strict=True):
            if faults is None:
                continue
            done += 1
            print(
                f"{'FAILED' if faults else 'ok'} {kill.name}: {kill.target}, killed after {kill.after_s:.1f} s",
                flush=True,
            )
            failed += bool(faults)
            for fault in faults:
                print(f"  {fault}", flush=True)
            if faults:
                number = kill.name.partition(":")[2]
                given = f"--count {asked.count} --seed {asked.seed} --targets {asked.targets} --only {number}"
                print(f"  again: python tools/provoke.py kills {given}", flush=True)
    print(f"{done} kills, {failed} failed, {time.monotonic() - begun:.0f} s", flush=True)
    return min(failed, 1)
