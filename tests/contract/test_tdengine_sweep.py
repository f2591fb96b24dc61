"""The sweep on a real TDengine 3.3: process, container, endpoint; every knob read back; who was the bottleneck.

Needs SCALE_TDENGINE_HOME (a directory with bin/ and lib/); the container also an image tdengine/tdengine:3.3.0.0.
    SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_sweep.py
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tdengine_server import listens

from scale_sweep.machine.host.server_user import server_user
from scale_sweep.server.runtimes.docker_engine import image_state
from tests.contract.tdengine_contract import HOME, IMAGE, NEEDS_SERVER
from tests.integration.cli import run, waited_for
from tests.integration.short_trial import watched
from tests.unit.trial_orders import result_of, trial_order

HERE = f"--runtime process --home {HOME}"
pytestmark = list(NEEDS_SERVER)


def refused(tmp_path, words):
    """What the command says of a sweep that does not begin."""
    done = sweeping(tmp_path, words)
    assert done.returncode == 3, done.stderr
    return done.stderr


def swept(tmp_path, words):
    """The trials of the sweep."""
    done = sweeping(tmp_path, words)
    assert done.returncode in (0, 10), done.stderr  # on a machine that others use, no trial may be VALID
    return json.loads(done.stdout)["trials"]


def sweeping(tmp_path, words):
    quick = "sweep cpu --target tdengine --duration 4s --warmup 1s --replicates 1 --json"
    return run(*f"{quick} {words}".split(), cwd=tmp_path, timeout_s=240)


def test_every_knob_is_set_read_back_and_counted(tmp_path, where, data_dir):
    knobs = "--knob buffer=32 --knob wal_level=1 --knob numOfVnodeQueryThreads=4 --commit-threads 3"
    words = f"{where} --cores 1..2 --vgroups 6 --connections 3 {knobs} --data-dir {data_dir}"
    trials = swept(tmp_path, words)
    assert len(trials) == 2
    for trial in trials:
        m, said = trial["measurement"], trial["effective"]
        assert m["rows_counted"] == m["rows_acked"] > 100_000
        names = ("vgroups", "numOfCommitThreads", "buffer", "numOfVnodeQueryThreads")
        assert [said[name] for name in names] == ["6", "3", "32", "4"]
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
    trials = swept(tmp_path, f"{HERE} --cores 1 --vgroups 7 --tables 50")
    path = next((tmp_path / "results").glob("*/trials/*/loadgen.jsonl"))
    hello = json.loads(path.read_text().splitlines()[0])
    assert max(hello["tables_per_partition"]) - min(hello["tables_per_partition"]) <= 1
    read_back = [int(n) for n in trials[0]["effective"]["tables_per_vgroup"].split(",")]
    assert sorted(read_back) == sorted(hello["tables_per_partition"]) and sum(read_back) == 50
    assert trials[0]["measurement"]["errors"] == 0


def test_sql_text_is_the_generators_limit_and_said_so(tmp_path):
    trials = swept(tmp_path, f"{HERE} --cores 1 --method sql")
    m = trials[0]["measurement"]
    assert m["rows_counted"] == m["rows_acked"]
    if m["other_cpu_cores"] < 0.1:
        assert trials[0]["verdict"]["kind"] == "GENERATOR_BOUND"


@pytest.mark.parametrize("method", ["stmt", "sml-line", "rest", "ws"])
def test_every_method_counts_what_it_acknowledged_in_microseconds(tmp_path, method):
    """Of a precision that is not the default, which the load generator has to be told."""
    _skip_without_adapter(method)
    m = swept(tmp_path, f"{HERE} --cores 1 --method {method} --knob precision=us")[0]["measurement"]
    assert m["rows_counted"] == m["rows_acked"] > 10_000


def test_more_threads_than_one_client_process_serves(tmp_path):
    words = f"{HERE} --cores 1 --connections 12 --vgroups 12 --knob buffer=16"
    m = swept(tmp_path, words)[0]["measurement"]
    assert m["rows_counted"] == m["rows_acked"]
    raw = next((tmp_path / "results").glob("*/trials/*/loadgen.jsonl")).read_text()
    assert raw.count('"event":"hello"') == 2


def test_the_genuine_loader(tmp_path):
    words = (
        f"sweep cpu --target tdengine {HERE} --cores 1 --rows 5M --replicates 1 --load-generator taosbenchmark --json"
    )
    done = run(*words.split(), cwd=tmp_path, timeout_s=240)
    assert done.returncode in (0, 10), done.stderr
    m = json.loads(done.stdout)["trials"][0]["measurement"]
    assert m["rows"] == m["rows_counted"] == 5_000_000


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
        waited_for(lambda: listens(port))
        said = refused(tmp_path, f"--endpoint 127.0.0.1:{port} --home {HOME} --cores 1")
        assert "FQDN: the server calls itself td1" in said and "/etc/hosts" in said
    finally:
        subprocess.run(["docker", "rm", "-f", name], check=False, capture_output=True)


def test_an_endpoint_is_loaded_and_goes_on(tmp_path, server):
    there = f"--endpoint localhost:{server.port} --home {HOME} --cores 2"
    server.stop_adapter()
    said = refused(tmp_path, f"{there} --vgroups 80 --method rest")
    assert "80 vgroups are more than the 64" in said and f"taosAdapter on localhost:{server.adapter_port}" in said
    m = swept(tmp_path, there)[0]["measurement"]
    assert m["rows_counted"] == m["rows_acked"] > 100_000
    assert m["server_cpu_cores"] > 0.1
    assert "ready" in server.shell("SHOW DNODES")
