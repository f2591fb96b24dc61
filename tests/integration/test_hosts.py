"""Server and load on hosts of their own, for real: four hosts in namespaces (tools/hosts), Debian's sshd, Ansible,
PostgreSQL. The clock of host3 is 100 s ahead in every test. What ends hosts is tried on two pairs of them at once."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/hosts"
STATE = Path("/var/lib/scale-hosts")
PAIRS = ((1, 2), (4, 3))  # a server's host and a load host
CUT_S = 60  # longer than the lease of an agent, with its end
ONE = ("--connections-check", "off")  # one trial, whatever its bottleneck
SWEEP = ("sweep", "cpu", "--cores", "1", "--target", "postgres", "--replicates", "1", "--no-metrics", "-y", *ONE)
OPEN = ("--target", "prometheus", "--insecure-network")  # a server without a password

pytestmark = [
    pytest.mark.timeout(420),
    needs("root", "sshd"),
]


@pytest.fixture(scope="module")
def inventory(tmp_path_factory):
    subprocess.run([TOOL, "down"], check=True, timeout=60)
    made = subprocess.run(
        [TOOL, "up", "4", "--servers", "1", "--ahead", "host3=100"], capture_output=True, text=True, timeout=90
    )
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
    """What a line of the shell prints on a host, also while its network is cut."""
    argv = [TOOL, "in", f"host{host}", "sh", "-c", f"PATH=$PATH:/usr/sbin; {line}"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL).stdout


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


@pytest.fixture(scope="module")
def pairs(prepared):
    """An inventory of each pair, in the form of the first."""
    text, made = prepared.read_text(), []
    hosts = {line.split()[0]: line for line in text.splitlines() if line.startswith("host")}
    for server, load in PAIRS:
        path = prepared.with_name(f"pair{server}.ini")
        _, _, common = text.partition("[all:vars]")
        path.write_text(f"[server]\n{hosts[f'host{server}']}\n[load]\n{hosts[f'host{load}']}\n[all:vars]{common}")
        made.append(path)
    return made


def at_once(*calls):
    """Calls functions at the same time, and raises what one of them raised."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()


def only_run(results):
    (run,) = results.iterdir()
    return run, json.loads((run / "manifest.json").read_text())


def test_a_second_preparation_changes_nothing(prepared):
    again = scale("hosts", "prepare", prepared, "--json")
    assert [one["changed"] for one in json.loads(again.stdout)] == [0, 0, 0, 0], again.stderr


def test_check_shows_the_database_the_clock_that_is_ahead_and_the_network(prepared):
    checked = scale("hosts", "check", prepared, "--json")
    assert checked.returncode == 0, checked.stderr
    server, near, ahead, last = json.loads(checked.stdout)
    assert [one["role"] for one in (server, near, ahead, last)] == ["server", "load", "load", "load"]
    assert "postgres" in server["servers"]
    assert abs(near["clock"]["offset_ns"]) < 5e6
    assert abs(ahead["clock"]["offset_ns"] - 100e9) < 5e6 and ahead["clock"]["error_ns"] < 5e6
    for one in (near, ahead, last):
        assert one["network"]["sent_bytes_per_s"] > 1e6 and one["network"]["received_bytes_per_s"] > 1e6
        assert 0 < one["network"]["round_trip_ms"] < 100
    assert server["network"]["round_trip_ms"] is None


