"""The same sweep on the hosts of a Dask cluster, for real: scheduler, two workers in namespaces, TLS (tools/dask)."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration import hosts_of_tools as lab
from tests.needs import needs

DASK = lab.ROOT / "tools/dask"
ADDRESS = f"tls://{lab.NETWORK}.1:8786"
CONFIG = Path.home() / ".config/dask/scale-dask.yaml"
FOLDERS = "ls -d /tmp/scale-fleet-* 2>/dev/null"
SWEEPS = "|scale_sweep sweep|fleet.leased"

pytestmark = [pytest.mark.timeout(450), needs("root", "sshd")]


def cluster(word, *words):
    """tools/dask, with the libraries of this Python: a host may not see the Python itself."""
    done = subprocess.run([sys.executable, DASK, word, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with lab.hosts(tmp_path_factory.mktemp("cluster"), "3", "--servers", "2") as path:
        cluster("up", path)
        yield cluster("address")
        cluster("down")
        assert not CONFIG.exists()


def begun(address, results, *words, measuring=("host1", "host2")):
    """A fleet of which these hosts measure now. host2 begins half a trial later than host1."""
    process = lab.started(
        *lab.SWEEP, *lab.LIGHT, "--duration", "15s", "--cluster", address, "--results", results, *words
    )
    lines, deadline = [], time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        lines.append(process.stdout.readline())
        if {line.partition(":")[0] for line in lines if "Results in" in line} >= set(measuring):
            time.sleep(3)  # the servers are up
            return process
    process.kill()
    raise AssertionError("".join(lines))


def tokens(host):
    return lab.on(host, "ls /var/lib/scale/fleet 2>/dev/null | wc -l").strip()


def test_a_fleet_of_two_runs_arrives_with_its_digests(address, tmp_path):
    swept = lab.scale(*lab.SWEEP, *lab.LIGHT, "--duration", "5s", "--cluster", address, "--results", tmp_path, "--json")
    assert swept.returncode in (0, 21, 22), swept.stderr
    first, second = json.loads(swept.stdout)
    assert (first["host"], second["host"]) == ("host1", "host2") and first["error"] is second["error"] is None
    for one in (first, second):
        manifest = lab.manifest_of(Path(one["path"]))
        assert manifest["status"] == "complete" and manifest["host"]["hostname"] == one["host"]
        verified = lab.scale("verify", one["path"])
        assert verified.returncode == 0, verified.stdout + verified.stderr
    lab.await_gone((1, 2), 90, SWEEPS)
    assert lab.on(1, FOLDERS) == lab.on(2, FOLDERS) == ""


def test_ctrl_c_ends_both_sweeps(address, tmp_path):
    process = begun(address, tmp_path)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 130, output
    lab.await_gone((1, 2), 90, SWEEPS)


@pytest.fixture(scope="module")
def abandoned(address, tmp_path_factory):
    """A client was killed while host1 measured and host2 was to begin. The refusals use the minute of its lease."""
    process = begun(address, tmp_path_factory.mktemp("abandoned"), "--duration", "60s", measuring=("host1",))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    return address


def told(*words, **changes):
    """The refusal of a sweep: a message and its remedy."""
    said = lab.refused(*lab.SWEEP, *words, seconds=200, **changes)
    assert len(said.strip().splitlines()) <= 3, said
    return said


def test_without_a_certificate_of_the_cluster_there_is_no_connection(abandoned, tmp_path):
    stranger = {"HOME": str(tmp_path), "DASK_CONFIG": str(tmp_path)}
    assert "names no certificates" in told("--cluster", abandoned, **stranger)
    new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=stranger")
    subprocess.run([*new, "-keyout", tmp_path / "key", "-out", tmp_path / "cert"], check=True, capture_output=True)
    for name, part in {"CA_FILE": "cert", "CLIENT__CERT": "cert", "CLIENT__KEY": "key"}.items():
        stranger[f"DASK_DISTRIBUTED__COMM__TLS__{name}"] = str(tmp_path / part)
    assert "no connection" in told("--cluster", abandoned, **stranger)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--cluster", ADDRESS.replace("tls", "tcp")), "without TLS"),
        (("--cluster", ADDRESS.replace("8786", "1")), "no connection"),
        (("--cluster", "10.87.0.1:8786"), "no address with a scheme"),
        (("--cluster", ADDRESS, "--cores", "64"), "host1: --cores: 64 cores"),
    ],
)
def test_a_cluster_that_cannot_do_it_is_refused(abandoned, words, names):
    assert names in told(*words)


@contextlib.contextmanager
def local(what, folder, *words, **settings):
    """A process of Dask on loopback, ready when its output has a line with `Scheduler at` or `Registered to`."""
    variables = {f"DASK_DISTRIBUTED__{name}": value for name, value in settings.items()}
    variables |= {"DASK_CONFIG": str(folder), "HOME": str(folder)}  # without the certificates
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", "--no-dashboard", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**lab.environment(), **variables},
    )
    try:
        assert process.stderr is not None
        assert any("Scheduler at" in line or "Registered to" in line for line in process.stderr)
        yield
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_clusters_that_could_start_a_trial_twice_are_refused(abandoned, tmp_path):
    where = ("--cluster", "tcp://127.0.0.1:8797")
    safe = {"SCHEDULER__ALLOWED_FAILURES": "0", "SCHEDULER__WORK_STEALING": "False"}
    off = {f"WORKER__MEMORY__{name}": "False" for name in ("TARGET", "SPILL", "PAUSE", "TERMINATE")}
    plain = {"DASK_CONFIG": str(tmp_path), "HOME": str(tmp_path)}
    scheduler, worker = ("scheduler", tmp_path, "--port", "8797"), ("worker", tmp_path, where[1])
    assert "requires encryption" in told(*where)
    with local(*scheduler):
        assert "has no workers" in told(*where, **plain)
        with local(*worker, "--no-nanny"):
            assert "allowed-failures is 3" in told(*where, **plain)
        with local(*worker):
            assert "has a nanny" in told(*where, **plain)
    with local(*scheduler, **safe):
        with local(*worker, "--no-nanny"):
            assert "memory manager" in told(*where, **plain)
        with local(*worker, "--no-nanny", **off), local(*worker, "--no-nanny", **off):
            assert "are one host" in (words := told(*where, **plain)) and "only " in words


def test_sweeps_of_a_client_that_was_killed_end_with_their_lease(abandoned):
    lab.await_gone((1, 2), 100, SWEEPS)
    assert lab.on(1, FOLDERS) == lab.on(2, FOLDERS) == ""


def test_a_worker_that_was_killed_ends_its_own_run_and_no_trial_begins_again(address, tmp_path):
    """The last test: the worker does not come back."""
    before = [tokens(1), tokens(2)]
    process = begun(address, tmp_path)
    lab.on(1, "kill -9 $(cat /root/.scale-dask/pid)")
    output, _ = process.communicate(timeout=200)
    assert process.returncode in (21, 22), output
    (run,) = tmp_path.iterdir()
    assert lab.manifest_of(run)["host"]["hostname"] == "host2"
    lab.await_gone((1, 2), 90, SWEEPS)
    assert lab.on(1, FOLDERS) == ""
    assert [int(tokens(1)) - int(before[0]), int(tokens(2)) - int(before[1])] == [1, 1]
    assert "only host2" in told("--cluster", address)
