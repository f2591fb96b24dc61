"""What a report of a search warns of: short steps, slow variation, pauses of a quota. No flag that a search refuses."""

import re
from dataclasses import replace

import pytest

from scale_sweep.analysis.compare.words import quick_words as compared_words
from scale_sweep.analysis.observations import observations
from scale_sweep.experiment.axes import load_axis
from scale_sweep.model import NewPages, StoredRun, common_marks, marks, verdict_words
from scale_sweep.plan.preparing.machine_findings import dear_pages
from scale_sweep.report.capacity import capacity_table
from scale_sweep.report.conditions import conditions
from scale_sweep.report.figures import fit_again
from scale_sweep.report.quota import quota_words
from scale_sweep.report.table import quick_words, unseen_words
from tests.unit.searched_run import Queue, searched_plan, searched_results
from tests.unit.synthetic_run import synthetic_run


@pytest.fixture(scope="module")
def quick():
    """Searches of short steps at two levels."""
    plan, results = searched_results(searched_plan(2, 1, step_s=5.0), Queue())
    return StoredRun(path="r", manifest={}, plan=plan, results=tuple(results), timeseries={}, fit=None)


@pytest.fixture(scope="module")
def longer(quick):
    """The same with steps of 10 s, and with the trials that confirm them."""
    plan, results = searched_results(searched_plan(2, 1), Queue())
    return replace(quick, plan=plan, results=tuple(results))


def test_short_steps_are_quick_and_the_caution_does_not_ask_for_steps_of_40_s(quick):
    (said,) = quick_words(quick)
    assert said == (
        "quick: steps of 5 s (under 10 s) in all 2 trials; few requests are in a step, and a slow period of the server "
        "is in few steps, so these are no capacities. Measure again with --duration 10s or more"
    )
    assert common_marks(quick.results) == ("quick",)
    assert {verdict_words(r) for r in quick.results} == {"VALID (short window)"}


def test_short_steps_say_what_held_for_so_long_and_make_no_capacity(quick, longer):
    for result in quick.results:
        m = result.measurement
        assert (m.capacity_per_s, m.capacity_low_per_s, m.capacity_high_per_s) == (None, None, None)
        assert re.match(
            r"no capacity: [\d.]+ [kM]? ?rows/s held for 5 s, [\d.]+ [kM]? ?did not", result.verdict.reasons[0]
        )
    fit = fit_again(quick)
    assert not fit.points and fit.sentence.startswith("No capacity from short steps. p99 < 20 ms: ")
    assert "at 1 core; " in fit.sentence and "held for 5 s" in capacity_table(quick).rows[0][2]
    old = [replace(a, measurement=b.measurement) for a, b in zip(quick.results, longer.results, strict=False)]
    assert {one.mark for one in observations(old, "capacity_per_s")} == {"search with short steps"}, "of older versions"
    assert fit_again(longer).points


def test_the_usual_steps_have_no_caution(longer):
    assert quick_words(longer) == ()
    assert {marks(r) for r in longer.results} == {()}
    assert {verdict_words(r) for r in longer.results} == {"VALID"}
    assert len(longer.results) > 2, "with confirming trials"


def test_what_a_search_cannot_show_is_slower_than_half_of_its_steps(quick):
    said = unseen_words(quick)
    assert said.startswith("variation with a period above 35 s (half of the shortest search): ")
    assert said.endswith(" --soak 30m without --slo does")


def test_a_comparison_of_searches_names_their_steps(quick, longer):
    (said,) = compared_words(quick.results, longer.results)
    count = len(quick.results)
    assert said == f"quick: {count} of {count} of A trials have steps under 10 s, with few requests in each"


def grown(results):
    return [replace(r, measurement=replace(r.measurement, data_gb=r.trial.level)) for r in results]


def test_no_report_of_a_search_advises_rows(quick):
    axis = load_axis("cores")
    (said,) = [words for words in conditions(grown(quick.results), axis) if words.startswith("the data")]
    assert "1 at 1, 2 at 2 GB" in said and "--rows" not in said
    (said,) = [
        words for words in conditions(grown(synthetic_run((1, 2)).results), axis) if words.startswith("the data")
    ]
    assert said.endswith("(--rows gives every level the same rows)")


def test_no_plan_of_a_search_advises_rows(quick):
    pages = NewPages(
        first_us=1.2,
        again_us=1.2,
        last_us=11.8,
        touched_bytes=8 * 10**9,
        cheap_bytes=3 * 10**9,
        available_bytes=16 * 10**9,
    )
    assert pages.are_dear
    for plan, flag in ((quick.plan, "--duration"), (synthetic_run().plan, "--rows")):
        (finding,) = dear_pages(plan, pages, 0)
        assert f"({flag})" in finding.remedy


def test_a_quota_explains_a_low_capacity_with_the_throttled_time(quick):
    def at_quota(trial):
        placement = replace(trial.placement, server_cpus=(1,), quota_cores=0.5 if trial.level == 1 else None)
        return replace(trial, resources=replace(trial.resources, placement=placement))

    plan = replace(quick.plan, trials=tuple(map(at_quota, quick.plan.trials)))
    results = [
        replace(
            r, trial=at_quota(r.trial), measurement=replace(r.measurement, throttled_s=0.48 * r.measurement.window_s)
        )
        for r in quick.results
    ]
    (said,) = quota_words(replace(quick, plan=plan, results=tuple(results)))
    assert said.endswith(
        "With the limit p99 < 20 ms the capacity there may be less than its share of the cores, and the "
        "efficiency of a level without a quota above 1. In the closed loops the kernel stopped the server for 48 % of "
        "the time"
    )
    unknown = [replace(r, measurement=replace(r.measurement, throttled_s=None)) for r in results]
    (said,) = quota_words(replace(quick, plan=plan, results=tuple(unknown)))
    assert said.endswith("without a quota above 1")
    never = [replace(r, measurement=replace(r.measurement, throttled_s=0.0)) for r in results]
    (said,) = quota_words(replace(quick, plan=plan, results=tuple(never)))
    assert said.endswith("contain these pauses"), "the quota was not used up, so it explains nothing"
