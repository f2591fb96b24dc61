"""A whole sweep of simulated servers on a machine that is not here: rates, marks, comparisons, and what is left."""

import csv
import json
from pathlib import Path

import pytest

from tests.integration.cli import assert_measured, assert_nothing_left, run

MACHINE = str(Path(__file__).resolve().parents[2] / "sweeps/machines/two-sockets.toml")
SHORT = "--replicates 1 --duration 2s --warmup 1s --window-max 0 --connections-check off --no-metrics --json".split()
LAW = "--knob law=usl --knob alpha=0.02 --knob beta=0 --knob service_us=20000 --knob noise=0".split()
LEVELS = (1, 8, 40)


@pytest.fixture(scope="module")
def swept(data_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    words = ("sweep", "cpu", "--target", "simulated", "--machine", MACHINE, "--data-dir", str(data_dir))
    done = run(*words, "--cores", ",".join(map(str, LEVELS)), *LAW, *SHORT, cwd=folder)
    assert_measured(done)
    return folder, json.loads(done.stdout)


def test_the_rates_and_the_cpu_time_follow_the_law(swept, data_dir):
    """The load generator may lack CPU time, so that servers wait; it never gets more than they can do."""
    _, document = swept
    measured = {t["trial"]["level"]: t["measurement"] for t in document["trials"] if t["trial"]["role"] == "point"}
    assert tuple(sorted(measured)) == LEVELS
    for cores, figures in measured.items():
        most = 5000 * cores / (1 + 0.02 * (cores - 1))
        assert 0.5 * most < figures["rows_per_s"] <= 1.05 * most
        assert 0.5 * cores < figures["server_cpu_cores"] <= 1.05 * cores
        assert figures["rows_counted"] == figures["rows_acked"]
        assert figures["other_cpu_cores"] is None, "of this machine"
        assert list(figures["hosts"]) == ["this machine"]
    assert_nothing_left(data_dir)


def test_every_file_of_the_run_says_that_it_is_simulated(swept):
    folder, document = swept
    path = folder / document["path"]
    assert document["fit"]["sentence"].startswith("Simulated: ")
    assert "simulated: no database" in (path / "report.md").read_text()
    assert "simulated rows/s" in (path / "report.html").read_text()
    rows = list(csv.DictReader((path / "points.csv").open()))
    assert {(row["target"], row["runtime"], row["server_cpus"]) for row in rows if row["cores"] == "1.0"} == {
        ("simulated", "simulated", "0")
    }
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["host"]["hostname"] == "two-sockets" and not manifest["host"]["makes_load"]
    shown = run("show", "last", cwd=folder)
    assert "simulated (no database)" in shown.stdout and "but: simulated: no database" in shown.stdout


def test_its_run_is_verified_sized_and_compared_with_its_kind_only(swept):
    folder, document = swept
    assert run("verify", "last", cwd=folder).returncode == 0
    sized = run("size", "--need", "4k", "--run", document["path"], cwd=folder)
    assert sized.returncode in (0, 13) and "simulated rows/s" in sized.stdout
    other = run("sweep", "cpu", "--target", "null", "--cores", "1", *SHORT, cwd=folder)
    compared = run("compare", document["path"], json.loads(other.stdout)["path"], cwd=folder)
    assert compared.returncode == 2 and "simulated rows/s" in compared.stderr


def test_a_sweep_that_was_interrupted_goes_on_on_the_same_machine(swept):
    """A run without its last trial."""
    folder, document = swept
    path = folder / document["path"]
    kept = json.loads((path / "manifest.json").read_text())["host"]
    for file in (path / "trials").glob("cores-8-r1/trial.json"):
        file.unlink()
    resumed = run("resume", document["path"], "--no-metrics", "--json", cwd=folder)
    assert resumed.returncode in (0, 10), resumed.stderr
    assert json.loads((path / "manifest.json").read_text())["host"] == kept
