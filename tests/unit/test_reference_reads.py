"""The published response times of reads beside ours, from the bundled table and from others."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import ANY

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.work import queries_of
from scale_sweep.model import OperationFigures
from scale_sweep.plan.complete import complete, left_out
from scale_sweep.report.documents import documents
from scale_sweep.report.reference_reads import reads_tables
from scale_sweep.results.store.reference import read_reference
from scale_sweep.server.targets import load_facts
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.test_operations_side_by_side import MIX
from tests.unit.test_several_databases import measured, several

PUBLISHED = (
    {"operation": "hourly", "target": "questdb", "response_s": "0.5", "stored_bytes_per_row": "10"},
    {"operation": "hourly", "target": "postgres", "response_s": "20", "stored_bytes_per_row": "90"},
    {"operation": "hourly", "target": "questdb", "response_s": "1.5", "stored_bytes_per_row": "10"},
    {"operation": "daily", "target": "questdb", "response_s": "3", "stored_bytes_per_row": "10"},
    {"operation": "yearly", "target": "questdb", "response_s": "9", "stored_bytes_per_row": "10"},
)


def asked(run, mean_ms):
    """The run with the operations of MIX; the last database has the first operation only."""
    results = []
    for result in run.results:
        mix = MIX[:1] if result.trial.subject.target == "postgres" else MIX
        trial = replace(result.trial, work=replace(result.trial.work, operations=mix))
        figures = {o.name: OperationFigures(weight=1, response_ms={"mean": mean_ms}) for o in mix}
        results.append(replace(result, trial=trial, measurement=replace(result.measurement, operations=figures)))
    sweep = replace(run.plan.sweep, work=replace(run.plan.sweep.work, operations=MIX))
    return replace(run, plan=replace(run.plan, sweep=sweep), results=tuple(results))


def test_each_operation_has_the_mean_of_its_published_times_and_ours():
    table, _ = reads_tables(asked(measured(several()), 250.0), PUBLISHED)
    published = ("Published questdb (s)", "Published postgres (s)", "Published postgres / questdb")
    assert table.headers[:4] == ("Operation", *published)
    assert table.rows[0][:4] == ("hourly", "1.00", "20.0", "20.0")
    assert table.rows[0][4:] == ("0.250", "0.250", "0.250")  # three databases of ours have no ratio
    assert table.rows[1] == ("daily", "3.00", "–", "–", "0.250", "0.250", "cannot")
    assert len(table.rows) == 2  # yearly is no operation of the run
    assert any(note.startswith("cannot: ") for note in table.notes)


def test_the_rate_of_the_preload_is_beside_the_published_rate_of_writing():
    run = asked(measured(several()), 250.0)
    loaded = [replace(r.measurement, preload_rows=1000, preload_s=0.5) for r in run.results]
    results = tuple(replace(r, measurement=m) for r, m in zip(run.results, loaded, strict=True))
    published = [{**row, "written_rows_per_s": "61708"} for row in PUBLISHED]
    _, table = reads_tables(replace(run, results=results), published)
    assert table.headers[:5] == (
        "Figure",
        "Published questdb",
        "Published postgres",
        "Published postgres / questdb",
        ANY,
    )
    assert table.rows[0][:4] == ("bytes on disk for a row", "10.0", "90.0", "9.00")
    assert table.rows[1][:5] == ("rows/s written", "61,710", "61,710", "1.00", "2,000")


def test_a_figure_that_is_not_published_has_no_row():
    _, table = reads_tables(asked(measured(several()), 250.0), PUBLISHED)
    assert [row[0] for row in table.rows] == ["bytes on disk for a row"]
    bare = [{key: row[key] for key in ("operation", "target", "response_s")} for row in PUBLISHED]
    assert len(reads_tables(asked(measured(several()), 250.0), bare)) == 1


def test_each_operation_has_the_tables_that_published_it():
    published = [{**row, "table": "6" if row["target"] == "postgres" else "5"} for row in PUBLISHED]
    table, _ = reads_tables(asked(measured(several()), 250.0), published)
    assert table.headers[1] == "Published table" and table.words == (0, 1)
    assert [row[:2] for row in table.rows] == [("hourly", "5, 6"), ("daily", "5")]


def test_every_page_of_the_run_has_the_table_and_no_columns_of_another_article():
    pages = documents(asked(measured(several()), 250.0), PUBLISHED).pages
    for name in ("report.html", "report.md"):
        assert "Published questdb (s)" in pages[name]
        assert "write threads" not in pages[name].lower()


def test_a_table_of_rates_is_none_of_reads():
    assert reads_tables(asked(measured(several()), 250.0), [{"cores": "1", "rows_per_s": "5"}]) == ()


def test_the_bundled_table_has_the_operations_of_its_workload():
    rows = read_reference("cassandra-reads")
    assert rows is not None
    sweep = resolve_sweep("sweeps/cassandra-reads.toml", {})
    assert {row["operation"] for row in rows} == set(queries_of(sweep.work)) and len(queries_of(sweep.work)) == 81
    times = {(row["operation"], row["target"]): float(row["response_s"]) for row in rows}
    assert times["avg_100", "tdengine"] == 0.060 and times["minute_100", "cassandra"] == 303.51
    assert ("spread_10", "cassandra") not in times  # it was not published


def test_cassandra_is_not_asked_two_of_the_published_queries_and_the_plan_gives_the_reason():
    sweep, facts = resolve_sweep("sweeps/cassandra-reads.toml", {}), load_facts("cassandra")
    sweep = replace(sweep, vary={}, target="cassandra")
    kept = {operation.name for operation in complete(sweep, facts).work.operations}
    assert "scan" in kept and "spread_100" in kept and not any(name.startswith(("group", "minute")) for name in kept)
    sentence = left_out(sweep, facts)
    assert "group_10" in sentence and "CQL groups by the primary key only" in sentence
    assert "minute_100" in sentence and "CQL groups the rows of each device by themselves" in sentence


def test_a_group_of_devices_is_a_hundredth_of_them():
    queries = queries_of(resolve_sweep("sweeps/cassandra-reads.toml", {}).work)
    scan = queries["scan"]
    assert (scan.tag, scan.groups, scan.low, scan.high) == ("devgroup", 1, 0, 99)
    assert queries["avg_30"].groups == 30 and queries["avg_100"].groups == 0  # 0: all


def test_a_file_with_neither_kind_of_columns_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("operation,response_s\nscan,1\n")
    with pytest.raises(UsageError, match="of reads: operation, target and response_s"):
        read_reference(str(path))
