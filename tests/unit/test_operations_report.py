"""The operations of reads: their response times in one picture, what each asks, and what was checked."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from scale_sweep.model.declared import Operation
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.questions import OperationFigures
from scale_sweep.report.forms import Page
from scale_sweep.report.markup import code_html
from scale_sweep.report.operation_pictures import times_caption, times_rows, times_svg, upper_quantile
from scale_sweep.report.operation_questions import (
    asked_operations_table,
    checks_table,
    trial_checks_table,
    unchecked_words,
)
from scale_sweep.report.operations import cautions_of_answers, operations_part, operations_table
from scale_sweep.report.trials import trials_html
from scale_sweep.results.store.texts import operations_text
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
    assert ("Too few" in times_caption(run)) == (shown != "p99")
    has_middle = ("p50" in point) + ("p50" in latest)
    assert svg.count('class="m valid"') == 2 * has_middle
    assert bool(svg) == bool({"p50", shown} & {*point, *latest})
    assert len(times_rows(run)) == 1 + 2 * 2 and times_rows(run)[0][2:4] == ("p50_ms", f"{shown}_ms")


def test_a_mark_of_the_picture_shows_both_quantiles_and_backticks_are_code(wording):
    svg = times_svg(run_with(point={"p50": 2.0, "p99": 40.0}))
    wording(*re.findall("<title>(.*?)</title>", svg)[-1:])
    bar = r'<line x1="([\d.]+)" x2="[\d.]+" y1="[\d.]+" y2="[\d.]+" class="span"'
    start, end = (float(x) for x in re.findall(bar, svg)[:2])
    assert start < end, "the bar begins at p50 and ends at p99"
    code = {"`<x>` has": "<code>&lt;x&gt;</code> has", "a ` alone": "a ` alone", "plain & simple": "plain &amp; simple"}
    assert {words: code_html(words) for words in code} == code


def with_operation(result: TrialResult, **figures: OperationFigures) -> TrialResult:
    operations = {**result.measurement.operations, **figures}
    return replace(result, measurement=replace(result.measurement, operations=operations))


def checked_run() -> StoredRun:
    """A run of an operation whose answers were checked, of other devices in each trial, and of a text of the user."""
    run = run_with(hourly={"p99": 1.0}, sql={"p99": 1.0})
    hourly = Operation(name="hourly", kind="range", unit="requests", parameters={"span": "1h"})
    own = Operation(name="sql", unit="requests", parameters={"text": "SELECT 1"})
    work = replace(run.plan.sweep.work, operations=(hourly, own))
    run = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, work=work)))
    counts = {"checked_before": 20, "checked_within": 7, "checked_rows": 1}
    checked = {**counts, "passed_percent": 12.5, "check_cpu_s": 0.5, "check_s": 2.0}
    results = []
    for number, result in enumerate(run.results):
        of_hourly = {"checked_devices": f"{number}-{number + 1}", **checked}
        measured = with_operation(result, hourly=replace(result.measurement.operations["hourly"], **of_hourly))
        results.append(replace(measured, trial=replace(result.trial, work=work)))
    return replace(run, results=tuple(results))


def test_the_report_states_what_was_checked_and_what_was_not(wording):
    run = checked_run()
    count = len(run.results)
    first, second = checks_table(run).rows
    assert first[:3] == ("hourly", "range", "span=1h")
    assert first[3:6] == (f"{20 * count}", f"{7 * count}", f"{count}")
    assert first[6:] == (f"{count + 1} of 100", "12.5 %", "2.00", "8.00")
    assert second[3] == "unchecked"
    html = operations_part(run, Page())
    wording(unchecked_words(run), *re.findall("Answers checked: [^<]*", html))
    assert unchecked_words(run) in cautions_of_answers(run)
    cells = next(csv.DictReader(io.StringIO(operations_text(run.results))))
    assert (cells["checked_before"], cells["checked_within"], cells["checked_rows"]) == ("20", "7", "1")
    assert (cells["checked_devices"], cells["parameters"], cells["passed_percent"]) == ("0-1", "span=1h", "12.5")
    run = checked_run()
    second = run.results[1]
    table, html = trial_checks_table(second), trials_html(run)
    assert second.trial.trial_id in table.title and re.findall(r" (\d+) ", table.title) == ["20", "7"]
    assert table.rows[0] == ("hourly", "range", "span=1h", "20", "7", "1", "2 of 100", "12.5 %", "0.500", "2.00")
    assert table.rows[1][3] == "unchecked"
    assert all(trial_checks_table(result).title in html for result in run.results)
    without = run_with(point={"p99": 1.0})
    assert trial_checks_table(without.results[0]).rows == ()
    assert "Answers checked" not in trials_html(without)


def test_the_report_has_the_query_and_the_written_rows_of_each_operation():
    by_name = {row[0]: row[1:] for row in asked_operations_table(checked_run()).rows}
    assert by_name["sql"] == ("sql", "50 %", "SELECT 1", "–", "all time", "–", "–")
    assert by_name["hourly"][:2] == ("range", "50 %")
    assert "Queries" in operations_part(checked_run(), Page())
    write = OperationFigures(weight=1, rows_per_s=5e4, response_ms={"p50": 1.0, "p99": 2.0})
    run = run_with(latest={"p50": 1.0, "p99": 4.0})
    table = operations_table(replace(run, results=tuple(with_operation(r, write=write) for r in run.results)))
    at = table.headers.index("Written rows/s")
    assert {row[0]: row[at] for row in table.rows} == {"latest": "–", "write": "50 k"}
