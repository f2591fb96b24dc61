"""Both runtimes with the real PostgreSQL: pinned, limited, counted, and gone afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import deferred, listen
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.host.server_user import server_user
from scale_sweep.machine.sampling.processes import subject_reader
from scale_sweep.machine.state.records import save
from scale_sweep.model.resources import Placement, Resources, ServerOrder, ServerSpec, SiteRequest
from scale_sweep.server.runtimes import load_runtime
from scale_sweep.server.runtimes.docker_engine import docker_facts
from scale_sweep.server.runtimes.local import remove_directories
from scale_sweep.server.targets import load_target
from tests.integration.cli import waited_for
from tests.integration.made_images import HOME, postgres_image, require_docker
from tests.integration.short_trial import assert_unprivileged
from tests.processes import lives
from tests.unit.factories import amounts, make_trial

POSTGRES = load_target("postgres")
SECRET = "a secret for this test"
LAST = max(os.sched_getaffinity(0))
# Of the system: the server's user may not enter every home in which a Python lies.
PYTHON = shutil.which("python3", path=os.defpath) or sys.executable
ONE = Placement(server_cpus=(LAST,), generator_cpus=(0,))


@pytest.fixture(params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def kind(request):
    """The runtime's name, its home for PostgreSQL and its image."""
    if request.param == "docker":
        require_docker()
        return "docker", HOME, postgres_image()
    return "process", POSTGRES.find("").home, ""