def test_a_sweep_counts_every_row_of_three_load_hosts_though_one_clock_is_ahead(prepared, tmp_path):
    swept = scale(*SWEEP, "--quick", "--hosts", prepared, "--rows", "400k", "--connections", "4", "--results", tmp_path)
    assert swept.returncode in (0, 10), swept.stderr  # on a busy machine no trial may be VALID
    run, manifest = only_run(tmp_path)
    assert manifest["hosts"]["load"] == ["host2", "host3", "host4"] and manifest["host"]["hostname"] == "host1"
    (trial,) = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    assert trial["verdict"]["kind"] not in ("ABORTED", "LOST_ROWS", "WRONG_ROWS", "ERRORS"), trial["verdict"]
    assert trial["measurement"]["rows_counted"] == 400_000
    lines = [json.loads(line) for line in next(run.glob("trials/*/loadgen.jsonl")).read_text().splitlines()]
    summaries = [line for line in lines if line["event"] == "summary"]
    starts = [summary["window_start_ns"] for summary in summaries]
    assert len(starts) == 3 and max(starts) - min(starts) < 1e9  # on one clock, though one host is 100 s ahead
    assert all(summary["response"]["max_us"] < 30e6 for summary in summaries)
    hosts = trial["measurement"]["hosts"]
    assert set(hosts) == {"host1", "host2", "host3", "host4"}
    for name in ("host2", "host3", "host4"):
        assert hosts[name]["load_cpu_cores"] is not None and hosts[name]["sent_mb_per_s"] > 0, hosts
    used = sum(hosts[name]["load_cpu_cores"] for name in ("host2", "host3", "host4"))
    assert used == pytest.approx(trial["measurement"]["generator_cpu_cores"], rel=0.5, abs=0.1)
    assert hosts["host1"]["received_mb_per_s"] > 0 and hosts["host1"]["load_cpu_cores"] is None
    assert trial["measurement"]["other_cpu_cores"] is not None
    secrets = [path for path in run.rglob("*") if path.is_file() and b"SCALE_PASSWORD" in path.read_bytes()]
    assert secrets == []
    verified = scale("verify", "last", "--results", tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    await_gone((1, 2, 3), 60)


def test_a_slow_link_is_named_with_its_host(pairs, tmp_path):
    on(2, "tc qdisc add dev eth0 root tbf rate 10mbit burst 64kb latency 200ms")
    try:
        words = ("--duration", "6s", "--warmup", "3s", "--connections", "4", "--results", tmp_path)
        swept = scale(*SWEEP, "--hosts", pairs[0], *words)
    finally:
        on(2, "tc qdisc del dev eth0 root")
    assert swept.returncode in (0, 10), swept.stderr
    run, manifest = only_run(tmp_path)
    (trial,) = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    assert trial["verdict"]["bottleneck"]["kind"] == "NETWORK", trial["verdict"]
    assert "the network of host2 was full: it sent" in json.dumps(trial["verdict"]["reasons"])
    (slow,) = [one for one in manifest["hosts"]["network"] if one["host"] == "host2"]
    assert 0.5e6 < slow["sent_bytes_per_s"] < 2e6 < slow["received_bytes_per_s"]


def begun(inventory, results, *more):
    """A sweep that measures now."""
    words = (*SWEEP, "--hosts", inventory, "--duration", "12s", "--warmup", "2s", *more, "--results", results)
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


def trials_of(results):
    run, _ = only_run(results)
    trials = [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/trial.json"))]
    return sorted(trials, key=lambda trial: trial["trial"]["order"])


def ends_with_its_controller(inventory, server, load, results):
    process = begun(inventory, results)
    assert "postgres" in left_on(server) and "scale-loadgen" in left_on(load)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    await_gone((server, load), 60)


def is_aborted_without(inventory, host, what, results):
    """A trial that loses a process by `kill -9` names its host, and the sweep ends as it should."""
    process = begun(inventory, results)
    on(host, f"pkill -9 -f '^[^ ]*(python3 -P -m |/){what}'")
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 10, output
    (trial,) = trials_of(results)
    assert trial["verdict"]["kind"] == "ABORTED"
    named = f"host{host}" if what != "scale-loadgen" else "load generator"
    assert named in json.dumps(trial["verdict"]), trial["verdict"]


def test_nothing_is_left_of_a_killed_controller_or_of_a_trial_that_lost_a_load_host(pairs, tmp_path):
    at_once(
        lambda: ends_with_its_controller(pairs[0], 1, 2, made(tmp_path / "a")),
        lambda: is_aborted_without(pairs[1], 3, "scale_sweep.agent", made(tmp_path / "b")),
    )
    await_gone((1, 2, 3, 4), 60)


def test_a_trial_that_loses_the_servers_agent_or_a_load_process_is_aborted_by_name(pairs, tmp_path):
    at_once(
        lambda: is_aborted_without(pairs[0], 1, "scale_sweep.agent", made(tmp_path / "a")),
        lambda: is_aborted_without(pairs[1], 3, "scale-loadgen", made(tmp_path / "b")),
    )
    assert "scale-loadgen" not in left_on(2)
    assert "data" in on(1, "ls /var/lib/scale")  # only files stay, until the next agent or `clean`
    await_gone((2, 3, 4), 60)


def memory_on(host):
    """Mounts of data in memory on a host, and their directories."""
    return on(host, "grep scale-ram /proc/mounts; ls /var/lib/scale/ram").split()


def test_data_in_memory_is_on_the_servers_host_and_gone_after_the_run_and_after_its_agent(pairs, tmp_path):
    words = ("--duration", "4s", "--warmup", "1s", "--replicates", "2", "--data-dir", "ram:2GiB")
    process = begun(pairs[0], tmp_path, *words)
    assert "tmpfs" in memory_on(1) and memory_on(2) == []
    on(1, "pkill -9 -f '^[^ ]*python3 -P -m scale_sweep.agent'")
    output, _ = process.communicate(timeout=240)
    lost, second = trials_of(tmp_path)
    assert lost["verdict"]["kind"] == "ABORTED" and "host1" in json.dumps(lost["verdict"]), output
    assert second["verdict"]["kind"] != "ABORTED" and second["measurement"]["rows_counted"], output
    (disk,) = only_run(tmp_path)[1]["data_disks"]
    assert (disk["kind"], disk["size_bytes"]) == ("ram", 2 * 2**30)
    assert memory_on(1) == []


@pytest.mark.alone  # loop devices belong to the whole machine: tests of disks beside it would find those of the host
def test_loop_disks_are_on_the_servers_host_and_gone_after_the_run(pairs, tmp_path):
    argv = ("sweep", "disk", "--disks", "1..2", "--loop", "400MiB", "--target", "postgres", "--replicates", "1", "-y")
    swept = scale(*argv, "--no-metrics", *ONE, "--rows", "100k", "--hosts", pairs[0], "--results", tmp_path)
    assert swept.returncode in (0, 10), swept.stderr
    run, manifest = only_run(tmp_path)
    assert [(disk["kind"], disk["name"]) for disk in manifest["data_disks"]] == [("loop", "d1"), ("loop", "d2")]
    assert len(manifest["disk_ceilings"]) == 3
    trials = trials_of(tmp_path)
    assert [trial["measurement"]["rows_counted"] for trial in trials] == [100_000, 100_000]
    assert (
        on(1, f"grep {run.name} /proc/mounts; ls /var/lib/scale-disks; losetup -n -O BACK-FILE | grep {run.name}") == ""
    )


def cut(host):
    """Drops everything that reaches a host, or leaves it, until its lease has ended its agent with all that it made."""
    on(host, "iptables -I INPUT ! -i lo -j DROP; iptables -I OUTPUT ! -o lo -j DROP")
    deadline = time.monotonic() + CUT_S
    while (left := left_on(host)) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left == ""


def join(host):
    on(host, "iptables -F INPUT; iptables -F OUTPUT")


def goes_on_after_a_cut(inventory, load, results):
    """The load host ends its load by itself; the trial names the host; the next one runs when the host is back."""
    process = begun(inventory, results, *OPEN, "--replicates", "2")
    try:
        cut(load)
    finally:
        join(load)
    output, _ = process.communicate(timeout=240)
    first, second = trials_of(results)
    assert first["verdict"]["kind"] == "ABORTED" and f"host{load}" in json.dumps(first["verdict"]), output
    assert second["verdict"]["kind"] != "ABORTED" and second["measurement"]["rows_counted"], output


def is_resumed_after_a_cut(inventory, server, results):
    """The server's host removes its server by itself; the interrupted run continues."""
    process = begun(inventory, results, "--replicates", "2")
    try:
        cut(server)
        process.send_signal(signal.SIGINT)
    finally:
        join(server)
    output, _ = process.communicate(timeout=240)
    (first,) = trials_of(results)
    assert first["verdict"]["kind"] == "ABORTED" and f"host{server}" in json.dumps(first["verdict"]), output
    resumed = scale("resume", "last", "--results", results, "--no-metrics")
    first, second = trials_of(results)
    assert second["verdict"]["kind"] != "ABORTED" and second["measurement"]["rows_counted"], resumed.stderr


def test_a_host_that_nobody_reaches_for_a_while_costs_one_trial(pairs, tmp_path):
    at_once(
        lambda: goes_on_after_a_cut(pairs[0], 2, made(tmp_path / "a")),
        lambda: is_resumed_after_a_cut(pairs[1], 4, made(tmp_path / "b")),
    )
    await_gone((1, 2, 3, 4), 60)


def made(path):
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[load]\nb ansible_host=10.87.0.12\n", "[server] is missing"),
        (
            "[server]\na ansible_host=10.87.0.11\nb ansible_host=10.87.0.12\n[load]\nc ansible_host=10.87.0.13\n",
            "[server] names a, b",
        ),
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
        (("--target", "prometheus"), "--insecure-network"),
        (("--cores", "64"), "64"),
        (("--data-dir", "ram:4000GiB"), "--data-dir"),
    ],
)
def test_what_the_hosts_cannot_do_is_refused_by_its_flag(pairs, tmp_path, words, names):
    refused = scale(*SWEEP, *words, "--hosts", pairs[0], "--results", tmp_path / "results")
    assert refused.returncode in (2, 3), refused.stderr
    assert names in refused.stderr
    assert not (tmp_path / "results").exists()


