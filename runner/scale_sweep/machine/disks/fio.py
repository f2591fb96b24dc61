"""Runs fio on directories and reads its JSON. Its files have no name, so that none remains."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.spawning import run_within
from scale_sweep.machine.disks.playbook import MARK, search_path
from scale_sweep.machine.disks.sets import PREFIX

FILE_BYTES_MAX = 2**30


@dataclass(frozen=True, kw_only=True)
class Writing:
    name: str
    path: str
    block_bytes: int
    file_bytes: int
    seconds: float | None = None  # None writes the file's size once, then fsync
    direct: bool = True
    depth: int = 8
    fsync_each: bool = False
    random: bool = False


@dataclass(frozen=True, kw_only=True)
class FioRates:
    """fio's result over its own clock, final fsync included."""

    bytes_per_s: float
    writes_per_s: float


def run_fio(writings: Sequence[Writing], label: str = "") -> Mapping[str, FioRates]:
    """All jobs at the same time; results by name. Raises ProvisionError with fio's message."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(_nameless(w.path, w.file_bytes, w.fsync_each)) for w in writings]
        command = ["fio", "--output-format=json", "--thread", "--refill_buffers"]
        for writing, file in zip(writings, files, strict=True):
            command += arguments(writing, file)
        environment = {**os.environ, "PATH": search_path(), MARK: label or set_of(writings[0].path)}
        limit = 120 + 4 * max(w.seconds or 10.0 for w in writings)
        try:
            done = run_within(limit, command, pass_fds=files, env=environment)
        except FileNotFoundError:
            raise ProvisionError("fio is missing", remedy="apt-get install fio") from None
        except subprocess.TimeoutExpired:
            raise ProvisionError(f"fio did not end within {limit:.0f} s", remedy="is the disk alive?") from None
    return parse(done.stdout, done.stderr)


def set_of(path: str) -> str:
    """The set whose mount point this is, so that its removal finds fio; "" for any other directory."""
    folder = Path(path).parent.name
    return folder.removeprefix(PREFIX) if folder.startswith(PREFIX) else ""


def arguments(writing: Writing, file: int) -> list[str]:
    """fio's arguments for one job on an open file."""
    words = [
        f"--name={writing.name}",
        f"--filename=/proc/self/fd/{file}",
        f"--rw={'randwrite' if writing.random else 'write'}",
        f"--bs={writing.block_bytes}",
        f"--size={writing.file_bytes}",
        f"--direct={int(writing.direct)}",
        f"--ioengine={'libaio' if writing.direct else 'psync'}",
        f"--iodepth={writing.depth if writing.direct else 1}",
    ]
    if writing.fsync_each:
        words.append("--fdatasync=1")
    if writing.seconds is None:
        return [*words, "--end_fsync=1"]
    return [*words, "--time_based", f"--runtime={round(writing.seconds * 1000)}ms"]


@contextlib.contextmanager
def _nameless(folder: str, size: int, filled: bool) -> Iterator[int]:
    try:
        file = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError:
        file, path = tempfile.mkstemp(prefix=".scale-fio-", dir=folder)
        os.unlink(path)
    try:
        os.truncate(file, size)
        if filled:  # a sync then writes its block but no journal, as in a log that is reused
            os.pwrite(file, b"\1" * size, 0)
            os.fsync(file)
        yield file
    finally:
        os.close(file)


def parse(out: str, err: str = "") -> Mapping[str, FioRates]:
    """By job. Raises ProvisionError for a job with an error, and for text that is not fio's."""
    try:
        jobs = json.loads(out[out.index("{") :])["jobs"]
        errors = [f"{j['jobname']}: {os.strerror(int(j['error']))}" for j in jobs if j["error"]]
        by_job = {
            str(j["jobname"]): FioRates(
                bytes_per_s=float(j["write"]["bw_bytes"]), writes_per_s=float(j["write"]["iops"])
            )
            for j in jobs
        }
    except (ValueError, KeyError, TypeError):
        lines = (err or out).strip().splitlines()
        raise ProvisionError(f"fio failed: {lines[-1] if lines else 'no output'}") from None
    if errors:
        raise ProvisionError(f"fio failed: {'; '.join(errors)}")
    return by_job


def file_bytes(free_bytes: int, wanted: int) -> int:
    """The size of a file: at most a quarter of what is free, in whole MiB, at least one."""
    return max(2**20, min(wanted, free_bytes // 4, FILE_BYTES_MAX) // 2**20 * 2**20)
