"""The report of a search: what it warns of, what others disturbed, and its picture. No flag that a search refuses."""

import re
from dataclasses import replace

import pytest

from scale_sweep.analysis.compare.words import quick_words as compared_words
from scale_sweep.analysis.observations import observations
from scale_sweep.capacity.objective import parse_objective
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge import method
from scale_sweep.model.derived import common_marks, marks, verdict_words
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import BottleneckKind, VerdictKind
from scale_sweep.model.resources import NewPages
from scale_sweep.plan.preparing.machine_findings import dear_pages
from scale_sweep.report import search_figure
from scale_sweep.report.bottlenecks import remedies
from scale_sweep.report.conditions import conditions, quota_words
from scale_sweep.report.figures import fit_again
from scale_sweep.report.offered_rates import capacity_table
from scale_sweep.report.sections import html
from scale_sweep.report.svg import SHAPES
from scale_sweep.report.table import quick_words, unseen_words
from scale_sweep.verify.run import verify_run
from tests.unit.searched_run import OBJECTIVE, Queue, searched_plan, searched_results, searched_run
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_method import bless


def searched(levels, queue, **asked):
    plan, results = searched_results(searched_plan(levels, 1, **asked), queue)
    return StoredRun(path="r", manifest={}, plan=plan, results=tuple(results), timeseries={}, fit=None)


@pytest.fixture(scope="module")
def quick():
    """Searches of short steps at two levels."""
    return searched(2, Queue(), step_s=5.0)


@pytest.fixture(scope="module")
def longer():
    """The same with steps of 10 s, and with the trials that confirm them."""
    return searched(2, Queue())


def test_short_steps_are_quick_and_the_caution_does_not_ask_for_steps_of_40_s(quick, longer, wording):
    wording(*quick_words(quick), unseen_words(quick), *compared_words(quick.results, longer.results))
    assert common_marks(quick.results) == ("quick",)
    assert {verdict_words(r) for r in quick.results} == {f"{VerdictKind.VALID} (short window)"}
    assert quick_words(longer) == ()
    assert {marks(r) for r in longer.results} == {()}
    assert {verdict_words(r) for r in longer.results} == {VerdictKind.VALID}
    assert len(longer.results) > 2  # with confirming trials


def test_short_steps_say_what_held_for_so_long_and_make_no_capacity(quick, longer):
    for result in quick.results:
        m = result.measurement
        assert (m.capacity_per_s, m.capacity_low_per_s, m.capacity_high_per_s) == (None, None, None)
        said = r"no capacity: [\d.]+ [kM]? ?rows/s held for 5 s, [\d.]+ [kM]? ?did not"
        assert re.match(said, result.verdict.reasons[0])
    fit = fit_again(quick)
    assert not fit.points and fit.sentence.startswith("No capacity") and "at 1 core;" in fit.sentence
    assert "for 5 s" in capacity_table(quick).rows[0][2]
    old = [replace(a, measurement=b.measurement) for a, b in zip(quick.results, longer.results, strict=False)]
    assert {one.mark.rpartition(" ")[2] for one in observations(old, "capacity_per_s")} == {"steps"}  # older versions
    assert fit_again(longer).points


def test_no_report_and_no_plan_of_a_search_advises_rows(quick, wording):
    closed = synthetic_run((1, 2))
    for run in (quick, closed):
        grown = [replace(r, measurement=replace(r.measurement, data_gb=r.trial.level)) for r in run.results]
        wording(*(words for words in conditions(grown, load_axis("cores")) if "the data" in words))
    gigabytes = {"touched_bytes": 8 * 10**9, "cheap_bytes": 3 * 10**9, "available_bytes": 16 * 10**9}
    pages = NewPages(first_us=1.2, again_us=1.2, last_us=11.8, **gigabytes)
    assert pages.are_dear
    for plan, flag in ((quick.plan, "--duration"), (closed.plan, "--rows")):
        (finding,) = dear_pages(plan, pages, 0)
        assert f"({flag})" in finding.remedy


def test_a_quota_explains_a_low_capacity_with_the_throttled_time(quick, wording):
    def at_quota(trial):
        placement = replace(trial.placement, server_cpus=(1,), quota_cores=0.5 if trial.level == 1 else None)
        return replace(trial, resources=replace(trial.resources, placement=placement))

    plan = replace(quick.plan, trials=tuple(map(at_quota, quick.plan.trials)))
    for share in (0.48, None, 0.0):
        results = []
        for r in quick.results:
            throttled_s = None if share is None else share * r.measurement.window_s
            measurement = replace(r.measurement, throttled_s=throttled_s)
            results.append(replace(r, trial=at_quota(r.trial), measurement=measurement))
        wording(*quota_words(replace(quick, plan=plan, results=tuple(results))))


def test_the_verdict_of_a_search_that_the_hypervisor_disturbed_names_it(wording):
    run = searched(1, Queue(stolen=0.19), confirms=False)
    (result,) = run.results
    verdict, steps = result.verdict, result.measurement.steps
    assert (len(steps), len({step.rate for step in steps})) == (6, 1)  # the search ends early, and no step moves it
    assert verdict.kind is VerdictKind.RESOURCE_NOT_SATURATED
    assert verdict.bottleneck.kind is BottleneckKind.HYPERVISOR
    assert set(verdict.bottleneck.shares) == {"HYPERVISOR"}
    assert not steps[0].usable
    wording(steps[0].why, *verdict.reasons[:2], *remedies(run))


