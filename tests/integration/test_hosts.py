"""Server and load on hosts of their own, for real: four hosts in namespaces (tools/hosts), Debian's sshd, Ansible,
PostgreSQL."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.integration import hosts_of_tools as lab
from tests.integration.cli import waited_for
from tests.needs import needs

PAIRS = ((1, 2), (4, 3))  # a server's host and a load host
CUT_S = 60  # longer than the lease of an agent, with its end
ONE = ("--connections-check", "off", "--window-max", "0")  # one trial, whatever its bottleneck
OPEN = ("--target", "prometheus", "--insecure-network")  # a server without a password
EACH = ("--quick", "--each-server", "--drift-check", "off")
LOST = ("ABORTED", "LOST_ROWS", "WRONG_ROWS", "ERRORS")
AGENT = "scale_sweep.agent"
pytestmark = [pytest.mark.timeout(420), needs("root", "sshd")]


@pytest.fixture(scope="module")
def inventory(tmp_path_factory):
    with lab.hosts(tmp_path_factory.mktemp("hosts"), "4", "--servers", "1", "--ahead", "host3=100") as path:
        yield path


@pytest.fixture(scope="module")
def prepared(inventory):
    first = lab.scale("hosts", "prepare", inventory, "--json")
    assert first.returncode == 0, first.stderr
    assert all(one["changed"] > 0 for one in json.loads(first.stdout))
    return inventory


def grouped(inventory, name, servers, loads):
    """Another inventory of these hosts."""
    text = inventory.read_text()
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("host")}
    of = ["\n".join(lines[f"host{number}"] for number in numbers) for numbers in (servers, loads)]
    path = inventory.with_name(f"{name}.ini")
    path.write_text(f"[server]\n{of[0]}\n[load]\n{of[1]}\n[all:vars]{text.partition('[all:vars]')[2]}")
    return path


@pytest.fixture(scope="module")
def pairs(prepared):
    """An inventory of each pair."""
    return [grouped(prepared, f"pair{server}", [server], [load]) for server, load in PAIRS]


@pytest.fixture(scope="module")
def fleet(prepared):
    """An inventory of two servers."""
    return grouped(prepared, "fleet", (1, 2), (3, 4))


def at_once(folder, *calls):
    """Calls functions at the same time with a folder each, and raises what one of them raised."""
    folders = [folder / str(number) for number in range(len(calls))]
    for one in folders:
        one.mkdir()
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call, results) for call, results in zip(calls, folders, strict=True)]:
            done.result()


def only_run(results):
    (run,) = results.iterdir()
    return run


def swept(inventory, results, *words):
    """The run of a sweep; on a busy machine no trial may be VALID."""
    done = lab.scale(*lab.SWEEP, *ONE, "--hosts", inventory, *words, "--results", results)
    assert done.returncode in (0, 10), done.stderr
    return only_run(results), done.stderr


def begun(inventory, results, *more):
    """A sweep that measures now."""
    process = lab.started(
        *lab.SWEEP, *lab.LIGHT, "--hosts", inventory, "--duration", "12s", *more, "--results", results
    )
    waited_for(lambda: list(results.glob("*/plan.json")) or process.poll() is not None, 180)
    return lab.await_measuring(process, next(results.glob("*"), results))


def assert_aborted(trial, words, output):
    assert trial["verdict"]["kind"] == "ABORTED" and words in json.dumps(trial["verdict"]), output


def assert_measured(trial, output):
    assert trial["verdict"]["kind"] != "ABORTED" and trial["measurement"]["rows_counted"], output


def test_a_second_preparation_changes_nothing_and_check_shows_what_is_there(prepared):
    again = lab.scale("hosts", "prepare", prepared, "--json")
    assert [one["changed"] for one in json.loads(again.stdout)] == [0, 0, 0, 0], again.stderr
    checked = lab.scale("hosts", "check", prepared, "--json")
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
    run, _ = swept(prepared, tmp_path, "--quick", "--rows", "400k", "--connections", "4")
    manifest = lab.manifest_of(run)
    assert manifest["hosts"]["load"] == ["host2", "host3", "host4"] and manifest["host"]["hostname"] == "host1"
    (trial,) = lab.trials_of(run)
    assert trial["verdict"]["kind"] not in LOST, trial["verdict"]
    assert trial["measurement"]["rows_counted"] == 400_000
    lines = [json.loads(line) for line in next(run.glob("trials/*/loadgen.jsonl")).read_text().splitlines()]
    summaries = [line for line in lines if line["event"] == "summary"]
    starts = [summary["window_start_ns"] for summary in summaries]
    assert len(starts) == 3 and max(starts) - min(starts) < 1e9  # on one clock, though one host is 100 s ahead
    assert all(summary["response"]["max_us"] < 30e6 for summary in summaries)
    seen = trial["measurement"]["hosts"]
    loads = ("host2", "host3", "host4")
    assert set(seen) == {"host1", *loads}
    for name in loads:
        assert seen[name]["load_cpu_cores"] is not None and seen[name]["sent_mb_per_s"] > 0, seen
    used = sum(seen[name]["load_cpu_cores"] for name in loads)
    assert used == pytest.approx(trial["measurement"]["generator_cpu_cores"], rel=0.5, abs=0.1)
    assert seen["host1"]["received_mb_per_s"] > 0 and seen["host1"]["load_cpu_cores"] is None
    assert trial["measurement"]["other_cpu_cores"] is not None
    assert not [path for path in run.rglob("*") if path.is_file() and b"SCALE_PASSWORD" in path.read_bytes()]
    verified = lab.scale("verify", "last", "--results", tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    lab.await_gone((1, 2, 3), 60)


def test_a_slow_link_is_named_with_its_host(pairs, tmp_path):
    lab.on(2, "tc qdisc add dev eth0 root tbf rate 10mbit burst 64kb latency 200ms")
    try:
        run, _ = swept(pairs[0], tmp_path, "--duration", "6s", "--warmup", "3s", "--connections", "4")
    finally:
        lab.on(2, "tc qdisc del dev eth0 root")
    (trial,) = lab.trials_of(run)
    assert trial["verdict"]["bottleneck"]["kind"] == "NETWORK", trial["verdict"]
    assert "the network of host2 was full: it sent" in json.dumps(trial["verdict"]["reasons"])
    (slow,) = [one for one in lab.manifest_of(run)["hosts"]["network"] if one["host"] == "host2"]
    assert 0.5e6 < slow["sent_bytes_per_s"] < 2e6 < slow["received_bytes_per_s"]


def ends_with_its_controller(inventory, server, load, results):
    process = begun(inventory, results)
    assert "postgres" in lab.left_on(server) and "scale-loadgen" in lab.left_on(load)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    lab.await_gone((server, load), 60)


def is_aborted_without(inventory, host, what, results):
    """A trial that loses a process by `kill -9` names its host, and the sweep ends as it should."""
    process = begun(inventory, results)
    lab.on(host, f"pkill -9 -f '^[^ ]*(python3 -P -m |/){what}'")
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 10, output
    (trial,) = lab.trials_of(only_run(results))
    assert_aborted(trial, f"host{host}" if what == AGENT else "load generator", output)


def test_nothing_is_left_of_a_killed_controller_or_of_a_trial_that_lost_a_load_host(pairs, tmp_path):
    at_once(
        tmp_path,
        lambda results: ends_with_its_controller(pairs[0], 1, 2, results),
        lambda results: is_aborted_without(pairs[1], 3, AGENT, results),
    )
    lab.await_gone((1, 2, 3, 4), 60)


def test_a_trial_that_loses_the_servers_agent_or_a_load_process_is_aborted_by_name(pairs, tmp_path):
    at_once(
        tmp_path,
        lambda results: is_aborted_without(pairs[0], 1, AGENT, results),
        lambda results: is_aborted_without(pairs[1], 3, "scale-loadgen", results),
    )
    assert "scale-loadgen" not in lab.left_on(2)
    assert "data" in lab.on(1, "ls /var/lib/scale")  # only files stay, until the next agent or `clean`
    lab.await_gone((2, 3, 4), 60)


def memory_on(host):
    """Mounts of data in memory on a host, and their directories."""
    return lab.on(host, "grep scale-ram /proc/mounts; ls /var/lib/scale/ram").split()


def test_data_in_memory_is_on_the_servers_host_and_gone_after_the_run_and_after_its_agent(pairs, tmp_path):
    process = begun(pairs[0], tmp_path, "--duration", "4s", "--replicates", "2", "--data-dir", "ram:2GiB")
    assert "tmpfs" in memory_on(1) and memory_on(2) == []
    lab.on(1, f"pkill -9 -f '^[^ ]*python3 -P -m {AGENT}'")
    output, _ = process.communicate(timeout=240)
    lost, second = lab.trials_of(only_run(tmp_path))
    assert_aborted(lost, "host1", output)
    assert_measured(second, output)
    (disk,) = lab.manifest_of(only_run(tmp_path))["data_disks"]
    assert (disk["kind"], disk["size_bytes"]) == ("ram", 2 * 2**30)
    assert memory_on(1) == []


def test_loop_disks_are_on_the_servers_host_and_gone_after_the_run(pairs, tmp_path):
    argv = "sweep disk --disks 1..2 --loop 400MiB --target postgres --replicates 1 -y --no-metrics --rows 100k".split()
    done = lab.scale(*argv, *ONE, "--hosts", pairs[0], "--results", tmp_path)
    assert done.returncode in (0, 10), done.stderr
    run = only_run(tmp_path)
    manifest = lab.manifest_of(run)
    assert [(disk["kind"], disk["name"]) for disk in manifest["data_disks"]] == [("loop", "d1"), ("loop", "d2")]
    assert len(manifest["disk_ceilings"]) == 3
    assert [trial["measurement"]["rows_counted"] for trial in lab.trials_of(run)] == [100_000, 100_000]
    left = f"grep {run.name} /proc/mounts; ls /var/lib/scale-disks; losetup -n -O BACK-FILE | grep {run.name}"
    assert lab.on(1, left) == ""


def cut(host):
    """Drops everything that reaches a host, or leaves it, until its lease has ended its agent with all that it made."""
    lab.on(host, "iptables -I INPUT ! -i lo -j DROP; iptables -I OUTPUT ! -o lo -j DROP")
    lab.await_gone([host], CUT_S)


def join(host):
    lab.on(host, "iptables -F INPUT; iptables -F OUTPUT")


def goes_on_after_a_cut(inventory, load, results):
    """The load host ends its load by itself; the trial names the host; the next one runs when the host is back."""
    process = begun(inventory, results, *OPEN, "--replicates", "2")
    try:
        cut(load)
    finally:
        join(load)
    output, _ = process.communicate(timeout=240)
    first, second = lab.trials_of(only_run(results))
    assert_aborted(first, f"host{load}", output)
    assert_measured(second, output)


def is_resumed_after_a_cut(inventory, server, results):
    """The server's host removes its server by itself; the interrupted run continues."""
    process = begun(inventory, results, "--replicates", "2")
    try:
        cut(server)
        process.send_signal(signal.SIGINT)
    finally:
        join(server)
    output, _ = process.communicate(timeout=240)
    (first,) = lab.trials_of(only_run(results))
    assert_aborted(first, f"host{server}", output)
    resumed = lab.scale("resume", "last", "--results", results, "--no-metrics")
    first, second = lab.trials_of(only_run(results))
    assert_measured(second, resumed.stderr)


