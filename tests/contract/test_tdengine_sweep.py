"""The sweep on a real TDengine 3.3: process, container, endpoint; every knob read back; who was the bottleneck.

Needs SCALE_TDENGINE_HOME (a directory with bin/ and lib/); the container also an image tdengine/tdengine:3.3.0.0.
    SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_sweep.py
"""

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from scale_sweep.machine.host.server_user import server_user
from scale_sweep.server.runtimes.docker_facts import image_state
from tests.integration.cli import run
from tests.integration.short_trial import watched
from tests.unit.trial_orders import result_of, trial_order

HOME = os.environ.get("SCALE_TDENGINE_HOME", "")
IMAGE = "tdengine/tdengine:3.3.0.0"
QUICK = ("--target", "tdengine", "--duration", "4s", "--warmup", "1s", "--replicates", "1", "--json")
pytestmark = [
    pytest.mark.tdengine,
    pytest.mark.skipif(not HOME, reason="no TDengine: set SCALE_TDENGINE_HOME to a directory with bin/ and lib/"),
]


def swept(tmp_path, *words, code=0):
    done = run("sweep", "cpu", *QUICK, *words, cwd=tmp_path, timeout_s=240)
    if code:
        assert done.returncode == code, done.stderr
        return done
    assert done.returncode in (0, 10), done.stderr  # on a machine that others use, no trial may be VALID
    return json.loads(done.stdout)["trials"]


