"""A server's setup that is killed at any moment leaves no shared memory on the machine, whoever is killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from scale_sweep.machine.host.server_user import server_user
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from scale_sweep.server.targets import load_target
from tests.integration.cli import waited_for
from tests.integration.leftovers import records_in

WHEEL = load_target("postgres").find("").home
OTHERS = [str(home) for home in Path("/usr/lib/postgresql").glob("*") if (home / "bin" / "initdb").exists()]
ROUNDS, LIMIT_S, SETTLE_S = 4, 50.0, 60.0
# Starts a runner for each line that it reads: a fork, so that the imports are paid for once.
PROVIDE = """
import os, sys, time
from pathlib import Path
from tests.integration.test_runtimes import start
from scale_sweep.base.errors import ProvisionError
from scale_sweep.server.runtimes import own_memory
own_memory.WAYS = own_memory.WAYS if sys.argv[3] == "own" else ()
for _ in sys.stdin:
    if forked := os.fork():
        os.waitpid(forked, 0)
        continue
    print(os.getpid(), flush=True)
    try:
        start(("process", sys.argv[2], ""), Path(sys.argv[1]))
    except ProvisionError as error:
        print("refused", error.message, flush=True)
    else:
        print("up", flush=True)
    time.sleep(60)
    break
"""


@pytest.fixture
def data_dir():
    """A directory that another user may enter, as pytest's own may not."""
    path = Path(f"/var/tmp/scale-test-killed-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    subprocess.run(["rm", "-rf", str(path)], check=True)


def in_use() -> set[str]:
    """Files of /dev/shm that a process has mapped."""
    found = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            found |= {line.split(None, 5)[5] for line in maps.read_text().splitlines() if "/dev/shm/" in line}
    return found


def forgotten() -> set[str]:
    """Shared memory of the server's user that nobody uses."""
    user = server_user()
    uid = str(user.pw_uid if user else os.geteuid())
    lines = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    found = {f"segment {f[1]}" for f in lines if f[6] == "0" and f[9] == uid}
    there = {str(p) for p in Path("/dev/shm").glob("PostgreSQL.*") if str(p.stat().st_uid) == uid}
    return found | (there - in_use())


def children_of_setup(data_dir: Path) -> list[psutil.Process]:
    """What the setup command has started, at this moment."""
    for record in records_in(data_dir):
        with contextlib.suppress(psutil.NoSuchProcess):
            if record.server_pid:
                return psutil.Process(record.server_pid).children(recursive=True)
    return []


@contextlib.contextmanager
def starter(data_dir: Path, home: str, memory: str) -> Iterator[subprocess.Popen]:
    """What starts the runners."""
    words = [sys.executable, "-c", PROVIDE, str(data_dir), home, memory]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def setup_running(starts: subprocess.Popen, data_dir: Path, wait_s: float) -> tuple[psutil.Process, list]:
    """A runner in the middle of initdb, and initdb's children."""
    print(file=starts.stdin, flush=True)
    runner = psutil.Process(int(starts.stdout.readline()))
    waited_for(lambda: children_of_setup(data_dir) or not runner.is_running(), LIMIT_S)
    time.sleep(wait_s)
    return runner, waited_for(lambda: children_of_setup(data_dir), LIMIT_S)


def ended(runner: psutil.Process) -> None:
    """Killed if it still runs."""
    with contextlib.suppress(psutil.NoSuchProcess):
        runner.kill()
        runner.wait(timeout=LIMIT_S)


def cleaned(data_dir: Path) -> None:
    for left in find_leftovers([data_dir]):
        if left.kind == "server":
            remove(left)
    assert records_in(data_dir) == []


def nothing_forgotten_but(before: set[str]) -> None:
    """Shared memory is the machine's: what tests beside this one leave for a moment, or until they clean, is not meant."""
    deadline = time.monotonic() + SETTLE_S
    while (more := forgotten() - before) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not more


@pytest.mark.parametrize(
    ("home", "ended_by", "memory"),
    [
        *((home, "kill all", "own") for home in [WHEEL, *OTHERS]),
        (WHEEL, "kill runner", "own"),
        (WHEEL, "kill children", "own"),
        (WHEEL, "kill runner", "shared"),
        (WHEEL, "stop runner", "own"),
        (WHEEL, "stop runner", "shared"),
    ],
    ids=lambda word: Path(word).name,
)
def test_a_setup_that_is_ended_leaves_no_shared_memory(data_dir, home, ended_by, memory):
    before, (how, whom) = forgotten(), ended_by.split()
    with starter(data_dir, home, memory) as starts:
        for turn in range(ROUNDS):
            runner, children = setup_running(starts, data_dir, wait_s=0.12 * turn)
            try:
                for victim in [*([runner] if whom != "children" else []), *(children if whom != "runner" else [])]:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        victim.send_signal(signal.SIGKILL if how == "kill" else signal.SIGINT)
                if whom == "children":
                    assert starts.stdout.readline().split()[0] in ("refused", "up")
                if how == "stop":
                    runner.wait(timeout=LIMIT_S)
            finally:
                ended(runner)
            if how == "kill":
                cleaned(data_dir)
            nothing_forgotten_but(before)
