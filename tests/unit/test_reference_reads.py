"""The published figures beside ours; numbers of trials that do not count are marked, without a ratio or a line."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.work import queries_of
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.questions import OperationFigures
from scale_sweep.model.samples import DiskFigures
from scale_sweep.plan.target_defaults import complete, left_out
from scale_sweep.report.disk_tables import ceiling_points, disk_table, shares_svg
from scale_sweep.report.documents import documents
from scale_sweep.report.operation_pictures import response_curve, trials_by_level
from scale_sweep.report.operations import operations_table, quantiles_table
from scale_sweep.report.reference import compare, reference_table, speedup_svg
from scale_sweep.report.reference_reads import reads_tables
from scale_sweep.report.several import comparison_table
from scale_sweep.results.store.outside import read_reference
from scale_sweep.server.targets import load_facts
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import reading
from tests.unit.synthetic_run import synthetic_run, synthetic_sweep
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
    pages = documents(ours, PUBLISHED).pages
    for name in ("report.html", "report.md"):
        assert "Published questdb" in pages[name] and "write threads" not in pages[name].lower()


def test_the_rate_of_the_preload_is_beside_the_published_rate_of_writing(ours, wording):
    results = tuple(
        replace(r, measurement=replace(r.measurement, preload_rows=1000, preload_s=0.5)) for r in ours.results
    )
    published = [{**row, "written_rows_per_s": "61708"} for row in PUBLISHED]
    _, table = reads_tables(replace(ours, results=results), published)
    wording(*table.headers[:4])
    assert [row[1:4] for row in table.rows] == [("10.0", "90.0", "9.00"), ("61.7 k", "61.7 k", "1.00")]
    assert table.rows[1][4] == "2 k"


def test_the_bundled_table_has_the_operations_of_its_workload_and_a_file_without_them_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("operation,response_s\nscan,1\n")
    with pytest.raises(UsageError, match="of reads: operation"):
        read_reference(str(path))
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
    assert all(words in sentence for words in ("group_10", "primary key", "minute_100", "by themselves"))


RATES = tuple({"cores": str(n), "rows_per_s": str(400_000 * n)} for n in range(1, 5))
BOARDS = Path(__file__).resolve().parents[2] / "dashboards"


def rejected(*levels: int, among: tuple[int, ...] = (1, 2, 3, 4)) -> StoredRun:
    """A run whose trials at these levels do not count."""
    verdicts = {(float(n), r): VerdictKind.RESOURCE_NOT_SATURATED for n in levels for r in (1, 2, 3)}
    return synthetic_run(among, 3, verdicts=verdicts)


def with_figures(run: StoredRun, **figures) -> StoredRun:
    results = tuple(replace(r, measurement=replace(r.measurement, **figures)) for r in run.results)
    return replace(run, results=results)


def test_a_run_without_a_trial_that_counts_has_no_speedup_beside_the_published_one():
    run = rejected(1, 2, 3, 4)
    table = reference_table(run, RATES)
    assert table is not None
    assert [(row[0], row[3]) for row in table.rows] == [(f"{n} †", f"{n}.00") for n in range(1, 5)]
    assert {(row[4], row[6]) for row in table.rows} == {("–", "–")}  # neither speedup nor efficiency is ours
    assert "without a speedup" in " ".join(table.notes)
    both = compare(run, RATES)
    assert both is not None and both.base_ours is None
    assert speedup_svg(run, both) == ""
    assert "Speedup, published" not in documents(run, RATES).pages["report.html"]


def test_the_published_speedup_begins_at_the_first_level_of_ours_that_counts_and_no_line_crosses_another():
    run = rejected(1, 3)
    both = compare(run, RATES)
    assert both is not None and (both.base_published, both.base_ours) == (2.0, 2.0)
    assert set(both.speedups(ours=True)) == {2.0, 4.0}
    drawn = speedup_svg(run, both)
    assert re.findall(r'<polyline points="[^"]*" class="(\w+)"', drawn) == ["ideal", "published"]
    assert drawn.count("<title>ours: ") == 2


def test_disks_of_rejected_trials_are_hollow_and_give_no_line():
    run = rejected(2)
    disk = DiskFigures(write_mb_per_s=20.0, used_percent=95.0, share_percent=100.0)
    prepared = replace(run.plan.sweep, disks=synthetic_sweep().disks or object())
    run = replace(run, plan=replace(run.plan, sweep=prepared))
    run = with_figures(run, disks={"d1": disk}, disk_ceiling_mb_per_s=21.0)
    assert [row[0] for row in disk_table(run).rows] == ["1", "2 †", "3", "4"]
    drawn = shares_svg(run)
    assert (drawn.count('class="invalid"'), len(re.findall(r'<rect x="\d{2,}[^>]*class="bar"', drawn))) == (2, 3)
    assert [level for level, _ in ceiling_points(run)] == [1.0, 3.0, 4.0]


def test_a_variant_is_compared_only_with_a_rate_that_counts():
    for wrong, ratios in ((("questdb",), {"–"}), (("postgres",), {"1.00×", "2.00×", "–"})):
        table = comparison_table(measured(several(), wrong=wrong))
        assert {row[4] for row in table.rows} == ratios, wrong
        assert {row[0] for row in table.rows if row[1] == f"target {wrong[0]}"} == {"1 †", "2 †"}
    two = ("questdb", "postgres")
    for wrong, ratio in (((), "1.00"), (("postgres",), "–")):
        times, _ = reads_tables(asked(measured(several(two), wrong=wrong), 250.0), PUBLISHED)
        assert times.rows[0][-1] == ratio


def test_operations_of_a_level_without_a_trial_that_counts_are_marked():
    figures = OperationFigures(weight=1, requests_per_s=10.0, response_ms={"p50": 2.0, "p99": 9.0})
    run = with_figures(reading(rejected(2, among=(1, 2, 3))), operations={"range": figures, "last": figures})
    for table in (operations_table(run), quantiles_table(run)):
        assert [row[1] for row in table.rows] == ["1", "2 †", "3"] * 2
    drawn = response_curve(run, trials_by_level(run))
    assert "<polyline" not in drawn  # no line crosses the level between
    assert [drawn.count(f'class="{css}"') for css in ("valid", "ours", "invalid")] == [3, 1, 1]
    assert "hollow" in drawn and "hollow" not in response_curve(run, trials_by_level(run)[:1])


@pytest.mark.parametrize("name", ["curve"])
def test_means_of_a_dashboard_tell_trials_that_count_from_others(name):
    board = json.loads((BOARDS / f"{name}.json").read_text())
    means = [
        t["expr"] for p in board["panels"] for t in p.get("targets", ()) if t["expr"].startswith("avg by (level, of)")
    ]
    counts = 'scale_trial_verdict{run="$run",verdict=~"VALID|SOFTWARE_BOTTLENECK"}'
    assert means and all(counts in expr and '"$1 †"' in expr for expr in means)