def test_a_host_that_nobody_reaches_for_a_while_costs_one_trial(pairs, tmp_path):
    at_once(
        tmp_path,
        lambda results: goes_on_after_a_cut(pairs[0], 2, results),
        lambda results: is_resumed_after_a_cut(pairs[1], 4, results),
    )
    lab.await_gone((1, 2, 3, 4), 60)


A, B, C = (f"{name} ansible_host=10.87.0.{number}" for name, number in (("a", 11), ("b", 12), ("c", 13)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"[load]\n{B}\n", "[server] is missing"),
        (f"[server]\n{A}\n{B}\n[load]\n{C}\n", "[server] names a, b"),
        (f"[server]\n{A}\n", "[load] is missing"),
        (f"[server]\n{A}\n[load]\na\n", "a is in [server] and in [load]"),
        ("[server\n", "Failed to parse"),
        (f"[server]\n{A}\n[load]\n{B}\n", "Host key verification failed"),
        (f"[server]\n{A} scale_cpus=x\n[load]\n{B}\n", "scale_cpus"),
        (f"[server]\n{A} scale_core=1\n[load]\n{B}\n", "scale_core"),
    ],
)
def test_a_wrong_inventory_is_refused_before_anything_starts(prepared, tmp_path, text, words):
    path = tmp_path / "wrong.ini"
    path.write_text(text)
    assert words in lab.refused(*lab.SWEEP, "--hosts", path, results=tmp_path / "results")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--target", "prometheus"), "--insecure-network"),
        (("--cores", "64"), "64"),
        (("--data-dir", "ram:4000GiB"), "--data-dir"),
    ],
)
def test_what_the_hosts_cannot_do_is_refused_by_its_flag(pairs, tmp_path, words, names):
    assert names in lab.refused(*lab.SWEEP, *words, "--hosts", pairs[0], results=tmp_path / "results", codes=(2, 3))


