"""The heat map of operations: which quantile it shows, and its cells."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from scale_sweep.model import Operation, OperationFigures, StoredRun
from scale_sweep.report.each_trial import trials_html
from scale_sweep.report.markup import code_html
from scale_sweep.report.operations import heat_quantile, heat_svg, operations_html
from scale_sweep.report.rows_and_answers import checks_table, trial_checks_table, unchecked_words
from scale_sweep.results.store.operations import operations_text
from tests.unit.synthetic_run import synthetic_run


def run_with(**times: dict[str, float]) -> StoredRun:
    """A run whose trials all have these operations, with these response times."""
    operations = {name: OperationFigures(weight=1, response_ms=found) for name, found in times.items()}
    run = synthetic_run((1, 2), 2)
    results = tuple(replace(r, measurement=replace(r.measurement, operations=operations)) for r in run.results)
    return replace(run, results=results)


@pytest.mark.parametrize(
    ("point", "latest", "shown"),
    [
        ({"p95": 5.0, "p99": 9.0}, {"p95": 5.0, "p99": 9.0}, "p99"),
        ({"p95": 5.0, "p99": 9.0}, {"p95": 5.0}, "p95"),
        ({"p50": 1.0, "p90": 3.0}, {"p50": 1.0, "p90": 3.0}, "p90"),
        ({"p50": 1.0}, {}, "p50"),
        ({}, {}, "p99"),
    ],
)
def test_the_heat_map_shows_the_highest_quantile_that_has_no_holes(point, latest, shown):
    run = run_with(point=point, latest=latest)
    svg = heat_svg(run)
    assert heat_quantile(run) == shown
    assert f"{shown} of the response time (ms) over cores" in svg
    assert ("too few requests for p99" in svg) == (shown != "p99")
    assert len(re.findall('class="heat"', svg)) == 2 * (shown in point) + 2 * (shown in latest)


def test_the_title_of_a_heat_map_fits_into_it():
    svg = heat_svg(run_with(point={"p95": 5.0}))
    width = int(re.search(r"max-width:(\d+)px", svg)[1])
    assert width >= 450


@pytest.mark.parametrize(
    ("words", "html"),
    [
        ("`FLUSH <x>` has ended", "<code>FLUSH &lt;x&gt;</code> has ended"),
        ("a ` alone", "a ` alone"),
        ("plain & simple", "plain &amp; simple"),
    ],
)
def test_what_is_between_backticks_is_code(words, html):
    assert code_html(words) == html


def checked_run() -> StoredRun:
    """A run of an operation whose answers were checked, of other devices in each trial, and of a text of the user."""
    run = run_with(hourly={"p99": 1.0}, sql={"p99": 1.0})
    hourly = Operation(name="hourly", kind="range", unit="requests", parameters={"span": "1h"})
    own = Operation(name="sql", unit="requests", parameters={"text": "SELECT 1"})
    work = replace(run.plan.sweep.work, operations=(hourly, own))
    run = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, work=work)))
    checked = {"checked_before": 20, "checked_within": 7, "checked_rows": 1, "passed_percent": 12.5}
    results = []
    for number, result in enumerate(run.results):
        devices = f"{number}-{number + 1}"
        each = dict(result.measurement.operations)
        each["hourly"] = replace(each["hourly"], checked_devices=devices, **checked)
        measurement, trial = replace(result.measurement, operations=each), replace(result.trial, work=work)
        results.append(replace(result, measurement=measurement, trial=trial))
    return replace(run, results=tuple(results))


def test_the_report_states_what_was_checked_and_what_was_not():
    run = checked_run()
    count = len(run.results)
    first, second = checks_table(run).rows
    assert first == (
        "hourly",
        "range",
        "span=1h",
        f"{20 * count}",
        f"{7 * count}",
        f"{count}",
        f"{count + 1} of 100",
        "12.5 %",
    )
    assert second[3] == "unchecked"
    assert unchecked_words(run) == "The answers of sql are unchecked: nobody knows the right ones."
    html = operations_html(run)
    assert "Answers checked" in html and unchecked_words(run) in html
    cells = next(csv.DictReader(io.StringIO(operations_text(run.results))))
    assert (cells["checked_before"], cells["checked_within"], cells["checked_rows"]) == ("20", "7", "1")
    assert (cells["checked_devices"], cells["parameters"], cells["passed_percent"]) == ("0-1", "span=1h", "12.5")


def test_each_trial_states_what_was_checked_of_its_own_answers():
    run = checked_run()
    second = run.results[1]
    table = trial_checks_table(second)
    assert table.title == f"Answers checked in {second.trial.trial_id}: 20 before the load, 7 of the load"
    assert table.rows[0] == ("hourly", "range", "span=1h", "20", "7", "1", "2 of 100", "12.5 %")
    assert table.rows[1][3] == "unchecked"
    html = trials_html(run)
    assert all(trial_checks_table(result).title in html for result in run.results)


def test_a_trial_without_a_checked_answer_has_no_table_of_them():
    run = run_with(point={"p99": 1.0})
    assert trial_checks_table(run.results[0]).rows == ()
    assert "Answers checked" not in trials_html(run)
