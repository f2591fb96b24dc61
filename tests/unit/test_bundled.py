"""Sweeps and published tables by their names, from any folder: what a local file changes, and what is said of others."""

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import all_axes
from scale_sweep.results.store.outside import bundled_tables, find_reference, read_reference
from scale_sweep.sweep.file import bundled_sweeps, read_sweep_file, sweep_path
from scale_sweep.sweep.prices import bundled_prices
from scale_sweep.sweep.resolve import resolve_sweep

LOCAL = '[axis]\ncores = "1..2"\n[target]\nname = "null"\n'


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_bundled_sweep_is_one_by_its_name_and_none_has_that_of_an_axis_or_a_price_list():
    assert {"article-cpu", "article-disk", "databases", "tdengine-cpu"} <= set(bundled_sweeps())
    for name in bundled_sweeps():
        assert read_sweep_file(sweep_path(name))["name"] == name
    words = {word for axis in all_axes() for word in (axis.facts.command, axis.facts.name)}
    assert not {*words, "prices-example"} & set(bundled_sweeps())
    assert "prices-example" in bundled_prices()
    with pytest.raises(UsageError, match="prices-example"):
        sweep_path("prices-example")


def test_a_local_file_counts_before_a_bundled_sweep_or_table(elsewhere):
    assert resolve_sweep("article-cpu", {}).target == "tdengine"
    (elsewhere / "article-cpu").mkdir()
    assert resolve_sweep("article-cpu", {}).target == "tdengine", "a folder is no sweep"
    (elsewhere / "article-cpu").rmdir()
    (elsewhere / "article-cpu").write_text(LOCAL)
    assert resolve_sweep("article-cpu", {}).target == "null"
    assert "tdengine-cpu" in bundled_tables()
    assert read_reference("tdengine-cpu")[0]["cores"] == "1"
    (elsewhere / "tdengine-cpu").write_text("cores,rows_per_s\n7,1\n")
    assert read_reference("tdengine-cpu")[0]["cores"] == "7"


def test_an_unknown_sweep_or_table_is_told_all_names_and_a_file_is_not_looked_for_among_them():
    with pytest.raises(UsageError, match=r"article-cpu\?") as refused:
        sweep_path("article-cpus")
    assert all(name in refused.value.message for name in ("cpu", "clients", *bundled_sweeps()))
    with pytest.raises(UsageError, match=r"article-cpu\.toml: No such file"):
        resolve_sweep("article-cpu.toml", {})
    with pytest.raises(UsageError, match=r"tdengine-disk\?") as refused:
        find_reference("tdengine-disc")
    assert "iotdb-kairosdb" in refused.value.remedy