def runs_by_host(results):
    """A run that has just begun has no host in its manifest yet."""
    runs = [path.parent for path in results.glob("*/manifest.json")]
    return {lab.manifest_of(run).get("fleet", {}).get("host"): run for run in runs}


def test_two_servers_run_in_parallel_and_stand_on_one_page(fleet, tmp_path):
    results, page = tmp_path / "results", tmp_path / "fleet.html"
    words = (*lab.SWEEP, *EACH, *lab.LIGHT, "--duration", "3s", "--cores", "0.5,1", "--hosts", fleet, "--json")
    done = lab.scale(*words, "--results", results)
    assert done.returncode in (0, 21, 22), done.stderr  # on a busy machine no trial may be VALID
    runs = runs_by_host(results)
    manifests = {name: lab.manifest_of(run) for name, run in runs.items()}
    assert sorted(runs) == ["host1", "host2"]
    assert [manifests[name]["hosts"]["load"] for name in sorted(runs)] == [["host3"], ["host4"]]
    assert len({manifest["fleet"]["id"] for manifest in manifests.values()}) == 1
    trials = [lab.trials_of(run) for run in runs.values()]
    assert all(manifest["status"] == "complete" for manifest in manifests.values())
    assert {trial["verdict"]["kind"] for of_run in trials for trial in of_run}.isdisjoint(LOST)
    first, second = ([trial["trial"]["trial_id"] for trial in of_run] for of_run in trials)
    assert first == second and len(first) == 2
    compared = lab.scale("compare", *runs.values(), "--side-by-side", "--html", page)
    assert compared.returncode == 0, compared.stderr
    assert "host1" in page.read_text() and "host2" in page.read_text()
    lab.await_gone((1, 2, 3, 4), 60)


