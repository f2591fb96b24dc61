"""A fleet of runs, whatever its engine: which hosts are refused, how runs end, how they keep in step, and what levels a
host has. Tasks here are threads of this process."""

import io
import os
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError, StoreError, UsageError
from scale_sweep.base.interrupts import Stop, Stopped
from scale_sweep.fleet import on_worker
from scale_sweep.fleet.cluster import refuse_open
from scale_sweep.fleet.engine import ENGINES, FleetHost, FleetOrder, engine_of
from scale_sweep.fleet.on_worker import clean_environment
from scale_sweep.fleet.run import Turn, files_of, refuse_few, run_all, without_missing, words_of
from scale_sweep.hosts.inventory import HostEntry, Inventory, by_server
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.verify.archive import packed, unpacked
from tests.offenders import assert_none
from tests.unit import stored_runs
from tests.unit.factories import make_sweep
from tests.unit.test_structure import imports


def host(name, machine):
    return FleetHost(name=name, host=read_host(), machine=machine)


def test_fewer_than_two_known_machines_are_refused():
    a, b, again = host("a", "1"), host("b", "2"), host("c", "1")
    for hosts, words in (([], "no host"), ([a], "only a"), ([a, again], "a and c are"), ([a, b, again], "a and c are")):
        with pytest.raises(UsageError, match=words):
            refuse_few(hosts, "--hosts")
    refuse_few([host("a", ""), host("b", "")], "--hosts")  # machines that are not known


class Task:
    """A thread that ends when it is told to, or fails."""

    def __init__(self, name, seconds=0.0, error=None):
        self.host, self.announced = name, None
        self._seconds, self._error, self._ended = seconds, error, threading.Event()
        self.stops = 0

    def start(self, say):
        say("begins")
        threading.Thread(target=lambda: (self._ended.wait(self._seconds), self._ended.set()), daemon=True).start()

    def has_ended(self):
        return self._ended.is_set()

    def finished_run(self):
        if self._error:
            raise self._error
        return Path(self.host)

    def stop(self):
        self.stops += 1
        self._ended.set()


class Broken(Task):
    def start(self, say):
        raise KeyboardInterrupt


def test_a_run_that_fails_ends_alone_and_one_that_cannot_be_started_stops_the_others():
    said = []
    tasks = [Task("a"), Task("b", error=ProvisionError("lost")), Task("c")]
    endings = run_all(tasks, lambda *line: said.append(line))
    assert [ending.path for ending in endings] == [Path("a"), None, Path("c")]
    assert endings[1].error.message == "lost"
    assert said == [("a", "begins"), ("b", "begins"), ("c", "begins")]
    tasks = [Task("a", seconds=60), Broken("b")]
    with pytest.raises(KeyboardInterrupt):
        run_all(tasks, lambda *line: None)
    assert [task.stops for task in tasks] == [1, 1]


def started(target, *arguments):
    thread = threading.Thread(target=target, args=arguments)
    thread.start()
    return thread


def wait_until(is_so):
    deadline = time.monotonic() + 50
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_turn_is_held_by_one_run_at_a_time_and_who_waits_can_be_stopped():
    turn, stop, said, held = Turn(), Stop(), [], []
    may_end = threading.Event()

    def run(name):
        with turn.held(lambda: said.append(name)):
            held.append(name)
            may_end.wait(50)

    def stopped():
        with pytest.raises(Stopped), stop.here():
            run("stopped")

    holder = started(run, "first")
    wait_until(lambda: held)
    waiting, patient = started(stopped), started(run, "last")
    wait_until(lambda: len(said) == 2)
    stop.request()
    waiting.join(50)
    assert held == ["first"] and not waiting.is_alive()
    may_end.set()
    for thread in (holder, patient):
        thread.join(50)
    assert sorted(said) == ["last", "stopped"] and held == ["first", "last"]


def inventory(*groups):
    servers, load = (tuple(HostEntry(name=name, address="10.0.0.1") for name in names) for names in groups)
    return Inventory(path=Path("hosts.ini"), servers=servers, load=load)


def test_load_hosts_are_dealt_to_servers_in_turn():
    for servers, load, expected in (("ab", "xy", "x y"), ("ab", "xyz", "xz y"), ("abc", "xy", "x y x")):
        parts = by_server(inventory(servers, load))
        assert "".join(part.server.name for part in parts) == servers
        assert " ".join("".join(entry.name for entry in part.load) for part in parts) == expected


TWO_CPUS = replace(read_host(), allowed=(0, 1))


def test_levels_that_a_host_lacks_are_left_out():
    assert without_missing(make_sweep(cores="0.5,1,2,4,8"), TWO_CPUS).levels == (0.5, 1.0, 2.0)
    with pytest.raises(UsageError, match="4 cores asked for"):
        without_missing(make_sweep(cores="4,8"), TWO_CPUS)


def order(flags, what="cpu"):
    return FleetOrder(
        what=what,
        flags=flags,
        results=Path("results"),
        fleet={},
        insecure_network=False,
        resolve=lambda host: replace(make_sweep(cores="1..2"), order_seed=7),
        campaign=lambda run: Path(),
    )


