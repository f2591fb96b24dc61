"""Children are started by one thread that lasts: on their CPUs, with errors handed back, and they die with the process."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from scale_sweep.base.spawning import spawn
from tests.processes import lives

CPU = max(os.sched_getaffinity(0))
CHILD = ["setpriv", "--pdeathsig", "KILL", "sleep", "60"]
RUNNER = """
import time
from tests.unit.test_spawning import spawned_in_a_thread
print(spawned_in_a_thread().pid, flush=True)
time.sleep(60)
"""
ROOT = Path(__file__).resolve().parents[2]


def spawned_in_a_thread():
    """A child that has asked for the signal by the time at which the thread that wanted it ends."""
    children = []

    def work():
        children.append(spawn(CHILD, [CPU]))
        deadline = time.monotonic() + 50
        while psutil.Process(children[0].pid).name() != "sleep":
            assert time.monotonic() < deadline
            time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(50)
    return children[0]


def test_a_child_survives_the_thread_that_asked_for_it_and_runs_where_it_should():
    before = os.sched_getaffinity(0)
    child = spawned_in_a_thread()
    try:
        time.sleep(0.5)
        assert child.poll() is None
        assert psutil.Process(child.pid).cpu_affinity() == [CPU]
        assert os.sched_getaffinity(0) == before
    finally:
        child.kill()
        child.wait()


def test_a_child_of_a_thread_dies_with_a_runner_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", RUNNER], cwd=ROOT, stdout=subprocess.PIPE, text=True) as runner:
        pid = int(runner.stdout.readline())
        try:
            time.sleep(0.5)
            assert lives(pid)
        finally:
            runner.kill()
    deadline = time.monotonic() + 50
    while lives(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_cannot_be_started_is_raised_and_a_forked_process_has_a_starter_of_its_own():
    with pytest.raises(FileNotFoundError):
        spawn(["/no/such/program"], [CPU])
    with pytest.raises(OSError, match="Invalid argument"):
        spawn(["true"], [4095])
    assert spawn(["true"], [CPU]).wait() == 0
    pid = os.fork()
    if not pid:
        os._exit(spawn(["true"], [CPU]).wait(50))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
