"""The published response times of reads beside ours, from the bundled table and from others."""

from __future__ import annotations

from dataclasses import replace

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

TIMES = (
    ("hourly", "questdb", "0.5", "10"),
    ("hourly", "postgres", "20", "90"),
    ("hourly", "questdb", "1.5", "10"),
    ("daily", "questdb", "3", "10"),
    ("yearly", "questdb", "9", "10"),
)
COLUMNS = ("operation", "target", "response_s", "stored_bytes_per_row")
PUBLISHED = tuple(dict(zip(COLUMNS, row, strict=True)) for row in TIMES)


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


@pytest.fixture
def ours():
    return asked(measured(several()), 250.0)


def test_each_operation_has_the_mean_of_its_published_times_and_ours(ours, wording):
    table, sizes = reads_tables(ours, PUBLISHED)
    wording(*table.headers[:4])
    assert table.rows[0] == ("hourly", "1.00", "20.0", "20.0", "0.250", "0.250", "0.250")  # three have no ratio
    assert table.rows[1] == ("daily", "3.00", "–", "–", "0.250", "0.250", "cannot")
    assert len(table.rows) == 2  # yearly is no operation of the run
    assert any(note.startswith("cannot: ") for note in table.notes)
    assert [row[1:4] for row in sizes.rows] == [("10.0", "90.0", "9.00")]  # no rate of writing is published
    bare = [{key: row[key] for key in COLUMNS[:3]} for row in PUBLISHED]
    assert len(reads_tables(ours, bare)) == 1
    assert reads_tables(ours, [{"cores": "1", "rows_per_s": "5"}]) == ()
    numbered = [{**row, "table": "6" if row["target"] == "postgres" else "5"} for row in PUBLISHED]
    table, _ = reads_tables(ours, numbered)
    assert table.headers[1] == "Published table" and table.words == (0, 1)
    assert [row[:2] for row in table.rows] == [("hourly", "5, 6"), ("daily", "5")]


def test_the_rate_of_the_preload_is_beside_the_published_rate_of_writing(ours, wording):
    results = tuple(
        replace(r, measurement=replace(r.measurement, preload_rows=1000, preload_s=0.5)) for r in ours.results
    )
    published = [{**row, "written_rows_per_s": "61708"} for row in PUBLISHED]
    _, table = reads_tables(replace(ours, results=results), published)
    wording(*table.headers[:4])
    assert [row[1:4] for row in table.rows] == [("10.0", "90.0", "9.00"), ("61,710", "61,710", "1.00")]
    assert table.rows[1][4] == "2,000"


def test_every_page_of_the_run_has_the_table_and_no_columns_of_another_article(ours):
    pages = documents(ours, PUBLISHED).pages
    for name in ("report.html", "report.md"):
        assert "Published questdb" in pages[name] and "write threads" not in pages[name].lower()


def test_the_bundled_table_has_the_operations_of_its_workload():
    rows = read_reference("cassandra-reads")
    assert rows is not None
    queries = queries_of(resolve_sweep("sweeps/cassandra-reads.toml", {}).work)
    assert {row["operation"] for row in rows} == set(queries) and len(queries) == 81
    times = {(row["operation"], row["target"]): float(row["response_s"]) for row in rows}
    assert times["avg_100", "tdengine"] == 0.060 and times["minute_100", "cassandra"] == 303.51
    assert ("spread_10", "cassandra") not in times  # it was not published
    scan = queries["scan"]  # a group of devices is a hundredth of them
    assert (scan.tag, scan.groups, scan.low, scan.high) == ("devgroup", 1, 0, 99)
    assert queries["avg_30"].groups == 30 and queries["avg_100"].groups == 0  # 0: all


def test_cassandra_is_not_asked_two_of_the_published_queries_and_the_plan_gives_the_reason():
    sweep, facts = resolve_sweep("sweeps/cassandra-reads.toml", {}), load_facts("cassandra")
    sweep = replace(sweep, vary={}, target="cassandra")
    kept = {operation.name for operation in complete(sweep, facts).work.operations}
    assert "scan" in kept and "spread_100" in kept and not any(name.startswith(("group", "minute")) for name in kept)
    sentence = left_out(sweep, facts)
    assert [
        words for words in ("group_10", "primary key", "minute_100", "by themselves") if words not in sentence
    ] == []


def test_a_file_with_neither_kind_of_columns_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("operation,response_s\nscan,1\n")
    with pytest.raises(UsageError, match="of reads: operation"):
        read_reference(str(path))