@pytest.fixture
def data_dir():
    """A directory that another user may enter, as pytest's own may not."""
    path = Path(f"/var/tmp/scale-test-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    left = list(path.iterdir())
    subprocess.run(["rm", "-rf", str(path)], check=True)
    assert [p for p in left if p.name != "programs"] == []


def start(kind, data_dir, placement=ONE, memory_bytes=None, spec=None):
    """For the test to stop."""
    with ExitStack() as cleanup:
        server = provide(cleanup, kind, data_dir, placement, memory_bytes, spec)
        cleanup.pop_all()
    return server


def provide(cleanup, kind, data_dir, placement=ONE, memory_bytes=None, spec=None):
    name, home, image = kind
    runtime = load_runtime(name)
    names = {"run_id": "test-run", "trial_id": "cores-1-r1"}
    with deferred():
        site = runtime.site(SiteRequest(**names, data_dir=str(data_dir), home=home))
        cleanup.callback(remove_directories, site)
    wanted = replace(spec or POSTGRES.server(make_trial(), site, SECRET), image=image)
    granted = amounts(placement.quota_cores or len(placement.server_cpus), memory_bytes=memory_bytes)
    order = ServerOrder(spec=wanted, site=site, resources=Resources(amounts=granted, placement=placement), **names)
    return runtime.start(order, cleanup)


def connect(server) -> psycopg.Connection:
    deadline = time.monotonic() + 60
    while True:
        try:
            return psycopg.connect(
                host=server.host, port=server.port, user="scale", password=SECRET, dbname="postgres", autocommit=True
            )
        except psycopg.OperationalError:
            assert server.alive(), server.log_tail(20)
            assert time.monotonic() < deadline
            time.sleep(0.1)


def assert_gone(pids) -> None:
    assert not [pid for pid in pids if lives(pid)]
    assert not list(Path("/sys/fs/cgroup").glob("*/scale-*test*"))


def test_a_server_is_on_its_cpus_within_its_memory_and_on_loopback_and_nothing_stays(kind, data_dir):
    limit = 300 * 2**20 if read_host().cgroup_writable else None
    server = start(kind, data_dir, memory_bytes=limit)
    try:
        with connect(server) as connection:
            connection.execute("SELECT count(*) FROM generate_series(1, 300000)")
            pids = server.pids()
            assert len(pids) >= 5
            assert server.cpus_allowed() == (LAST,)
            for pid in pids:
                assert psutil.Process(pid).cpu_affinity() == [LAST]
            if os.geteuid() == 0:
                (folder,) = (path for path in data_dir.iterdir() if path.is_dir())
                assert_unprivileged(pids, folder)
                assert (server.facts()["user"], server.facts()["capabilities"]) == (server_user().pw_name, "none")
            read = subject_reader(server.accounting())
            before = read().cpu_s_total
            connection.execute("SELECT sum(n) FROM generate_series(1, 1000000) n")
            used = read()
            assert used.cpu_s_total > before > 0
            assert used.memory_bytes > 1_000_000
        assert "ready to accept connections" in server.log_tail(20)
        assert limit is None or limits_of(server) == {limit}
        listening = [c for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.laddr.port == server.port]
        assert {c.laddr.ip for c in listening} == {"127.0.0.1"}
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(host=server.host, port=server.port, user="scale", password="x", dbname="postgres")
        if kind[0] == "docker":
            assert_no_privileges(server)
    finally:
        server.stop()
    assert_gone(pids)
    server.stop()


def limits_of(server):
    """Of memory, without swap, as the kernel has them."""
    paths = server.accounting().paths
    v1 = Path(paths.get("memory", "/x"), "memory.limit_in_bytes")
    v2 = Path(paths.get("unified", "/x"), "memory.max")
    found = {int((v1 if v1.exists() else v2).read_text())}
    with_swap, swap = v1.with_name("memory.memsw.limit_in_bytes"), v2.with_name("memory.swap.max")
    assert not swap.exists() or int(swap.read_text()) == 0
    return found | ({int(with_swap.read_text())} if with_swap.exists() else set())


def assert_no_privileges(server):
    import docker

    attrs = docker.from_env().containers.get(server.facts()["container"]).attrs["HostConfig"]
    assert attrs["Privileged"] is False
    assert attrs["CapDrop"] == ["ALL"]
    assert attrs["CpusetCpus"] == str(LAST)
    assert all(b["HostIp"] == "127.0.0.1" for ports in attrs["PortBindings"].values() for b in ports)


STRAYS = """
import os, threading, time
def stray():
    while not os.path.exists("stray"):
        time.sleep(0.01)
    os.sched_setaffinity(0, range(os.cpu_count()))
    open("strayed", "w").close()
    time.sleep(60)
threading.Thread(target=stray, daemon=True).start()
open("begun", "w").close()
time.sleep(60)
"""


@pytest.mark.skipif(LAST == 0, reason="needs two CPUs")
def test_a_thread_that_goes_elsewhere_under_load_is_seen_afterwards(data_dir):
    server = start(("process", "", ""), data_dir, spec=ServerSpec(argv=(PYTHON, "-c", STRAYS)))
    try:
        room = Path(server.facts()["data_dir"])
        waited_for((room / "begun").exists)
        assert server.cpus_allowed() == (LAST,)
        (room / "stray").touch()
        waited_for((room / "strayed").exists)
        assert psutil.Process(server.pids()[0]).cpu_affinity() == [LAST], "the main thread stays"
        assert set(server.cpus_allowed()) > {LAST}
    finally:
        server.stop()


@pytest.mark.alone  # beside other work it gets less than its quota, and is not throttled
def test_a_part_of_a_core_is_a_quota(kind, data_dir):
    if kind[0] == "process" and not read_host().cgroup_writable:
        with pytest.raises(ProvisionError, match="control group"):
            start(kind, data_dir, Placement(server_cpus=(LAST,), generator_cpus=(0,), quota_cores=0.5))
        return
    server = start(kind, data_dir, Placement(server_cpus=(LAST,), generator_cpus=(0,), quota_cores=0.5))
    try:
        with connect(server) as connection:
            read = subject_reader(server.accounting())
            before, deadline = read(), time.monotonic() + 120
            while read().throttled_s_total <= before.throttled_s_total:
                assert time.monotonic() < deadline
                connection.execute("SELECT sum(n) FROM generate_series(1, 6000000) n")
    finally:
        server.stop()


@pytest.mark.parametrize("survives", [True, False])
def test_a_server_that_the_kernel_kills_for_memory_is_known_as_such(kind, data_dir, survives):
    if not read_host().cgroup_writable:
        pytest.skip("control groups are not writable for this user")
    # The shell of an image may have no other programs: it counts to begin late, and doubles a text until it is killed.
    eats = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; x=x; while :; do x=$x$x; done"
    spec = ServerSpec(
        argv=("/bin/sh", "-c", f"({eats}); while :; do :; done" if survives else eats), stop_signal="SIGKILL"
    )
    server = start(kind, data_dir, memory_bytes=64 * 2**20, spec=spec)
    try:
        waited_for(lambda: server.out_of_memory().killed)
        waited_for(lambda: server.alive() is survives)  # the kernel counts the kill before the process has ended
    finally:
        server.stop()
    assert server.out_of_memory().killed, "it is known after the group is gone"


def test_no_program_of_a_server_runs_before_its_record_is_on_the_disk(data_dir, monkeypatch):
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o777)  # the server does not run as root
    made, seen = folder / "made", []

    def slow(record):
        if record.server_pid:
            time.sleep(0.5)
            seen.append(made.exists())
        save(record)

    monkeypatch.setattr("scale_sweep.server.runtimes.process.save", slow)
    spec = ServerSpec(argv=("/bin/sh", "-c", f"echo made > {made}; exec sleep 60"), stop_signal="SIGKILL")
    server = start(("process", "", ""), data_dir, spec=spec)
    try:
        waited_for(made.exists)
    finally:
        server.stop()
        shutil.rmtree(folder)
    assert seen == [False]


