"""A level that the server does not use for a reason of its own is a point of the curve, marked; an open loop is none."""

from dataclasses import replace

import pytest

from scale_sweep.analysis.observations import OPEN_LOOP, observations
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.planned import Plan
from scale_sweep.report.article import article_table
from scale_sweep.report.curve import curve_svg
from scale_sweep.report.sections import html
from scale_sweep.report.table import verdict_counts
from scale_sweep.results.store.texts import points_text
from tests.unit.factories import make_result, make_sweep, make_trial
from tests.unit.observing import fit_curve

OWN = VerdictKind.SOFTWARE_BOTTLENECK
LEVELS = range(1, 13)


def make_run(*results):
    trials = tuple(r.trial for r in results)
    plan = Plan(sweep=make_sweep(cores="1..12"), trials=trials, confounds=(), notes=(), seconds_estimated=1.0)
    return StoredRun(path="results/x", manifest={}, plan=plan, results=results, timeseries={})


def locked(kind):
    """A server that cannot use more than 6.2 cores; what is above is of that kind."""
    return [make_result(n, 1e6 * min(n, 6.2), kind=VerdictKind.VALID if n < 7 else kind) for n in LEVELS]


@pytest.mark.parametrize("kind", VerdictKind)
def test_only_these_two_verdicts_are_points_of_the_curve(kind):
    observed = observations([make_result(kind=kind)], "rows_per_s")[0]
    assert (observed.mark == "") is kind.is_fitted is (kind in (VerdictKind.VALID, OWN))
    assert observed.note == (kind.value if kind is OWN else "")


def test_the_levels_above_a_lock_are_fitted_and_bend_the_curve_and_an_open_loop_has_none():
    bent = fit_curve(locked(OWN))
    assert [p.level for p in bent.points] == list(LEVELS)
    assert bent.verdict != "linear"
    assert fit_curve(locked(VerdictKind.GENERATOR_BOUND)).verdict == "linear", "what an external reason hides"
    offered = make_trial(make_sweep(load__rate="20000"))
    trials = [replace(offered, level=n, trial_id=f"cores-{n}-r1") for n in (1.0, 2.0, 4.0)]
    results = [replace(make_result(trial.level, 20e3), trial=trial) for trial in trials]
    assert {o.mark for o in observations(results, "rows_per_s")} == {OPEN_LOOP}
    assert fit_curve(results).points == ()


def test_tables_pictures_and_points_name_them(wording):
    run = make_run(*locked(OWN))
    assert verdict_counts(run) == [(VerdictKind.VALID, 6), (OWN, 6)]
    table = article_table(run)
    assert [row[0] for row in table.rows][5:8] == ["6", "7 ‡", "8 ‡"]
    wording(*(note for note in table.notes if OWN in note))
    assert f"{OWN} (6)" in curve_svg(run)
    assert "6 of 12" in html(run)
    assert points_text(run.plan, run.results).count(OWN) == 6
