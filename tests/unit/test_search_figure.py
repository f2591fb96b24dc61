"""The picture of a search: every step has its place and its shape, the answer its interval, the objective its line."""

import re
from dataclasses import replace

import pytest

from scale_sweep.capacity import parse_objective
from scale_sweep.model import StoredRun, VerdictKind
from scale_sweep.report.page import html
from scale_sweep.report.search_figure import (
    NARROW,
    NARROW_HEIGHT,
    percentile_of,
    search_rows,
    search_svg,
    searches_html,
    shape_of,
)
from scale_sweep.report.svg import SHAPES
from tests.unit.searched_run import OBJECTIVE, Queue, searched_plan, searched_results


@pytest.fixture(scope="module")
def run():
    plan, results = searched_results(searched_plan(1, 1), Queue())
    return StoredRun(path="r", manifest={}, plan=plan, results=tuple(results), timeseries={}, fit=None)


def changed(run, change):
    """The search with other steps."""
    result = run.results[0]
    steps = tuple(change(at, step) for at, step in enumerate(result.measurement.steps))
    return replace(result, measurement=replace(result.measurement, steps=steps))


def drawn(run, result, width=640, height=340):
    return search_svg(run, OBJECTIVE, result, width, height)


def marks(svg):
    """The markers of steps, without those of the legend."""
    return re.findall(r'<path transform="translate\(([\d.]+),([\d.]+)\)" d="[^"]*" class="m (\w+)"><title>', svg)


def test_each_step_is_drawn_once_and_the_answer_with_its_interval(run):
    result = run.results[0]
    svg, steps = drawn(run, result), result.measurement.steps
    assert len(marks(svg)) == len(steps) == 14
    assert sum(css == "valid" for *_, css in marks(svg)) == sum(step.holds for step in steps)
    assert svg.count('class="band"') == 1 and "capacity with its interval" in svg and "p99 &lt; 20 ms" in svg
    lefts = [float(x) for x, *_ in marks(svg)]
    rates = [step.rate for step in steps]
    assert [lefts.index(x) for x in sorted(lefts)] == [rates.index(x) for x in sorted(rates)], "by rate"


def test_a_step_that_was_left_out_keeps_the_shape_of_its_verdict(run):
    result = changed(
        run,
        lambda at, step: (
            replace(step, usable=False, why="others", verdict=VerdictKind.GENERATOR_BOUND) if at == 3 else step
        ),
    )
    svg = drawn(run, result)
    assert len(marks(svg)) == 14 and "left out: GENERATOR_BOUND" in svg
    assert SHAPES[shape_of(result.measurement.steps[3])] == "square"


def test_a_step_over_capacity_or_without_a_percentile_is_at_the_upper_edge(run):
    result = changed(
        run, lambda at, step: replace(step, excess=None, response_ms={**step.response_ms, "p99": 9e5 if at else None})
    )
    tops = {float(y) for _, y, _ in marks(drawn(run, result))}
    assert len(tops) == 1


def test_a_search_without_an_answer_has_neither_line_nor_area(run):
    result = run.results[0]
    without = replace(result, measurement=replace(result.measurement, capacity_per_s=None))
    assert 'class="band"' not in drawn(run, without)
    assert "no capacity" in searches_html(replace(run, results=(without,)))


def test_only_searches_have_a_picture_and_its_data_are_the_steps(run):
    assert searches_html(run).count("<figure") == 1, "confirming trials have none"
    rows = search_rows(run, run.results[0])
    assert len(rows) == 15 and rows[0][1] == "offered_rows_per_s"
    assert {row[-1] for row in rows[1:]} <= {"holds", "does not hold", "over capacity"}
    closed = replace(run.plan.sweep, load=replace(run.plan.sweep.load, objective=None))
    assert searches_html(replace(run, plan=replace(run.plan, sweep=closed))) == ""


def test_no_text_reaches_beyond_a_narrow_picture(run):
    svg = drawn(run, run.results[0], NARROW, NARROW_HEIGHT)
    assert max(float(x) for x, *_ in marks(svg)) <= NARROW


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("p99 < 20ms", "p99"),
        ("p999 < 1s, p50 < 2ms", "p999"),
        ("range.p50 < 2ms, p95 < 3ms", "p99"),
        ("errors < 1%", "p99"),
    ],
)
def test_the_percentile_of_the_objective_has_the_shapes(text, own):
    assert percentile_of(parse_objective(text)) == own


def test_the_page_says_what_its_rate_holds(run):
    page = html(run)
    assert "rows/s that hold p99 &lt; 20 ms" in page
    assert "on a fresh server, " in page and "with twice the connections (128)" in page


def test_the_words_of_the_limit_are_where_no_step_is(run):
    def words_at(*places):
        """Where the words are with steps at these rates (of the lowest and highest) and times."""
        steps = run.results[0].measurement.steps
        low, high = (at(step.rate for step in steps) for at in (min, max))

        def placed(at, step):
            part, ms = places[at % len(places)]
            times = dict.fromkeys(("p50", "p99", "p999"), ms)
            return replace(step, rate=low + part * (high - low), response_ms=times)

        svg = drawn(run, changed(run, placed))
        return next(
            found
            for found in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"( text-anchor="end")? class="t dim">p99', svg)
        )

    left_above = words_at((0.0, 4.0), (1.0, 40.0))
    assert not left_above[2]
    right_below = words_at((0.0, 22.0), (1.0, 40.0), (0.05, 4.0))
    assert right_below[2] and float(right_below[1]) > 100


def test_steps_at_one_rate_are_in_the_middle_of_a_range_of_rates(run):
    rate = run.results[0].measurement.steps[0].rate
    without = changed(run, lambda at, step: replace(step, rate=rate, usable=False, why="others"))
    (x,) = {float(x) for x, *_ in marks(drawn(run, without))}
    assert 0.4 * 640 < x < 0.6 * 640
    shown = [
        float(words) for words in re.findall(r'text-anchor="middle" class="t[^"]*">([\d.]+)<', drawn(run, without))
    ]
    assert max(shown) - min(shown) > 0.04 * rate / 1e3
