"""Orders of trials on a real PostgreSQL, and what is left when a server, a setup or a runner ends."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.machine.host.server_user import server_user
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import PhaseEntered
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.runtimes.clean import find_leftovers, remove
from scale_sweep.server.targets import load_target
from tests.integration.cli import records_in, waited_for
from tests.processes import lives
from tests.unit import trial_orders as orders

HELD = """
import sys, threading, time
from pathlib import Path
from scale_sweep.base.interrupts import Stop
from scale_sweep.model.events import PhaseEntered
from scale_sweep.measure.trial.run import run_trial
from tests.unit.trial_orders import trial_order
events = []
def work():
    for event in run_trial(trial_order(Path(sys.argv[1]), "postgres", load__duration="60s"), Stop()):
        if isinstance(event, PhaseEntered):
            print(event.phase, flush=True)
threading.Thread(target=work, daemon=True).start()
time.sleep(120)
"""


def test_a_thread_that_is_asked_to_end_leaves_nothing(folder):
    stop, raised = Stop(), []

    def work():
        try:
            for event in run_trial(orders.trial_order(folder, "postgres", load__duration="400s"), stop):
                if isinstance(event, PhaseEntered) and event.phase == "measure":
                    stop.request()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(200)
    assert not thread.is_alive()
    assert [type(error) for error in raised] == [Stopped]


def test_a_runner_killed_while_a_thread_runs_a_trial_leaves_no_server(folder, only_cleaner):
    runner = subprocess.Popen(
        [sys.executable, "-c", HELD, str(folder)], cwd=orders.ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        while runner.stdout.readline().strip() != "measure":
            assert runner.poll() is None
        pid = server_pid(folder)
        assert psutil.Process(pid).name().startswith("postgres")
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.communicate()
    waited_for(lambda: not lives(pid))
    for leftover in find_leftovers([folder]):
        remove(leftover)


def server_pid(folder):
    (record,) = records_in(folder)
    return record.server_pid


def end_a_connection_of_the_load(pid):
    children = psutil.Process(pid).children
    waited_for(lambda: [c for c in children() if "COPY" in " ".join(c.cmdline())])[0].send_signal(signal.SIGTERM)


def test_a_load_that_fails_leaves_samples_its_summary_and_its_notes(folder):
    events = []
    for event in run_trial(orders.trial_order(folder, "postgres", load__duration="60s"), Stop()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == "measure":
            end_a_connection_of_the_load(server_pid(folder))
    result = orders.result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "terminating connection due to administrator command" in " ".join(orders.notes_of(events))
    facts = json.loads(orders.artifact_of(events, "facts.json"))
    assert facts["sampler_cost"]["ticks"] >= 1
    assert result.measurement.rows_acked > 0


def test_a_server_that_dies_is_the_cause_and_what_was_seen_is_kept(folder):
    events = []
    for event in run_trial(orders.trial_order(folder, "postgres", load__duration="60s"), Stop()):
        events.append(event)
        if isinstance(event, PhaseEntered) and event.phase == "measure":
            os.kill(server_pid(folder), signal.SIGKILL)
    result = orders.result_of(events)
    assert result.verdict.kind is VerdictKind.ABORTED
    assert "the server ended during the trial by SIGKILL (sent by" in result.verdict.reasons[0]
    assert json.loads(orders.artifact_of(events, "facts.json"))["sampler_cost"]["ticks"] >= 1
    assert '"summary"' in orders.artifact_of(events, "loadgen.jsonl")


WHEEL = load_target("postgres").find("").home
OTHERS = [str(home) for home in Path("/usr/lib/postgresql").glob("*") if (home / "bin" / "initdb").exists()]
ROUNDS, LIMIT_S, SETTLE_S = 4, 50.0, 60.0
# Starts a runner for each line that it reads: a fork, so that the imports are paid for once.
PROVIDE = """
import os, sys, time
from pathlib import Path
from tests.integration.test_runtimes import start
from scale_sweep.base.errors import ProvisionError
from scale_sweep.server.runtimes import local
local.WAYS = local.WAYS if sys.argv[3] == "own" else ()
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
