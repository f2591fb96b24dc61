"""The heat map of operations: which quantile it shows, and its cells."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from runner.model import OperationFigures, StoredRun
from runner.report.markup import code_html
from runner.report.operations import heat_quantile, heat_svg
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