def test_a_sweep_is_the_same_on_a_command_line(tmp_path):
    words = words_of(order({"axis.cores": "1..8", "load.quick": "1", "tags": ["a=b", "c=d"]}), TWO_CPUS)
    assert words == ("cpu", "--cores=1,2", "--quick", "--tag=a=b", "--tag=c=d", "--order-seed=7")
    file = tmp_path / "mine.toml"
    file.write_text("[axis]\n")
    assert files_of(str(file)) == {"mine.toml": "[axis]\n"}
    assert words_of(order({}, str(file)), TWO_CPUS)[0] == "mine.toml"


def test_engines_are_found_by_the_scheme_of_an_address():
    assert set(ENGINES.names()) >= {"", "tls", "tcp"}
    assert engine_of("hosts.ini").__name__.endswith("each_server")
    assert engine_of("tls://a:1").__name__.endswith("cluster")
    with pytest.raises(UsageError, match="none of tls://"):
        engine_of("slurm://a")


def test_a_scheduler_without_tls_is_refused_beyond_loopback():
    for address in ("tcp://10.0.0.1:8786", "tcp://db.example:8786", "tcp://0.0.0.0:1", "tcp://:1"):
        with pytest.raises(UsageError, match="without TLS"):
            refuse_open(address)
    refuse_open("tls://10.0.0.1:8786")
    refuse_open("tcp://127.0.0.1:8786")


def test_a_sweep_on_a_host_gets_none_of_dask_s_variables():
    dask = {"MALLOC_TRIM_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1", "DASK_PARENT": "x", "LD_PRELOAD": "x"}
    assert clean_environment({**dask, "PATH": "/bin", "SCALE_LOADGEN": "x"}) == {"PATH": "/bin", "SCALE_LOADGEN": "x"}


def test_a_run_arrives_whole_or_not_at_all(tmp_path):
    sent = stored_runs.unpacked("varied", tmp_path / "sent")
    content = packed(sent)
    arrived = unpacked(content, tmp_path / "here", "db1")
    assert {p.name for p in arrived.iterdir()} == {p.name for p in sent.iterdir()}
    (sent / "points.csv").write_text("changed")
    wrong = {"here": (content, "exists"), "cut": (content[:-400], "not arrive"), "new": (packed(sent), "points.csv")}
    for folder, (sent_bytes, words) in wrong.items():
        with pytest.raises(StoreError, match=words):
            unpacked(sent_bytes, tmp_path / folder, "db1")
    assert list((tmp_path / "new").iterdir()) == []


def archive_of(name, **fields):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(info, field, value)
        archive.addfile(info, io.BytesIO(b"x" * info.size))
    return content.getvalue()


@pytest.mark.parametrize("name", ["../outside/file", "/outside/file", "run/../../file", "a", "b/../c/d", "run/a\0b"])
def test_an_archive_that_is_no_run_writes_nothing_beside_it(tmp_path, name):
    with pytest.raises(StoreError):
        unpacked(archive_of(name, size=1), tmp_path / "results", "db1")
    with pytest.raises(StoreError, match="not the archive"):
        unpacked(archive_of("run/link", type=tarfile.SYMTYPE, linkname="/etc/passwd"), tmp_path, "db1")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


PACKAGE = Path(__file__).resolve().parents[2] / "runner/scale_sweep"
ENGINES_OWN = tuple(f"scale_sweep.fleet.{name}" for name in ("each_server", "cluster", "on_worker", "leased"))
FOREIGN = ("dask", "distributed", *ENGINES_OWN)


def test_no_code_outside_of_an_engine_imports_it_or_its_library():
    assert_none(
        f"{path}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name, _ in imports(path)
        if path.parent.name != "fleet" and name.startswith(FOREIGN)
    )


def leased(folder, limit, script):
    """A process with a lease, in a folder of its own."""
    argv = [sys.executable, "-m", "scale_sweep.fleet.leased", limit, "sh", "-c", script]
    own = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    return subprocess.Popen(argv, stdin=subprocess.PIPE, cwd=folder, env=own)


TRAPPED = "trap 'exit 130' TERM; touch trapped; while :; do sleep 0.1; done"


@pytest.mark.parametrize(
    ("limit", "script", "closes", "code"),
    [("5", TRAPPED, False, 130), ("60", TRAPPED, True, 130), ("60", "exit 10", False, 10)],
)
def test_a_process_ends_with_its_lease_or_its_input_without_its_folder_or_by_itself(
    tmp_path, limit, script, closes, code
):
    folder = tmp_path / "sweep"
    folder.mkdir()
    process = leased(folder, limit, script)
    if script is TRAPPED:
        wait_until((folder / "trapped").exists)
    if closes:
        process.stdin.write(b"\n")
        process.stdin.close()
    assert process.wait(timeout=50) == code
    assert folder.exists() is (code == 10)


def test_a_lease_ends_a_minute_after_its_last_renewal_and_at_once_when_it_is_stopped(monkeypatch):
    numbers, now = iter([0, 1, None, 1, 2, -1]), [100.0]
    monkeypatch.setattr(on_worker.time, "monotonic", lambda: now[0])
    lease = on_worker.Lease(lambda: next(numbers))
    assert [lease.look() for _ in range(4)] == [False, True, False, False] and not lease.is_over
    now[0] += 60.1
    assert lease.is_over
    assert lease.look() and not lease.is_over
    assert lease.look() and lease.is_over
