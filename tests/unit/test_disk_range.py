"""The disks' write rate with its range: percentiles of the seconds of the windows, beside the mean."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.base.units import format_rate
from scale_sweep.report.article import article_table
from scale_sweep.report.level_tables import disk_range, disk_words, levels_table
from scale_sweep.report.reference import reference_table
from scale_sweep.report.run_facts import machine_facts
from tests.unit.synthetic_run import synthetic_run


def bursts(seconds=100, levels=(1,)):
    """A run of whose windows each second has a rate of its number, with other seconds before and after it."""
    run = synthetic_run(levels, 1)
    results, series = [], {}
    for result in run.results:
        measured = replace(result.measurement, transient_s=3.0, window_s=float(seconds), disk_write_mb_per_s=50.5)
        results.append(replace(result, measurement=measured))
        inside = [(3.0 + n, {"disk_write_mb_per_s": float(n), "rows_per_s": None}) for n in range(1, seconds + 1)]
        outside = [(t_s, {"disk_write_mb_per_s": 9e9}) for t_s in (1.0, 2.0, 3.0, seconds + 4.0)]
        gap = [(10.5, {"disk_write_mb_per_s": None}), (11.5, {})]
        series[result.trial.trial_id] = tuple(sorted([*inside, *outside, *gap], key=lambda row: row[0]))
    return replace(run, results=tuple(results), timeseries=series)


def test_the_range_has_the_seconds_of_the_window_alone_and_a_few_have_none():
    run = bursts()
    low, high = disk_range(run, run.results)
    assert (round(low, 2), round(high, 2)) == (5.95, 95.05)
    assert disk_words(run, run.results) == "50.5 (5.95–95.0)"
    for short in (bursts(seconds=9), replace(run, timeseries={})):
        assert disk_range(short, short.results) is None and disk_words(short, short.results) == "50.5"
        assert not any("percentile" in note for note in article_table(short).notes)


def test_the_tables_have_the_range_and_explain_it():
    run = bursts(levels=(1, 2))
    published = [{"cores": "1", "rows_per_s": "5", "disk_mb_per_s_low": "80", "disk_mb_per_s_high": "90"}]
    for table in (article_table(run), levels_table(run), reference_table(run, published)):
        assert any("50.5 (5.95–95.0)" in row for row in table.rows), table.title
        assert sum("95th percentile" in note for note in table.notes) == 1


def test_the_levels_have_values_of_rows_with_several_columns():
    run = bursts()
    columns, rows_per_s = len(run.plan.sweep.work.data.columns), run.results[0].measurement.rows_per_s
    table = levels_table(run)
    cell = table.rows[0][table.headers.index("Values/s")]
    assert columns == 3 and cell == format_rate(rows_per_s * 3)


def test_the_limit_of_the_datas_disk_is_a_fact_of_the_machine():
    run = bursts()
    limit = {"disks": ["d1"], "write_mb_per_s": 812.3, "sync_writes_per_s": 3000.0}
    facts = dict(machine_facts(replace(run, manifest={**run.manifest, "disk_ceilings": [limit]})))
    added = facts.items() - dict(machine_facts(run)).items()
    assert [value.partition(" of ")[0] for _, value in added] == ["812 MB/s"]
    for odd in ("x", [None], [{"disks": "d1"}]):  # a file of somebody else
        machine_facts(replace(run, manifest={**run.manifest, "disk_ceilings": odd}))
