"""The commands of README and the tutorial print what the pages show; their sweep is stored, read and verified; and
docs/notebook.ipynb runs on a stored run."""

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.integration.cli import assert_nothing_left, run
from tests.unit.stored_runs import unpacked
from tools.walkthrough.__main__ import TUTORIAL, compared, failed, steps_of, walk

# `make sweep` on the minimal Debian (tools/bare_machine.py) runs the command as it is: up to seven replicates, and two
# longer trials.
ALSO = "--replicates 3 --drift-check off --tag who=test"


@dataclass(frozen=True)
class Swept:
    """The tutorial's sweep. outputs: of each command of the tutorial. trials: what `scale show` says of them."""

    folder: Path
    outputs: dict[str, str]
    path: Path
    trials: list[dict[str, Any]]


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> Swept:
    folder = tmp_path_factory.mktemp("walk")
    outputs = walk(folder, ALSO)
    (path,) = folder.glob("results/*-cpu-*")
    shown = json.loads(run("show", "last", "--json", cwd=folder).stdout)
    return Swept(folder=folder, outputs=outputs, path=path, trials=shown["trials"])


@pytest.mark.alone
def test_readme_and_tutorial_show_what_the_commands_print(swept):
    assert compared(swept.outputs) == []
    assert_nothing_left(swept.folder)


def test_commands_without_a_shown_output_end_as_their_pages_say(tmp_path: Path):
    unpacked("cpu", tmp_path / "results")
    shown = {step.command: "" for step in steps_of(TUTORIAL.read_text(encoding="utf-8"))}
    assert failed(tmp_path, shown) == []


ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs/notebook.ipynb"
CELL_S = 120


def test_every_cell_runs(tmp_path, monkeypatch):
    unpacked("cpu", tmp_path / "results")
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "jupyter"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT / "runner"), os.environ.get("PYTHONPATH", ""))))
    assert NOTEBOOK.stat().st_size < 100_000
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=CELL_S, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [str(cell.outputs) for cell in cells]
    assert len(cells) > 5 and all(outputs)
    assert "-cpu-postgres-" in outputs[0]
    assert any("image/svg+xml" in output for output in outputs), "the curve is shown"
    assert any("speedup" in output and "text/html" in output for output in outputs), "a data frame is shown"


@pytest.mark.alone
def test_two_points_that_use_their_cores_and_true_verdicts(swept):
    trials = swept.trials
    points = {1: [], 2: []}
    for point in (t for t in trials if t["trial"]["role"] == "point"):
        points[point["trial"]["resources"]["amounts"]["cores"]["value"]].append(point["measurement"])
    assert [len(each) for each in points.values()] == [3, 3]
    assert min(m["rows_per_s"] for m in points[1]) > 10_000
    assert max(m["server_cpu_cores"] for m in points[2]) > 1.05, "neighbours may hide the gain of two cores"
    for trial in trials:
        m = trial["measurement"]
        assert trial["verdict"]["kind"] == "VALID" or trial["verdict"]["reasons"]
        assert m["rows_counted"] == m["rows_acked"] >= m["rows"] > 0
        assert 0.3 < m["server_cpu_cores"] <= trial["trial"]["resources"]["amounts"]["cores"]["value"] * 1.03
        assert m["generator_cpu_cores"] > 0.001 and m["memory_used_gb"] > 0.01


@pytest.mark.alone
def test_what_is_stored(swept):
    path = swept.path
    manifest = json.loads((path / "manifest.json").read_text())
    rows = list(csv.DictReader((path / "points.csv").open()))
    series = list(csv.DictReader((path / "timeseries.csv").open()))
    assert manifest["schema"] == 8
    assert manifest["status"] == "complete"
    assert manifest["tags"] == {"who": "test"}
    assert any(origin in manifest["choice"] for origin in ("wheel", "installed", "PATH", "scale servers"))
    assert {r["role"] for r in rows} <= {"point", "check"}, "the connections may be checked"
    assert [r["role"] for r in rows].count("point") == 6
    assert len(rows) == len(swept.trials)
    assert all(float(r["rows_per_s"]) > 0 for r in rows)
    assert {r["trial_id"] for r in series} == {r["trial_id"] for r in rows}
    for row in rows:
        trial = path / "trials" / row["trial_id"]
        for name in ("spec", "loadgen.jsonl", "samples.jsonl", "server.log", "trial.json"):
            assert (trial / name).stat().st_size > 0, name
        assert "assword" not in (trial / "spec").read_text()
    html = (path / "report.html").read_text()
    assert "CPU" in html and "<script src" not in html
    assert (path / "report.md").stat().st_size > 500


@pytest.mark.alone
def test_list_show_and_report_read_it_again(swept):
    listed = json.loads(run("list", "--json", cwd=swept.folder).stdout)
    assert [r["run"] for r in listed] == [swept.path.name]
    for trial in swept.trials:
        stored = json.loads((swept.path / "trials" / trial["trial"]["trial_id"] / "trial.json").read_text())
        if checked := stored["verdict"]["once_checked"]:  # the check with twice the connections decides
            assert trial["verdict"]["kind"] in (checked, stored.pop("verdict")["kind"])
        assert stored.pop("schema") == 8 and trial | stored == trial
    report = swept.path / "report.html"
    report.unlink()
    assert run("report", swept.path.name, cwd=swept.folder).returncode == 0 and report.exists()