def test_a_server_that_does_not_start_says_why_and_leaves_nothing(kind, data_dir):
    spec = ServerSpec(argv=("/bin/sh", "-c", "echo out of luck >&2; exit 3"), setup=(("/bin/sh", "-c", "exit 0"),))
    try:
        server = start(kind, data_dir, spec=spec)
    except ProvisionError as error:
        assert "out of luck" in error.message
        return
    try:
        waited_for(lambda: not server.alive())
        assert "out of luck" in server.log_tail(5)
    finally:
        server.stop()


def test_a_failing_setup_names_the_command_and_leaves_nothing(data_dir):
    spec = ServerSpec(argv=("/bin/true",), setup=(("/bin/sh", "-c", "echo no room >&2; exit 9"),))
    with pytest.raises(ProvisionError, match=r"sh ended with code 9: no room"):
        start(("process", "", ""), data_dir, spec=spec)


@contextmanager
def ctrl_c_after(seconds):
    """Raises KeyboardInterrupt like the command line does, once; what the block has begun goes on till then."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    listen()
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
            timer.join()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def containers_of_the_test() -> list:
    if not docker_facts().reachable:
        return []
    import docker

    return docker.from_env().containers.list(all=True, filters={"label": "scale.run=test-run"})


@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3, 0.6, 1.0])
def test_ctrl_c_while_it_starts_leaves_nothing(kind, data_dir, seconds):
    with ctrl_c_after(seconds), ExitStack() as cleanup:
        provide(cleanup, kind, data_dir)
    assert_gone([])
    assert containers_of_the_test() == []
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(data_dir) in " ".join(p.info["cmdline"] or ())]


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.2])
def test_ctrl_c_while_it_stops_leaves_nothing(kind, data_dir, seconds):
    server = start(kind, data_dir)
    connect(server).close()
    pids = server.pids()
    with ctrl_c_after(seconds), ExitStack() as cleanup:
        cleanup.callback(server.stop)
    assert_gone(pids)
    assert containers_of_the_test() == []


def test_a_disk_without_room_leaves_no_directory(kind, data_dir):
    asked = SiteRequest(run_id="test-run", trial_id="r1", data_dir=str(data_dir), home="", disks=("/proc/no",))
    with pytest.raises(ProvisionError, match="no data directory on the disk at /proc/no:"):
        load_runtime(kind[0]).site(asked)


def test_a_server_stopped_during_its_setup_heeds_its_stop_signal(kind, data_dir):
    server = start(kind, data_dir)
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 12, "one that did not heed it would be killed after 15 s"
