"""The heat map of operations: which quantile it shows, and its cells."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from runner.model import Operation, OperationFigures, StoredRun
from runner.report.checked import checks_table, unchecked_words
from runner.report.markup import code_html
from runner.report.operations import heat_quantile, heat_svg, operations_html
from runner.store.operations import operations_text
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


def test_the_report_states_what_was_checked_and_what_was_not():
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
    run, count = replace(run, results=tuple(results)), len(results)
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