def test_a_server_of_the_controller_is_copied_once_and_swept(pairs, tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_SERVERS_DIR", str(tmp_path / "servers"))
    refused = scale("hosts", "prepare", pairs[1], "--servers", "postgres")
    assert refused.returncode == 2 and "scale servers install postgres" in refused.stderr
    installed = scale("servers", "install", "postgres")
    assert installed.returncode == 0, installed.stderr
    words = ("hosts", "prepare", pairs[1], "--servers", "postgres", "--json")
    for is_changed in (True, False):
        server, load = json.loads(scale(*words).stdout)
        assert (server["changed"] > 0, load["changed"]) == (is_changed, 0)
        assert server["servers"] and server["lacks"] == [] and "servers" not in load
    results = tmp_path / "results"
    swept = scale(*SWEEP, "--quick", "--hosts", pairs[1], "--rows", "100k", "--results", results)
    assert swept.returncode in (0, 10), swept.stderr
    assert "postgres 18.6" in swept.stderr, swept.stderr
    (trial,) = trials_of(results)
    assert trial["measurement"]["rows_counted"] == 100_000, trial["verdict"]


def test_clean_removes_what_prepare_made(prepared):
    cleaned = scale("hosts", "clean", prepared)
    assert cleaned.returncode == 0, cleaned.stderr
    assert (on(2, "ls -A /root") + on(4, "ls -A /root")).strip() == ""
    refused = scale(*SWEEP, "--hosts", prepared)
    assert refused.returncode != 0 and "scale hosts prepare" in refused.stderr
