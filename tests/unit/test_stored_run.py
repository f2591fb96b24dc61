"""A stored run from Python: its frames have the cells of points.csv and timeseries.csv."""

import csv
import io
import subprocess
import sys

import pytest

import scale_sweep
from scale_sweep.base import registry
from scale_sweep.base.errors import UsageError
from scale_sweep.results.formats import as_csv, columns_of
from tests.needs import module
from tests.unit.stored_runs import unpacked

pandas = module("pandas")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    unpacked("cpu", folder)
    return folder


def rows_of(run: scale_sweep.Run, what: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(columns_of(run.stored, what)).decode())))


@pytest.mark.parametrize(("what", "attribute"), [("points", "points"), ("timeseries", "seconds")])
def test_frames_have_the_rows_of_the_files(results, what, attribute):
    frame = getattr(scale_sweep.load("last", results), attribute)
    assert isinstance(frame, pandas.DataFrame)
    expected = rows_of(scale_sweep.load("last", results), what)
    assert len(frame) == len(expected) > 3
    assert list(frame.columns) == list(expected[0])
    for cell, text in zip(list(frame["rows_per_s"]), (row["rows_per_s"] for row in expected), strict=True):
        missing = cell is None or cell is pandas.NA or cell != cell
        assert missing if text == "" else cell == float(text)


def test_the_types_of_points_the_fit_the_curve_and_the_report(results, tmp_path):
    run = scale_sweep.load(results=results)
    assert str(run.points.replicate.dtype) == "Int64"
    assert str(run.points.verdict.dtype) == "string"
    assert run.points.groupby("cores").rows_per_s.mean().is_monotonic_increasing
    assert [point.level for point in run.fit.points] == [0.5, 1]
    assert run.curve._repr_svg_().startswith("<svg")
    run.curve.save(tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").read_bytes() == run.curve.svg
    assert run.report().startswith("<!doctype html>")
    assert run.name in {path.name for path in results.iterdir()}


def test_mistakes_are_one_message(results, monkeypatch):
    with pytest.raises(UsageError, match="no run 'nothing'"):
        scale_sweep.load("nothing", results)
    monkeypatch.setattr(registry.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"a data frame needs pandas, .* \[pandas\]"):
        scale_sweep.load("last", results)


def test_import_alone_is_light_and_other_names_do_not_exist():
    code = "import sys, scale_sweep; print('numpy' in sys.modules, 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]
    with pytest.raises(AttributeError, match="has no attribute 'laod'"):
        scale_sweep.laod  # noqa: B018
