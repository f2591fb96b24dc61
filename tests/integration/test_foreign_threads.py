"""What samples say about a real foreign load: threads that fight for a lock, a quota, a stop, and a wait for a server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager

import pytest

from scale_sweep.judge.figures.resource_use import in_flight_by_states
from scale_sweep.judge.figures.taken import stopped_s
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.judge.verdict.rules.server import LOCKED, waited
from scale_sweep.judge.verdict.thresholds import PAUSED_S
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.model.resources import CORES, Accounting, Amount, Placement, Resources
from scale_sweep.server.runtimes.cgroup import make_group
from tests.needs import needs

BEGIN = "import os, socket, sys, threading\nprint(os.getpid(), flush=True)\nsys.stdin.readline()\n"
FIGHTS = BEGIN + "def work():\n    while True: pass\n[threading.Thread(target=work).start() for _ in range(4)]\n"
WORKS = BEGIN + "while True: pass\n"
WAITS = BEGIN + "a, b = socket.socketpair()\na.recv(1)\n"
# The tool is a child of a script, as many are.
SCRIPT = ("/bin/sh", "-c", '"$@"; exit', "sh", sys.executable, "-c")
END_S = 60.0


@contextmanager
def load(text, cpus=()):
    """Its process, and the tool's pid, which begins to work."""
    limited = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
    begun = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "preexec_fn": limited}
    with subprocess.Popen([*SCRIPT, text], **begun, start_new_session=True) as process:
        try:
            tool = int(process.stdout.readline())
            yield process, tool
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def begin(process):
    process.stdin.write("\n")
    process.stdin.flush()


def sampled(process, samples, is_enough, hz=1.0):
    """Samples from now on until there are enough."""
    deadline, before = time.monotonic() + END_S, len(samples)
    roots = Accounting(kind="processes", root_pids=(process.pid,))
    with Sampler(server=None, generator=roots, disks=(), hz=hz, on_sample=samples.append, is_foreign=True):
        while not is_enough(samples[before:]):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    return measure_window(samples, samples[before].monotonic_ns, samples[-1].monotonic_ns)


def locks_of(samples):
    counts = samples[-1].generator_waits_total if samples else {}
    return sum(counts.values()) > 30


def test_threads_that_fight_for_the_interpreters_lock():
    with load(FIGHTS) as (process, _):
        begin(process)
        use = sampled(process, [], locks_of)
    # Three of four wait for it; on a busy machine they also wait for a CPU, to ask again.
    assert waited(use.generator_waits, LOCKED)[0] > 0.1
    assert use.generator_threads > 2
    assert in_flight_by_states(use) < 0.6


def test_a_tool_that_waits_on_a_socket():
    samples = []
    with load(WAITS) as (process, _):
        begin(process)
        use = sampled(process, samples, lambda seen: len(seen) >= 4)
    assert samples[0].generator_threads is None
    assert use.hot_generator_wanted == ("", 0.0) or use.hot_generator_wanted[1] < 0.1
    assert in_flight_by_states(use) > 0.9
    assert stopped_s(samples, samples[0].monotonic_ns, samples[-1].monotonic_ns) == 0.0


@needs("control groups")
def test_a_quota_is_a_wait_for_a_cpu():
    limits = {CORES: Amount(value=0.4, unit="core")}
    placement = Placement(server_cpus=(), generator_cpus=(), quota_cores=0.4)
    group = make_group(f"scale-test-{uuid.uuid4().hex}", Resources(amounts=limits, placement=placement))
    assert group is not None
    try:
        with load(WORKS) as (process, tool):
            for file in group.procs_files:
                with open(file, "w") as procs:
                    procs.write(str(tool))
            begin(process)
            use = sampled(process, [], lambda seen: len(seen) >= 5)
    finally:
        group.remove()
    assert use.hot_generator_wanted[1] > 0.85
    assert use.hot_generator_queued > 0.45
    assert use.hot_generator_wanted[1] - use.hot_generator_queued < 0.5


@pytest.mark.parametrize("text", [WORKS, FIGHTS])
def test_a_stop_of_two_seconds(text):
    samples = []
    with load(text) as (process, tool):
        begin(process)
        sampled(process, samples, lambda seen: len(seen) >= 3)
        roots = Accounting(kind="processes", root_pids=(process.pid,))
        with Sampler(server=None, generator=roots, disks=(), hz=1, on_sample=samples.append, is_foreign=True):
            time.sleep(0.4)
            os.kill(tool, signal.SIGSTOP)
            time.sleep(2.0)
            os.kill(tool, signal.SIGCONT)
            time.sleep(1.6)
    assert any(sample.generator_stopped for sample in samples)
    assert PAUSED_S <= stopped_s(samples, samples[0].monotonic_ns, samples[-1].monotonic_ns) < 3.5
