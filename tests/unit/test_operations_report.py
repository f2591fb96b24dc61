"""The operations of reads: their response times in one picture, what each asks, and what was checked."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from scale_sweep.model import Operation, OperationFigures, StoredRun
from scale_sweep.report.asked import asked_operations_table
from scale_sweep.report.each_trial import trials_html
from scale_sweep.report.markup import code_html
from scale_sweep.report.operation_figures import upper_quantile
from scale_sweep.report.operation_times import times_caption, times_rows, times_svg
from scale_sweep.report.operations import cautions_of_answers, operations_html, operations_table
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
        ({"p50": 1.0, "p90": 3.0}, {"p50": 1.0}, "p90"),
        ({}, {}, "p99"),
    ],
)
def test_the_picture_goes_to_the_highest_quantile_that_has_no_holes(point, latest, shown):
    run = run_with(point=point, latest=latest)
    svg = times_svg(run)
    assert upper_quantile(run) == shown
    assert ("Too few requests for p99" in times_caption(run)) == (shown != "p99")
    has_middle = ("p50" in point) + ("p50" in latest)
    assert svg.count('class="m valid"') == 2 * has_middle
    assert bool(svg) == bool({"p50", shown} & {*point, *latest})
    assert len(times_rows(run)) == 1 + 2 * 2 and times_rows(run)[0][2:4] == ("p50_ms", f"{shown}_ms")


def test_a_mark_of_the_picture_shows_both_quantiles_and_its_level():
    svg = times_svg(run_with(point={"p50": 2.0, "p99": 40.0}))
    assert "<title>point, 2 cores: p50 2.00 ms, p99 40.0 ms</title>" in svg
    places = [
        float(x) for x in re.findall(r'<line x1="([\d.]+)" x2="[\d.]+" y1="[\d.]+" y2="[\d.]+" class="span"', svg)
    ]
    assert places[0] < places[1], "the bar begins at p50 and ends at p99"


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
    checked |= {"check_cpu_s": 0.5, "check_s": 2.0}
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
        "2.00",
        "8.00",
    )
    assert second[3] == "unchecked"
    assert unchecked_words(run) == "The answers of sql are not checked: the right ones are not known."
    html = operations_html(run)
    assert f"Answers checked: {20 * count} before the load and {7 * count} of the load; all were right." in html
    assert unchecked_words(run) in cautions_of_answers(run)
    cells = next(csv.DictReader(io.StringIO(operations_text(run.results))))
    assert (cells["checked_before"], cells["checked_within"], cells["checked_rows"]) == ("20", "7", "1")
    assert (cells["checked_devices"], cells["parameters"], cells["passed_percent"]) == ("0-1", "span=1h", "12.5")


def test_the_report_has_the_query_of_each_operation():
    by_name = {row[0]: row[1:] for row in asked_operations_table(checked_run()).rows}
    assert by_name["sql"] == ("sql", "50 %", "SELECT 1", "–", "all time", "–", "–")
    assert by_name["hourly"][:2] == ("range", "50 %")
    assert "Queries" in operations_html(checked_run())


def test_a_mix_has_the_rows_that_it_wrote():
    figures = {"write": OperationFigures(weight=1, rows_per_s=5e4, response_ms={"p50": 1.0, "p99": 2.0})}
    run = run_with(latest={"p50": 1.0, "p99": 4.0})
    results = [
        replace(r, measurement=replace(r.measurement, operations={**r.measurement.operations, **figures}))
        for r in run.results
    ]
    table = operations_table(replace(run, results=tuple(results)))
    at = table.headers.index("Written rows/s")
    assert {row[0]: row[at] for row in table.rows} == {"latest": "–", "write": "50,000"}


def test_each_trial_states_what_was_checked_of_its_own_answers():
    run = checked_run()
    second = run.results[1]
    table = trial_checks_table(second)
    assert table.title == f"Answers checked in {second.trial.trial_id}: 20 before the load, 7 of the load"
    assert table.rows[0] == ("hourly", "range", "span=1h", "20", "7", "1", "2 of 100", "12.5 %", "0.500", "2.00")
    assert table.rows[1][3] == "unchecked"
    html = trials_html(run)
    assert all(trial_checks_table(result).title in html for result in run.results)


def test_a_trial_without_a_checked_answer_has_no_table_of_them():
    run = run_with(point={"p99": 1.0})
    assert trial_checks_table(run.results[0]).rows == ()
    assert "Answers checked" not in trials_html(run)