def listens(port):
    """Waits at most a minute until a server accepts connections: on a busy machine taosd needs many seconds."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.3)
    return False


@pytest.fixture
def data_dir():
    """A data directory of the test's own, which must be empty at the end but for the client library's copy."""
    path = Path(f"/var/tmp/scale-test-tdengine-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    left = [p.name for p in path.iterdir()]
    running = subprocess.run(["pgrep", "-f", str(path)], capture_output=True, text=True, check=False).stdout.split()
    shutil.rmtree(path)
    assert set(left) <= {"clients"}
    assert running == []


@pytest.fixture(params=["process", "docker"])
def where(request):
    """The flags of a runtime."""
    if request.param == "docker":
        if image_state(IMAGE) != "local":
            pytest.skip(f"image {IMAGE} is not here")
        return ("--runtime", "docker")
    return ("--runtime", "process", "--home", HOME)


def test_every_knob_is_set_read_back_and_counted(tmp_path, where, data_dir):
    trials = swept(
        tmp_path,
        *where,
        "--cores",
        "1..2",
        "--vgroups",
        "6",
        "--connections",
        "3",
        "--commit-threads",
        "3",
        "--knob",
        "buffer=32",
        "--knob",
        "wal_level=1",
        "--knob",
        "numOfVnodeQueryThreads=4",
        "--data-dir",
        str(data_dir),
    )
    assert len(trials) == 2
    for trial in trials:
        m, said = trial["measurement"], trial["effective"]
        assert m["rows_counted"] == m["rows_acked"] > 100_000
        assert said["vgroups"] == "6"
        assert said["numOfCommitThreads"] == "3"
        assert said["buffer"] == "32"
        assert said["numOfVnodeQueryThreads"] == "4"
        assert float(said["numOfCores"]) == trial["trial"]["resources"]["amounts"]["cores"]["value"]
        assert said["server_version"].startswith("3.3")
        assert trial["verdict"]["kind"] not in ("ERRORS", "LOST_ROWS", "ABORTED"), trial["verdict"]
        assert 0 < m["server_cpu_cores"] <= trial["trial"]["resources"]["amounts"]["cores"]["value"] * 1.05
        assert m["durable_rows_per_s"] > 0
        assert m["busiest_thread"].startswith(("vnode", "trans", "wal"))


def _skip_without_adapter(method):
    if method in ("rest", "ws") and not Path(HOME, "bin", "taosadapter").exists():
        pytest.skip(f"no taosadapter in {HOME}")


@pytest.mark.parametrize("method", ["stmt", "ws"])
def test_no_process_of_the_server_has_a_right_of_root(data_dir, monkeypatch, method):
    """By taosadapter too, which runs beside taosd for `ws`."""
    _skip_without_adapter(method)
    monkeypatch.setenv("PATH", f"{HOME}/bin{os.pathsep}{os.environ['PATH']}")
    result = result_of(watched(trial_order(data_dir, "tdengine", load__method=method)))
    assert result.measurement is not None, f"{result.verdict}\n{result.log_tail}"
    if os.geteuid() == 0:
        assert (result.server["user"], result.server["capabilities"]) == (server_user().pw_name, "none")


def test_tables_are_spread_evenly_and_every_vgroup_was_written(tmp_path):
    trials = swept(tmp_path, "--runtime", "process", "--home", HOME, "--cores", "1", "--vgroups", "7", "--tables", "50")
    path = next((tmp_path / "results").glob("*/trials/*/loadgen.jsonl"))
    hello = json.loads(path.read_text().splitlines()[0])
    assert max(hello["tables_per_partition"]) - min(hello["tables_per_partition"]) <= 1
    read_back = [int(n) for n in trials[0]["effective"]["tables_per_vgroup"].split(",")]
    assert sorted(read_back) == sorted(hello["tables_per_partition"]) and sum(read_back) == 50
    assert trials[0]["measurement"]["errors"] == 0


def test_sql_text_is_the_generators_limit_and_said_so(tmp_path):
    trials = swept(tmp_path, "--runtime", "process", "--home", HOME, "--cores", "1", "--method", "sql")
    m = trials[0]["measurement"]
    assert m["rows_counted"] == m["rows_acked"]
    if m["other_cpu_cores"] < 0.1:
        assert trials[0]["verdict"]["kind"] == "GENERATOR_BOUND"


@pytest.mark.parametrize("method", ["stmt", "sml-line", "rest", "ws"])
def test_every_method_counts_what_it_acknowledged_in_microseconds(tmp_path, method):
    """Of a precision that is not the default, which the load generator has to be told."""
    _skip_without_adapter(method)
    trials = swept(
        tmp_path, "--runtime", "process", "--home", HOME, "--cores", "1", "--method", method, "--knob", "precision=us"
    )
    m = trials[0]["measurement"]
    assert m["rows_counted"] == m["rows_acked"] > 10_000


def test_more_threads_than_one_client_process_serves(tmp_path):
    trials = swept(
        tmp_path,
        "--runtime",
        "process",
        "--home",
        HOME,
        "--cores",
        "1",
        "--connections",
        "12",
        "--vgroups",
        "12",
        "--knob",
        "buffer=16",
    )
    m = trials[0]["measurement"]
    assert m["rows_counted"] == m["rows_acked"]
    raw = next((tmp_path / "results").glob("*/trials/*/loadgen.jsonl")).read_text()
    assert raw.count('"event":"hello"') == 2


def test_the_genuine_loader(tmp_path):
    done = run(
        "sweep",
        "cpu",
        "--target",
        "tdengine",
        "--runtime",
        "process",
        "--home",
        HOME,
        "--cores",
        "1",
        "--rows",
        "5M",
        "--replicates",
        "1",
        "--load-generator",
        "taosbenchmark",
        "--json",
        cwd=tmp_path,
        timeout_s=240,
    )
    assert done.returncode in (0, 10), done.stderr
    m = json.loads(done.stdout)["trials"][0]["measurement"]
    assert m["rows"] == m["rows_counted"] == 5_000_000


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (("--knob", "stt_trigger=4"), ("stt_trigger", "community")),
        (("--vgroups", "64", "--knob", "buffer=4096"), ("--vgroups", "GB")),
        (("--vgroups", "8", "--memory", "1GiB"), ("--memory", "killed")),
        (("--vgroups", "8", "--knob", "supportVnodes=4"), ("supportVnodes",)),
        (("--commit-threads", "300"), ("--commit-threads", "256")),
    ],
)
def test_what_the_server_would_refuse_is_found_before_it_starts(tmp_path, words, texts):
    done = swept(tmp_path, "--runtime", "process", "--home", HOME, "--cores", "1", *words, code=3)
    assert all(text in done.stderr for text in texts), done.stderr


def test_a_server_whose_name_does_not_resolve_here_is_refused_before_anything_starts(tmp_path):
    if image_state(IMAGE) != "local":
        pytest.skip(f"image {IMAGE} is not here")
    name, port = f"scale-test-fqdn-{os.getpid()}", 18230
    script = (
        "echo 127.0.0.1 td1 >> /etc/hosts; "
        f"printf 'fqdn td1\nfirstEp td1:{port}\nserverPort {port}\ntelemetryReporting 0\n' > /taos.cfg; exec taosd -c /"
    )
    docker = ["docker", "run", "-d", "--rm", "--name", name, "-h", "td1", "--network", "host", "--entrypoint", "sh"]
    subprocess.run([*docker, IMAGE, "-c", script], check=True, capture_output=True)
    try:
        assert listens(port)
        done = swept(tmp_path, "--endpoint", f"127.0.0.1:{port}", "--home", HOME, "--cores", "1", code=3)
        assert "FQDN: the server calls itself td1" in done.stderr and "/etc/hosts" in done.stderr
    finally:
        subprocess.run(["docker", "rm", "-f", name], check=False, capture_output=True)


def test_an_endpoint_is_loaded_and_goes_on(tmp_path):
    folder = Path(f"/var/tmp/scale-test-endpoint-{os.getpid()}")
    for name in ("cfg", "data", "log"):
        (folder / name).mkdir(parents=True)
    lines = {
        "firstEp": "localhost:18030",
        "fqdn": "localhost",
        "serverPort": "18030",
        "dataDir": f"{folder}/data",
        "logDir": f"{folder}/log",
        "monitor": "0",
        "telemetryReporting": "0",
        "crashReporting": "0",
        "supportVnodes": "32",
    }
    (folder / "cfg" / "taos.cfg").write_text("".join(f"{k} {v}\n" for k, v in lines.items()))
    with subprocess.Popen([f"{HOME}/bin/taosd", "-c", f"{folder}/cfg"], stdout=subprocess.DEVNULL) as server:
        try:
            assert listens(18030)
            there = ("--endpoint", "localhost:18030", "--home", HOME, "--cores", "2")
            refused = swept(tmp_path, *there, "--vgroups", "40", "--method", "rest", code=3).stderr
            assert "40 vgroups are more than the 32" in refused and "taosAdapter on localhost:18041" in refused
            trials = swept(tmp_path, *there)
            m = trials[0]["measurement"]
            assert m["rows_counted"] == m["rows_acked"] > 100_000
            assert m["server_cpu_cores"] > 0.1
            assert server.poll() is None
        finally:
            server.terminate()
            server.wait(timeout=60)
            shutil.rmtree(folder)
