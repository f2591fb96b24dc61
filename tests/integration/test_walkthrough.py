"""The commands of README and the tutorial print what the pages show, and docs/notebook.ipynb runs on a stored run."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.integration.cli import assert_nothing_left
from tests.unit.stored_runs import unpacked
from tools.walkthrough.__main__ import TUTORIAL, compared, failed, steps_of, walk


@pytest.mark.alone
def test_readme_and_tutorial_show_what_the_commands_print(tmp_path: Path):
    assert compared(walk(tmp_path)) == []
    assert_nothing_left(tmp_path)


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
