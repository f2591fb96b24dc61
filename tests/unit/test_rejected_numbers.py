"""Numbers of trials that do not count: marked in every table and picture, without a ratio, a filled mark or a line."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.model import DiskFigures, OperationFigures, StoredRun, VerdictKind
from scale_sweep.report.disk_tables import ceiling_points, disk_table, shares_svg
from scale_sweep.report.documents import comparison_table, documents
from scale_sweep.report.operation_figures import trials_by_level
from scale_sweep.report.operations import operations_table, quantiles_table
from scale_sweep.report.reference import compare, reference_table
from scale_sweep.report.reference_curve import speedup_svg
from scale_sweep.report.reference_reads import reads_tables
from scale_sweep.report.response_curve import response_curve
from tests.unit.factories import reading
from tests.unit.synthetic_run import synthetic_run, synthetic_sweep
from tests.unit.test_reference_reads import PUBLISHED as READS
from tests.unit.test_reference_reads import asked
from tests.unit.test_several_databases import measured, several

PUBLISHED = tuple({"cores": str(n), "rows_per_s": str(400_000 * n)} for n in range(1, 5))
BOARDS = Path(__file__).resolve().parents[2] / "dashboards"


def rejected(*levels: int, among: tuple[int, ...] = (1, 2, 3, 4)) -> StoredRun:
    """A run whose trials at these levels do not count."""
    verdicts = {(float(n), r): VerdictKind.RESOURCE_NOT_SATURATED for n in levels for r in (1, 2, 3)}
    return synthetic_run(among, 3, verdicts=verdicts)


def with_figures(run: StoredRun, **figures) -> StoredRun:
    results = tuple(replace(r, measurement=replace(r.measurement, **figures)) for r in run.results)
    return replace(run, results=results)


def on_disks(run: StoredRun) -> StoredRun:
    """The run as one of prepared disks, each with a ceiling."""
    disk = DiskFigures(write_mb_per_s=20.0, used_percent=95.0, share_percent=100.0)
    prepared = replace(run.plan.sweep, disks=synthetic_sweep().disks or object())
    run = replace(run, plan=replace(run.plan, sweep=prepared))
    return with_figures(run, disks={"d1": disk}, disk_ceiling_mb_per_s=21.0)


def mixed(run: StoredRun) -> StoredRun:
    """The run as one of reads, with two operations."""
    figures = OperationFigures(weight=1, requests_per_s=10.0, response_ms={"p50": 2.0, "p99": 9.0})
    return with_figures(reading(run), operations={"range": figures, "last": figures})


def test_a_run_without_a_trial_that_counts_has_no_speedup_beside_the_published_one():
    run = rejected(1, 2, 3, 4)
    table = reference_table(run, PUBLISHED)
    assert table is not None
    assert [(row[0], row[3]) for row in table.rows] == [(f"{n} †", f"{n}.00") for n in range(1, 5)]
    assert {(row[4], row[6]) for row in table.rows} == {("–", "–")}  # neither speedup nor efficiency is ours
    assert "no speedup" in " ".join(table.notes)
    both = compare(run, PUBLISHED)
    assert both is not None and both.base_ours is None
    assert speedup_svg(run, both) == ""
    assert "Speedup, published" not in documents(run, PUBLISHED).pages["report.html"]


def test_the_published_speedup_begins_at_the_first_level_of_ours_that_counts_and_no_line_crosses_another():
    run = rejected(1, 3)
    both = compare(run, PUBLISHED)
    assert both is not None and (both.base_published, both.base_ours) == (2.0, 2.0)
    assert set(both.speedups(ours=True)) == {2.0, 4.0}
    drawn = speedup_svg(run, both)
    assert re.findall(r'<polyline points="[^"]*" class="(\w+)"', drawn) == ["ideal", "published"]
    assert drawn.count("<title>ours: ") == 2


def test_disks_of_rejected_trials_are_hollow_and_give_no_line():
    run = on_disks(rejected(2))
    assert [row[0] for row in disk_table(run).rows] == ["1", "2 †", "3", "4"]
    drawn = shares_svg(run)
    assert (drawn.count('class="invalid"'), len(re.findall(r'<rect x="\d{2,}[^>]*class="bar"', drawn))) == (1, 3)
    assert [level for level, _ in ceiling_points(run)] == [1.0, 3.0, 4.0]


def test_a_variant_is_compared_only_with_a_rate_that_counts():
    for wrong, ratios in ((("questdb",), {"–"}), (("postgres",), {"1.00×", "2.00×", "–"})):
        table = comparison_table(measured(several(), wrong=wrong))
        assert {row[3] for row in table.rows} == ratios, wrong
        assert {row[0] for row in table.rows if row[1] == f"target {wrong[0]}"} == {"1 †", "2 †"}


def test_operations_of_a_level_without_a_trial_that_counts_are_marked():
    run = mixed(rejected(2, among=(1, 2, 3)))
    for table in (operations_table(run), quantiles_table(run)):
        assert [row[1] for row in table.rows] == ["1", "2 †", "3"] * 2
    drawn = response_curve(run, trials_by_level(run))
    assert "<polyline" not in drawn  # no line crosses the level between
    assert [drawn.count(f'class="{css}"') for css in ("valid", "ours", "invalid")] == [2, 1, 1]
    assert "hollow" in drawn and "hollow" not in response_curve(run, trials_by_level(run)[:1])


def test_reads_of_rejected_trials_have_no_ratio():
    two = ("questdb", "postgres")
    for wrong, ratio in (((), "1.00"), (("postgres",), "–")):
        times, _ = reads_tables(asked(measured(several(two), wrong=wrong), 250.0), READS)
        assert times.rows[0][-1] == ratio


@pytest.mark.parametrize("name", ["targets", "operations"])
def test_means_of_a_dashboard_tell_trials_that_count_from_others(name):
    board = json.loads((BOARDS / f"{name}.json").read_text())
    means = [t["expr"] for p in board["panels"] for t in p["targets"] if t["expr"].startswith("avg by")]
    counts = 'scale_trial_verdict{run="$run",verdict=~"VALID|SOFTWARE_BOTTLENECK"}'
    assert means and all(counts in expr and '"$1 †"' in expr for expr in means)
