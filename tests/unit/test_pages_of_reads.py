"""Pages of a run that asks show requests/s wherever those of a run that writes show rows/s."""

import re
from dataclasses import replace

import pytest

from scale_sweep.analysis.compare import compare_runs, compare_sessions
from scale_sweep.base.errors import UsageError
from scale_sweep.report.comparison import comparison_html, ratio_table
from scale_sweep.report.documents import documents
from scale_sweep.report.several import comparison_table
from scale_sweep.report.soak import soak_of
from tests.unit.factories import reading
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_ab import plan_of, run_of
from tests.unit.test_several_databases import measured, several
from tests.unit.test_soak import compacting, soak_run

RUNS = {
    "one database": synthetic_run,
    "several databases": lambda: measured(several()),
    "A and B": lambda: run_of(plan_of()),
    "a soak": lambda: soak_run(compacting(240)),
}


@pytest.mark.parametrize("name", RUNS)
def test_no_page_of_reads_has_a_rate_of_rows_and_none_of_writes_a_rate_of_requests(name):
    run = RUNS[name]()
    for page, words in documents(reading(run)).pages.items():
        assert re.findall(r".{30}\brows/s.{30}", words) == [], page
        assert "requests/s" in words, page
    for page, words in documents(run).pages.items():
        assert "requests/s" not in words and "rows/s" in words, page


def test_variants_and_soaks_are_told_by_requests(wording):
    table = comparison_table(reading(run_of(plan_of())))
    assert table.headers[3] == "requests/s"
    assert table.rows[0][3:5] != ("0", "–")
    assert float(table.rows[0][3].split(" k")[0]) == pytest.approx(100, rel=0.01)
    run = reading(soak_run(compacting(240)))
    ((trial, series),) = run.timeseries.items()
    counted = tuple((t, {"requests_per_s": values["rows_per_s"]}) for t, values in series)
    run = replace(run, timeseries={trial: counted})
    wording(soak_of(run, run.results[0]).words, table.headers[7])


def test_runs_of_reads_are_compared_with_each_other_only():
    a, b = reading(synthetic_run()), reading(synthetic_run(seed=2))
    found = compare_runs(a, b)
    assert found.rate == "requests/s"
    assert ratio_table(found).headers[1:3] == ("A requests/s", "B requests/s")
    page = comparison_html(found, [a], [b])
    assert "Every VALID trial" in page and "rows/s" not in page
    run = synthetic_run()
    with pytest.raises(UsageError, match="have different units: requests/s and rows/s"):
        compare_runs(run, reading(run))
    with pytest.raises(UsageError, match="have different units"):
        compare_sessions([run, replace(run, path="/results/b")], [reading(replace(run, path="/results/c"))])
    other = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, axis="disks")))
    with pytest.raises(UsageError, match="do not sweep the same axis"):
        compare_runs(run, other)
