"""Server and load on hosts of their own, for real: three hosts in namespaces (tools/hosts), Debian's sshd, Ansible,
PostgreSQL. One host's clock is 100 s ahead in every test."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/hosts"
STATE = Path("/var/lib/scale-hosts")
SWEEP = ("sweep", "cpu", "--cores", "1", "--target", "postgres", "--replicates", "1", "--no-metrics", "-y")

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.skipif(
        (os.geteuid() != 0 or not Path("/usr/sbin/sshd").exists()) and not os.environ.get("SCALE_REQUIRE_ROOT"),
        reason="namespaces need root, and hosts an sshd",
    ),
]


@pytest.fixture(scope="module")
def inventory(tmp_path_factory):
    subprocess.run([TOOL, "down"], check=True, timeout=60)
    made = subprocess.run([TOOL, "up", "3", "--ahead", "host3=100"], capture_output=True, text=True, timeout=90)
    assert made.returncode == 0, made.stderr
    path = tmp_path_factory.mktemp("hosts") / "hosts.ini"
    path.write_text(made.stdout)
    yield path
    subprocess.run([TOOL, "down"], check=True, timeout=60)
    assert not STATE.exists()


def scale(*words, seconds=300):
    """The command as a user types it."""
    return subprocess.run(_argv(*words), capture_output=True, text=True, timeout=seconds, env=_environment())


def _argv(*words):
    return [sys.executable, "-m", "scale_sweep", *map(str, words)]


def _environment():
    return {**os.environ, "PYTHONPATH": str(ROOT / "runner")}


def on(host, line):
    """What a line of the shell prints on a host."""
    options = ("-o", f"UserKnownHostsFile={STATE}/known_hosts", "-o", "BatchMode=yes", "-i", f"{STATE}/key")
    argv = ["ssh", *options, f"root@10.87.0.{10 + host}", line]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL).stdout


def left_on(host):
    """Processes of a sweep and data directories on a host, as they are now."""
    processes = on(host, "ps -eo comm=,args= | grep -E 'postgres|scale-loadgen|scale_sweep.agent' | grep -v grep")
    return (processes + on(host, "ls /var/lib/scale/data /var/lib/scale/records 2>/dev/null | grep cores")).strip()


def await_gone(hosts, seconds):
    """Waits until nothing of a sweep is left."""
    deadline = time.monotonic() + seconds
    while (left := {host: words for host in hosts if (words := left_on(host))}) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left == {}


@pytest.fixture(scope="module")
def prepared(inventory):
    first = scale("hosts", "prepare", inventory, "--json")
    assert first.returncode == 0, first.stderr
    assert all(one["changed"] > 0 for one in json.loads(first.stdout))
    return inventory


def only_run(results):
    (run,) = results.iterdir()
    return run, json.loads((run / "manifest.json").read_text())


def test_a_second_preparation_changes_nothing(prepared):
    again = scale("hosts", "prepare", prepared, "--json")
    assert [one["changed"] for one in json.loads(again.stdout)] == [0, 0, 0], again.stderr


def test_check_shows_the_database_the_clock_that_is_ahead_and_the_network(prepared):
    checked = scale("hosts", "check", prepared, "--json")
    assert checked.returncode == 0, checked.stderr
    server, near, ahead = json.loads(checked.stdout)
    assert (server["role"], near["role"], ahead["role"]) == ("server", "load", "load")
    assert "postgres" in server["servers"]
    assert abs(near["clock"]["offset_ns"]) < 5e6
    assert abs(ahead["clock"]["offset_ns"] - 100e9) < 5e6 and ahead["clock"]["error_ns"] < 5e6
    assert near["to_server"] > 1e6 and ahead["to_server"] > 1e6 and server["to_server"] is None


def test_a_sweep_counts_every_row_of_two_load_hosts_though_one_clock_is_ahead(prepared, tmp_path):
    swept = scale(*SWEEP, "--quick", "--hosts", prepared, "--rows", "400k", "--connections", "4", "--results", tmp_path)
    assert swept.returncode in (0, 10), swept.stderr  # on a busy machine no trial may be VALID
    run, manifest = only_run(tmp_path)
    assert manifest["hosts"]["load"] == ["host2", "host3"] and manifest["host"]["hostname"] == "host1"
    (trial,) = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    assert trial["verdict"]["kind"] not in ("ABORTED", "LOST_ROWS", "WRONG_ROWS", "ERRORS"), trial["verdict"]
    assert trial["measurement"]["rows_counted"] == 400_000
    lines = [json.loads(line) for line in next(run.glob("trials/*/loadgen.jsonl")).read_text().splitlines()]
    starts = [line["window_start_ns"] for line in lines if line["event"] == "summary"]
    assert len(starts) == 2 and abs(starts[0] - starts[1]) < 1e9  # on one clock, though one host is 100 s ahead
    secrets = [path for path in run.rglob("*") if path.is_file() and b"SCALE_PASSWORD" in path.read_bytes()]
    assert secrets == []
    verified = scale("verify", "last", "--results", tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    await_gone((1, 2, 3), 60)


def begun(prepared, results):
    """A sweep that measures now."""
    words = (*SWEEP, "--hosts", prepared, "--duration", "40s", "--warmup", "2s", "--results", results)
    process = subprocess.Popen(
        _argv(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=_environment()
    )
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        if any('"measure"' in path.read_text() for path in results.glob("*/trials/*/journal.jsonl")):
            return process
        time.sleep(0.2)
    process.kill()
    raise AssertionError(process.communicate()[0])


def test_nothing_is_left_a_moment_after_the_controller_was_killed(prepared, tmp_path):
    process = begun(prepared, tmp_path)
    assert "postgres" in left_on(1) and "scale-loadgen" in left_on(2)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)
    await_gone((1, 2, 3), 60)


@pytest.mark.parametrize(("host", "what"), [(1, "scale_sweep.agent"), (2, "scale_sweep.agent"), (3, "scale-loadgen")])
def test_a_trial_that_loses_an_agent_or_a_load_process_is_aborted_by_name(prepared, tmp_path, host, what):
    process = begun(prepared, tmp_path)
    on(host, f"pkill -9 -f '^[^ ]*(python3 -m |/){what}'")
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 10, output
    run, _ = only_run(tmp_path)
    (trial,) = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    assert trial["verdict"]["kind"] == "ABORTED"
    named = f"host{host}" if what != "scale-loadgen" else "load generator"
    assert named in json.dumps(trial["verdict"]), trial["verdict"]
    scale("hosts", "check", prepared)
    if host == 1:  # only the data directory stays, until the next agent
        assert "scale-loadgen" not in left_on(2)
    else:
        await_gone((1, 2, 3), 60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[load]\nb ansible_host=10.87.0.12\n", "[server] is missing"),
        ("[server]\na\nb\n[load]\nc\n", "[server] names a, b"),
        ("[server]\na ansible_host=10.87.0.11\n", "[load] is missing"),
        ("[server]\na ansible_host=10.87.0.11\n[load]\na\n", "a is in [server] and in [load]"),
        ("[server\n", "Failed to parse"),
        ("[server]\na ansible_host=10.87.0.11\n[load]\nb ansible_host=10.87.0.12\n", "Host key verification failed"),
        ("[server]\na ansible_host=10.87.0.11 scale_cpus=x\n[load]\nb ansible_host=10.87.0.12\n", "scale_cpus"),
        ("[server]\na ansible_host=10.87.0.11 scale_core=1\n[load]\nb ansible_host=10.87.0.12\n", "scale_core"),
    ],
)
def test_a_wrong_inventory_is_refused_before_anything_starts(prepared, tmp_path, text, words):
    path = tmp_path / "wrong.ini"
    path.write_text(text)
    refused = scale(*SWEEP, "--hosts", path, "--results", tmp_path / "results")
    assert refused.returncode == 2, refused.stderr
    assert words in refused.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--target", "tdengine"), "tdengine"),
        (("--endpoint", "127.0.0.1:1"), "--endpoint"),
        (("--cores", "64"), "64"),
        (("--data-dir", "ram"), "--data-dir ram"),
    ],
)
def test_what_the_hosts_cannot_do_is_refused_by_its_flag(prepared, tmp_path, words, names):
    refused = scale(*SWEEP, *words, "--hosts", prepared, "--results", tmp_path / "results")
    assert refused.returncode in (2, 3), refused.stderr
    assert names in refused.stderr
    assert not (tmp_path / "results").exists()


def test_clean_removes_what_prepare_made(prepared):
    cleaned = scale("hosts", "clean", prepared)
    assert cleaned.returncode == 0, cleaned.stderr
    assert on(2, "ls -A /root").strip() == ""
    refused = scale(*SWEEP, "--hosts", prepared)
    assert refused.returncode != 0 and "scale hosts prepare" in refused.stderr