def test_a_host_that_loses_its_agent_ends_no_other_run(fleet, tmp_path):
    process = lab.started(
        *lab.SWEEP, *lab.LIGHT, "--duration", "8s", "--each-server", "--hosts", fleet, "--results", tmp_path
    )
    waited_for(lambda: "host1" in runs_by_host(tmp_path) or process.poll() is not None)
    lab.await_measuring(process, runs_by_host(tmp_path).get("host1", tmp_path))
    lab.on(1, f"pkill -9 -f '^[^ ]*python3 -P -m {AGENT}'")
    output, _ = process.communicate(timeout=200)
    assert process.returncode in (21, 22), output
    assert "host1" in output.strip().splitlines()[-1], output
    runs = runs_by_host(tmp_path)
    kinds = {name: [trial["verdict"]["kind"] for trial in lab.trials_of(run)] for name, run in runs.items()}
    assert "ABORTED" in kinds["host1"] and "ABORTED" not in kinds["host2"]
    assert lab.manifest_of(runs["host2"])["status"] == "complete" and len(kinds["host2"]) == 1


@pytest.mark.parametrize(
    ("change", "words", "names"),
    [
        (("host2 ansible", "#host2 ansible"), EACH, "only host1"),
        (("", ""), EACH[:1], "--each-server runs the sweep"),
        (("", ""), (*EACH, "--skip-missing", "--cores", "64"), "--cores: 64 cores"),
        (("host2 ansible_host=10.87.0.12", "host2 ansible_host=10.87.0.11"), EACH, "host1 and host2 are one machine"),
        (("", ""), (*EACH, "--cluster", "tls://10.87.0.1:1"), "--cluster beside --hosts"),
        (("", ""), ("--skip-missing",), "--skip-missing: the sweep has one server"),
    ],
)
def test_what_a_fleet_cannot_do_is_refused_before_anything_starts(fleet, tmp_path, change, words, names):
    path = tmp_path / "hosts.ini"
    path.write_text(fleet.read_text().replace(*change, 1))
    assert names in lab.refused(*lab.SWEEP, *words, "--hosts", path, results=tmp_path / "results")


def test_a_server_of_the_controller_is_copied_once_and_swept(pairs, tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_SERVERS_DIR", str(tmp_path / "servers"))
    words = ("hosts", "prepare", pairs[1], "--servers", "postgres", "--json")
    assert "scale servers install postgres" in lab.refused(*words[:-1])
    installed = lab.scale("servers", "install", "postgres")
    assert installed.returncode == 0, installed.stderr
    for is_changed in (True, False):
        server, load = json.loads(lab.scale(*words).stdout)
        assert (server["changed"] > 0, load["changed"]) == (is_changed, 0)
        assert server["servers"] and server["lacks"] == [] and "servers" not in load
    run, said = swept(pairs[1], tmp_path / "results", "--quick", "--rows", "100k")
    assert "postgres 18.6" in said, said
    (trial,) = lab.trials_of(run)
    assert trial["measurement"]["rows_counted"] == 100_000, trial["verdict"]


def test_clean_removes_what_prepare_made(prepared):
    cleaned = lab.scale("hosts", "clean", prepared)
    assert cleaned.returncode == 0, cleaned.stderr
    assert (lab.on(2, "ls -A /root") + lab.on(4, "ls -A /root")).strip() == ""
    done = lab.scale(*lab.SWEEP, "--hosts", prepared)
    assert done.returncode != 0 and "scale hosts prepare" in done.stderr
