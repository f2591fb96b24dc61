"""Exports: the same cells in every format, nulls as nulls, types in Parquet, and the data file below a picture, whose text is
the same when the numbers are computed again."""

import base64
import csv
import io
import json
import math
import re
from dataclasses import replace

import pytest

from scale_sweep.base.errors import StoreError
from scale_sweep.model.declared_parts import KnobColumn, KnobRole
from scale_sweep.report.forms import figure_html
from scale_sweep.results.formats import as_csv, as_json, as_parquet, columns_of
from scale_sweep.results.store.outside import write_outside
from scale_sweep.results.store.texts import point_columns
from tests.needs import module
from tests.unit.factories import amounts
from tests.unit.synthetic_run import mixed_run

parquet = module("pyarrow.parquet")
RUN = mixed_run()


@pytest.mark.parametrize("what", ["points", "timeseries"])
def test_all_formats_say_the_same(what):
    columns = columns_of(RUN, what)
    as_objects = json.loads(as_json(columns))
    table = parquet.read_table(io.BytesIO(as_parquet(columns)))
    lines = list(csv.DictReader(io.StringIO(as_csv(columns).decode())))
    assert table.to_pylist() == as_objects
    assert len(lines) == len(as_objects) == len(columns.rows) > 4
    for line, row in zip(lines, as_objects, strict=True):
        assert line == {name: "" if value is None else str(value) for name, value in row.items()}


def test_points_are_the_columns_of_points_csv_with_types():
    table = parquet.read_table(io.BytesIO(as_parquet(columns_of(RUN, "points"))))
    assert table.column_names == list(point_columns(RUN.plan))
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds["rows_per_s"] == "double"
    assert kinds["rows_acked"] == kinds["replicate"] == "int64"
    assert kinds["verdict"] == kinds["busiest_thread"] == "string"
    assert table.schema.metadata[b"scale.run"].decode() in RUN.path


@pytest.mark.parametrize("axis", ["cores", "disks", "clients", "shards"])
def test_a_level_has_a_column_that_is_named_by_its_axis(axis):
    knob = KnobColumn(name="shards", role=KnobRole.PARTITIONS, column="shards", label="Shards")
    resources = replace(RUN.plan.trials[0].resources, amounts=amounts(1.5))
    trials = [replace(t, level=1.5, resources=resources, knobs={"shards": "1.5"}) for t in RUN.plan.trials]
    plan = replace(RUN.plan, sweep=replace(RUN.plan.sweep, axis=axis), trials=tuple(trials), knobs=(knob,))
    results = tuple(replace(r, trial=t) for r, t in zip(RUN.results, trials, strict=True))
    columns = columns_of(replace(RUN, plan=plan, results=results), "points")
    names = list(columns.kinds)
    assert names.count(axis) == names.count("shards") == 1
    assert names.index("shards") == names.index("disks") + (2 if axis == "clients" else 1)
    level = as_csv(columns).decode().splitlines()[1].split(",")[names.index(axis)]
    assert level == ("1.5" if axis != "disks" else str(trials[0].disks))
    assert columns.kinds[axis] == ("integer" if axis == "disks" else "number")


def rows_of(run, what="points"):
    return json.loads(as_json(columns_of(run, what)))


def test_what_was_not_measured_or_is_no_number_is_null_and_never_0():
    aborted = next(r for r in RUN.results if r.verdict.kind == "ABORTED")
    row = next(row for row in rows_of(RUN) if row["trial_id"] == aborted.trial.trial_id)
    assert (row["rows_per_s"], row["rows"]) == (None, None)
    bad = replace(RUN.results[0], measurement=replace(RUN.results[0].measurement, rows_per_s=math.inf))
    assert rows_of(replace(RUN, results=(bad,)))[0]["rows_per_s"] is None


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(StoreError, match="nowhere"):
        write_outside(tmp_path / "nowhere" / "a.csv", b"x")


def test_the_load_generators_row_and_the_samplers_row_of_one_time_are_one_tick():
    """The key of a tick in a database is its time: two rows of one time would be refused."""
    one = RUN.results[0]
    ticks = ((19.004, {"rows_per_s": 5.0}), (19.004, {"rows_per_s": None, "server_cpu_cores": 2}))
    rows = rows_of(replace(RUN, results=(one,), timeseries={one.trial.trial_id: ticks}), "timeseries")
    assert [(row["t_s"], row["rows_per_s"], row["server_cpu_cores"]) for row in rows] == [(19.004, 5.0, 2.0)]


def data(html: str) -> str:
    return base64.b64decode(re.search(r"data:text/csv;base64,([^\"]+)", html)[1]).decode()


@pytest.mark.parametrize("again", [778_090_000, 778_090_000.0, 778_090_000.0000001, 0.1 + 0.2])
def test_a_whole_number_and_another_last_bit_are_the_same_text(again):
    stored = 0.3 if again < 1 else 778_090_000.0
    rows = [("trial", "rows_per_s", "is_fitted", "none")]
    page = figure_html("curve", "<svg/>", "", [*rows, ("r1", stored, False, None)])
    assert page == figure_html("curve", "<svg/>", "", [*rows, ("r1", again, False, None)])
    assert data(page) == f"trial,rows_per_s,is_fitted,none\nr1,{'0.3' if again < 1 else '778090000'},False,\n"
