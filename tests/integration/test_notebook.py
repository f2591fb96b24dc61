"""docs/notebook.ipynb runs from its first to its last cell on a stored run, in a kernel that knows only the package."""

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.unit.stored_runs import unpacked

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs/notebook.ipynb"
CELL_S = 120


def test_every_cell_runs(tmp_path, monkeypatch):
    unpacked("cpu", tmp_path / "results")
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "jupyter"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT / "runner"), os.environ.get("PYTHONPATH", ""))))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=CELL_S, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [str(cell.outputs) for cell in cells]
    assert len(cells) > 5 and all(outputs)
    assert "-cpu-postgres-" in outputs[0]
    assert any("image/svg+xml" in output for output in outputs), "the curve is shown"
    assert any("speedup" in output and "text/html" in output for output in outputs), "a data frame is shown"


def test_it_is_kept_small():
    assert NOTEBOOK.stat().st_size < 100_000
