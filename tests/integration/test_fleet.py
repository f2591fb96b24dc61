"""The same sweep on two servers, for real: four hosts in namespaces, Debian's sshd, Ansible, PostgreSQL."""

import json
import subprocess
import time

import pytest

from tests.integration.hosts_of_tools import LIGHT, argv, await_gone, down, environment, on, scale, up
from tests.needs import needs

SWEEP = ("sweep", "cpu", "--cores", "1", "--target", "postgres", "--replicates", "1", "--no-metrics", "-y")
EACH = ("--quick", "--each-server", "--drift-check", "off")

pytestmark = [pytest.mark.timeout(450), needs("root", "sshd")]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    path = tmp_path_factory.mktemp("fleet") / "hosts.ini"
    up(path, "4")
    prepared = scale("hosts", "prepare", path)
    assert prepared.returncode == 0, prepared.stderr
    yield path
    down()


def runs_by_host(results):
    manifests = {run: json.loads((run / "manifest.json").read_text()) for run in results.iterdir()}
    # A run that has just begun has no host in its manifest yet.
    return {manifest.get("fleet", {}).get("host"): (run, manifest) for run, manifest in manifests.items()}


def trials_of(run):
    return [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]


def test_two_servers_run_in_parallel_and_stand_on_one_page(hosts, tmp_path):
    results = tmp_path / "results"
    swept = scale(*SWEEP, *EACH, "--cores", "0.5,1", "--hosts", hosts, "--results", results, "--json")
    assert swept.returncode in (0, 21, 22), swept.stderr  # on a busy machine no trial may be VALID
    runs = runs_by_host(results)
    assert sorted(runs) == ["host1", "host2"]
    assert [runs[name][1]["hosts"]["load"] for name in ("host1", "host2")] == [["host3"], ["host4"]]
    assert len({manifest["fleet"]["id"] for _, manifest in runs.values()}) == 1
    for run, manifest in runs.values():
        assert manifest["status"] == "complete" and len(trials_of(run)) == 2
        assert {t["verdict"]["kind"] for t in trials_of(run)}.isdisjoint({"ABORTED", "LOST_ROWS", "WRONG_ROWS"})
    orders = [[t["trial"]["trial_id"] for t in sorted(trials_of(run), key=order_of)] for run, _ in runs.values()]
    assert orders[0] == orders[1]
    page = tmp_path / "fleet.html"
    compared = scale("compare", *(run for run, _ in runs.values()), "--side-by-side", "--html", page)
    assert compared.returncode == 0, compared.stderr
    assert "host1" in page.read_text() and "host2" in page.read_text()
    await_gone((1, 2, 3, 4), 60)


def order_of(trial):
    return trial["trial"]["order"]


def test_a_host_that_loses_its_agent_ends_no_other_run(hosts, tmp_path):
    words = (*SWEEP, *LIGHT, "--duration", "8s", "--each-server", "--hosts", hosts, "--results", tmp_path)
    process = subprocess.Popen(
        argv(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment()
    )
    await_measuring(process, tmp_path)
    on(1, "pkill -9 -f '^[^ ]*python3 -P -m scale_sweep.agent'")
    output, _ = process.communicate(timeout=200)
    assert process.returncode in (21, 22), output
    assert "host1" in output.strip().splitlines()[-1], output
    runs = runs_by_host(tmp_path)
    kinds = {name: [t["verdict"]["kind"] for t in trials_of(run)] for name, (run, _) in runs.items()}
    assert "ABORTED" in kinds["host1"] and "ABORTED" not in kinds["host2"]
    assert runs["host2"][1]["status"] == "complete" and len(kinds["host2"]) == 1


def await_measuring(process, results):
    """Waits until host1 measures."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        here = runs_by_host(results).get("host1") if any(results.glob("*/manifest.json")) else None
        if here and any('"measure"' in path.read_text() for path in here[0].glob("trials/*/journal.jsonl")):
            return
        time.sleep(0.2)
    process.kill()
    raise AssertionError(process.communicate()[0])


@pytest.mark.parametrize(
    ("change", "words", "names"),
    [
        (lambda text: text.replace("host2 ansible", "#host2 ansible", 1), EACH, "only host1"),
        (lambda text: text, EACH[:1], "--each-server runs the sweep"),
        (lambda text: text, (*EACH, "--skip-missing", "--cores", "64"), "--cores: 64 cores"),
        (
            lambda text: text.replace("host2 ansible_host=10.87.0.12", "host2 ansible_host=10.87.0.11"),
            EACH,
            "host1 and host2 are one machine",
        ),
        (lambda text: text, (*EACH, "--cluster", "tls://10.87.0.1:1"), "--cluster beside --hosts"),
        (lambda text: text, ("--skip-missing",), "--skip-missing: the sweep has one server"),
    ],
)
def test_what_a_fleet_cannot_do_is_refused_before_anything_starts(hosts, tmp_path, change, words, names):
    path = tmp_path / "hosts.ini"
    path.write_text(change(hosts.read_text()))
    refused = scale(*SWEEP, *words, "--hosts", path, "--results", tmp_path / "results")
    assert refused.returncode == 2, refused.stderr
    assert names in refused.stderr
    assert not (tmp_path / "results").exists()