def test_a_search_that_others_left_alone_has_the_bottleneck_of_its_closed_loop_or_says_that_no_rate_holds(wording):
    verdict = searched(1, Queue(), confirms=False).results[0].verdict
    assert (verdict.kind, verdict.bottleneck.kind) == (VerdictKind.VALID, BottleneckKind.SERVER_CPU)
    run = searched(1, Queue(slow=100.0), confirms=False)
    assert run.results[0].verdict.kind is VerdictKind.OFFERED_NOT_MET
    wording(run.results[0].verdict.reasons[0], *remedies(run))


def test_verify_compares_the_judgement_of_steps_within_one_method_only(tmp_path, monkeypatch):
    folder = (
        tmp_path
        / searched_run(tmp_path, searched_plan(1, 1, confirms=False), Queue(stolen=0.19)).path.rpartition("/")[2]
    )
    path = folder / "trials" / "cores-1-r1" / "trial.json"
    path.write_text(path.read_text().replace('"why": "the hypervisor took', '"why": "the hypervisor had'))
    bless(folder)
    assert any("why" in one.sentence for one in verify_run(folder).disagreements)
    monkeypatch.setattr(method, "METHOD", method.METHOD + 1)
    assert not verify_run(folder).disagreements


@pytest.fixture(scope="module")
def run():
    return searched(1, Queue())


def changed(run, change):
    """The search with other steps."""
    result = run.results[0]
    steps = tuple(change(at, step) for at, step in enumerate(result.measurement.steps))
    return replace(result, measurement=replace(result.measurement, steps=steps))


def drawn(run, result, width=640, height=340):
    """The picture, and the markers of its steps without those of the legend."""
    svg = search_figure.search_svg(run, OBJECTIVE, result, width, height)
    marker = r'<path transform="translate\(([\d.]+),([\d.]+)\)" d="[^"]*" class="m (\w+)"><title>'
    return svg, [(float(x), float(y), css) for x, y, css in re.findall(marker, svg)]


def test_each_step_is_drawn_once_and_the_answer_with_its_interval(run):
    result = run.results[0]
    steps = result.measurement.steps
    svg, marks = drawn(run, result)
    assert len(marks) == len(steps) == 14
    assert sum(css == "valid" for *_, css in marks) == sum(step.holds for step in steps)
    assert svg.count('class="band"') == 1 and "p99 &lt; 20" in svg
    lefts, rates = [x for x, *_ in marks], [step.rate for step in steps]
    assert [lefts.index(x) for x in sorted(lefts)] == [rates.index(x) for x in sorted(rates)], "by rate"
    assert (
        max(x for x, *_ in drawn(run, result, search_figure.NARROW, search_figure.NARROW_HEIGHT)[1])
        <= search_figure.NARROW
    )
    without = replace(result, measurement=replace(result.measurement, capacity_per_s=None))
    assert 'class="band"' not in drawn(run, without)[0]
    assert "no capacity" in search_figure.searches_html(replace(run, results=(without,)))


def test_steps_that_tell_no_time_have_their_shapes_and_places(run):
    left_out = {"usable": False, "why": "others", "verdict": VerdictKind.GENERATOR_BOUND}
    result = changed(run, lambda at, step: replace(step, **left_out) if at == 3 else step)
    svg, marks = drawn(run, result)
    assert len(marks) == 14 and f"left out: {VerdictKind.GENERATOR_BOUND}" in svg
    assert SHAPES[search_figure.shape_of(result.measurement.steps[3])] == "square"
    upper = changed(
        run, lambda at, step: replace(step, excess=None, response_ms={**step.response_ms, "p99": 9e5 if at else None})
    )
    assert len({y for _, y, _ in drawn(run, upper)[1]}) == 1  # over capacity, or without a percentile
    rate = run.results[0].measurement.steps[0].rate
    svg, marks = drawn(run, changed(run, lambda at, step: replace(step, rate=rate, usable=False, why="others")))
    (x,) = {x for x, *_ in marks}
    assert 0.4 * 640 < x < 0.6 * 640
    shown = [float(words) for words in re.findall(r'text-anchor="middle" class="t[^"]*">([\d.]+)<', svg)]
    assert max(shown) - min(shown) > 0.04 * rate / 1e3


def test_only_searches_have_a_picture_and_its_data_are_the_steps(run):
    assert search_figure.searches_html(run).count("<figure") == 1  # confirming trials have none
    rows = search_figure.search_rows(run, run.results[0])
    assert len(rows) == 15 and rows[0][1] == "offered_rows_per_s"
    assert {row[-1].split()[-1] for row in rows[1:]} <= {"holds", "hold", "capacity"}
    closed = replace(run.plan.sweep, load=replace(run.plan.sweep.load, objective=None))
    assert search_figure.searches_html(replace(run, plan=replace(run.plan, sweep=closed))) == ""
    page = html(run)
    told = ("hold p99 &lt; 20 ms", "on a fresh server", "the connections (128)")
    assert [words for words in told if words not in page] == []


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
    assert search_figure.percentile_of(parse_objective(text)) == own


def test_the_words_of_the_limit_are_where_no_step_is(run):
    def words_at(*places):
        """Where the words are with steps at these rates (of the lowest and highest) and times."""
        steps = run.results[0].measurement.steps
        low, high = (at(step.rate for step in steps) for at in (min, max))

        def placed(at, step):
            part, ms = places[at % len(places)]
            return replace(step, rate=low + part * (high - low), response_ms=dict.fromkeys(("p50", "p99", "p999"), ms))

        svg, _ = drawn(run, changed(run, placed))
        return re.search(r'<text x="([\d.]+)" y="([\d.]+)"( text-anchor="end")? class="t dim">p99', svg)

    assert not words_at((0.0, 4.0), (1.0, 40.0))[3]
    right_below = words_at((0.0, 22.0), (1.0, 40.0), (0.05, 4.0))
    assert right_below[3] and float(right_below[2]) > 100
