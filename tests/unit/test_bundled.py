"""Sweeps and published tables by their names, from any folder: what a local file changes, and what is said of others."""

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import all_axes
from scale_sweep.results.store.reference import bundled_tables, find_reference, read_reference
from scale_sweep.sweep.file import read_sweep_file
from scale_sweep.sweep.find import bundled_sweeps, sweep_path
from scale_sweep.sweep.prices import bundled_prices
from scale_sweep.sweep.resolve import resolve_sweep
from tools.dist import with_absolute_links

LOCAL = '[axis]\ncores = "1..2"\n[target]\nname = "null"\n'


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_bundled_sweep_is_one_by_its_name():
    assert {"article-cpu", "article-disk", "databases", "tdengine-cpu"} <= set(bundled_sweeps())
    for name in bundled_sweeps():
        assert read_sweep_file(sweep_path(name))["name"] == name


def test_a_price_list_is_no_sweep():
    assert not {"prices-example"} & set(bundled_sweeps())
    assert "prices-example" in bundled_prices()
    with pytest.raises(UsageError, match="neither a kind of sweep"):
        sweep_path("prices-example")


def test_no_bundled_sweep_has_the_name_of_an_axis():
    words = {word for axis in all_axes() for word in (axis.facts.command, axis.facts.name)}
    assert not words & set(bundled_sweeps())


def test_a_local_file_counts_before_a_bundled_sweep(elsewhere):
    assert resolve_sweep("article-cpu", {}).target == "tdengine"
    (elsewhere / "article-cpu").mkdir()
    assert resolve_sweep("article-cpu", {}).target == "tdengine", "a folder is no sweep"
    (elsewhere / "article-cpu").rmdir()
    (elsewhere / "article-cpu").write_text(LOCAL)
    assert resolve_sweep("article-cpu", {}).target == "null"


def test_an_unknown_sweep_is_told_all_names():
    with pytest.raises(UsageError) as refused:
        sweep_path("article-cpus")
    for name in ("cpu", "clients", *bundled_sweeps()):
        assert name in refused.value.message
    assert "did you mean article-cpu?" in refused.value.message


def test_a_missing_file_is_not_looked_for_among_the_bundled_sweeps():
    with pytest.raises(UsageError, match=r"article-cpu\.toml: No such file"):
        resolve_sweep("article-cpu.toml", {})


def test_tables_by_name_and_a_local_file_before_them(elsewhere):
    assert "tdengine-cpu" in bundled_tables()
    rows = read_reference("tdengine-cpu")
    assert rows and rows[0]["cores"] == "1"
    (elsewhere / "tdengine-cpu").write_text("cores,rows_per_s\n7,1\n")
    rows = read_reference("tdengine-cpu")
    assert rows and rows[0]["cores"] == "7"
    with pytest.raises(UsageError, match="did you mean tdengine-disk") as refused:
        find_reference("tdengine-disc")
    assert "iotdb-kairosdb" in refused.value.remedy


def test_links_of_a_long_description():
    text = "[![a curve](docs/a.svg)](docs/a.md) [b](#b) [c](https://c.example/)"
    there = with_absolute_links(text, "https://git.example.org/scale", "v1.0.0")
    assert there == (
        "[![a curve](https://git.example.org/scale/raw/v1.0.0/docs/a.svg)]"
        "(https://git.example.org/scale/blob/v1.0.0/docs/a.md) [b](#b) [c](https://c.example/)"
    )
