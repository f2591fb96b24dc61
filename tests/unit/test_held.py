"""One process at a time writes a run: the lock, who has it, and a file system without locks."""

import errno
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.cli import compose
from scale_sweep.results.store import run_lock
from scale_sweep.results.store.reader import read_manifest, read_run
from scale_sweep.results.store.run_lock import RunLock, is_held, status_of, this_writer
from scale_sweep.results.store.stored import Folder
from tests.unit.raw_run import raw_run

HOLD = """
import sys, time
from pathlib import Path
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import Folder
mine = RunLock(Folder(Path(sys.argv[1])))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def run(tmp_path):
    return Path(raw_run(tmp_path, interrupted_after=2).path)


@contextmanager
def another_process(run):
    """A process that has the run's lock; it is killed at the end."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(run)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.wait()


def contents(run):
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


@pytest.mark.parametrize("write", [compose.reopen_run, compose.reopen_to_report])
def test_a_second_writer_is_refused_by_the_pid_and_changes_nothing(run, write):
    stored, before = read_run(run), contents(run)
    with another_process(run) as other:
        with pytest.raises(UsageError, match=rf"is being written by process {other.pid}, started 2\d\d\d-") as refused:
            write(stored, RunLock(Folder(run)))
        assert refused.value.exit_code == 2
        assert contents(run) == before
    del refused
    write(stored, RunLock(Folder(run)))


def test_a_reader_refuses_no_writer_and_a_run_whose_process_is_gone_is_interrupted(run):
    fd = os.open(run, os.O_RDONLY)
    run_lock.fcntl.flock(fd, run_lock.fcntl.LOCK_SH)
    looking = subprocess.Popen(["sleep", "0.3"], pass_fds=[fd])
    os.close(fd)
    RunLock(Folder(run))
    assert looking.wait(50) == 0
    manifest = {**read_manifest(Folder(run)), "status": "running"}
    with another_process(run) as other:
        assert status_of(Folder(run), manifest) == "running"
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert status_of(Folder(run), manifest) == "interrupted"
    assert status_of(Folder(run), {"status": "complete"}) == "complete"
    assert read_manifest(Folder(run))["status"] == "interrupted"
    writer = compose.reopen_run(read_run(run), RunLock(Folder(run)))
    assert read_manifest(Folder(run))["writer"]["pid"] == os.getpid(), "a run that goes on names its process"
    assert status_of(Folder(run), read_manifest(Folder(run))) == "running"
    del writer
    assert status_of(Folder(run), read_manifest(Folder(run))) == "interrupted"


@pytest.fixture
def without_locks(monkeypatch):
    """A file system that knows no flock on directories, such as NFS."""

    def refuse(fd, operation):
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(run_lock.fcntl, "flock", refuse)


def name_writer(run, **fields):
    path = run / "manifest.json"
    told = json.loads(path.read_text()) | {"status": "running", "writer": asdict(replace(this_writer(), **fields))}
    path.write_text(json.dumps(told))


INIT = {"pid": 1, "started_ticks": run_lock.started_ticks(1)}


@pytest.mark.parametrize(
    ("fields", "is_refused"),
    [
        (INIT, True),
        ({**INIT, "started_ticks": INIT["started_ticks"] + 1}, False),  # its number is used again
        ({**INIT, "boot_id": "before the reboot"}, False),
        ({**INIT, "boot_id": "its own", "hostname": "elsewhere"}, True),
    ],
)
def test_without_locks_the_process_that_the_manifest_names_decides(run, without_locks, fields, is_refused):
    name_writer(run, **fields)
    assert is_held(Folder(run)) == is_refused
    refused = pytest.raises(UsageError, match="is being written by process 1 of .* has no locks")
    with refused if is_refused else nullcontext():
        RunLock(Folder(run))


def test_without_locks_the_last_of_two_that_begin_together_goes_on(run, without_locks):
    mine = RunLock(Folder(run))
    name_writer(run, **INIT)
    with pytest.raises(UsageError, match="process 1 "):
        mine.settle()
    name_writer(run)
    mine.settle()
