"""scale compare: false alarms and power, what is said of few trials and missing points, and the codes for scripts."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

from scale_sweep.analysis.compare import compare_runs, ratios
from scale_sweep.analysis.compare.manifests import differing
from scale_sweep.analysis.compare.pairs import PointLogs, false_alarms, family, window_spread
from scale_sweep.analysis.compare.ratios import holm, side, together, variances, welch
from scale_sweep.base.errors import EXIT_SLOWER, UsageError
from scale_sweep.base.units import parse_percent
from scale_sweep.cli import app
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.comparison import ratio_table
from scale_sweep.results.store.reader import read_run
from tests.unit.factories import SLOWER, offered, with_rates, with_trials
from tests.unit.raw_run import Shape, raw_run
from tests.unit.synthetic_run import synthetic_run

CHANCE = np.random.default_rng(7)
FIRST_STATE = CHANCE.bit_generator.state


@pytest.fixture(autouse=True)
def same_draws():
    CHANCE.bit_generator.state = FIRST_STATE  # whichever tests run before


def drawn(draws, points, replicates, spread=0.03, shift=0.0):
    return side(CHANCE.normal(shift, spread, (draws, points, replicates)))


def autoregression(phi, seconds, spread=0.05):
    noise = CHANCE.normal(size=seconds)
    for at in range(1, seconds):
        noise[at] = phi * noise[at - 1] + math.sqrt(1 - phi**2) * noise[at]
    return 1e6 * np.exp(spread * noise)


def test_two_points_with_replicates_are_welch_s_test():
    a, b = CHANCE.normal(0, 0.02, 5), CHANCE.normal(0.01, 0.05, 4)
    sides = side(a[None, :]), side(b[None, :])
    found = welch(*sides, *variances(*sides), shared=False)
    wanted = stats.ttest_ind(b, a, equal_var=False)
    assert (found.p_value[0], found.degrees[0]) == pytest.approx((wanted.pvalue, wanted.df))


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("points", "a", "b", "shift", "least", "most"),
    [(1, 3, 3, 0.0, 0.02, 0.06), (4, 2, 2, 0.0, 0.01, 0.06), (4, 3, 3, 0.0, 0.02, 0.06), (8, 3, 5, 0.0, 0.02, 0.06)]
    + [(12, 3, 1, 0.0, 0.02, 0.06), (4, 3, 3, math.log(0.9), 0.95, 1.01), (4, 5, 5, math.log(0.9), 0.95, 1.01)],
)
def test_false_alarms_are_near_five_percent_and_a_difference_of_ten_percent_is_found(points, a, b, shift, least, most):
    sides = drawn(8000, points, a), drawn(8000, points, b, shift=shift)
    found = welch(*sides, *variances(*sides), shared=b == 1)
    adjusted, _ = family(found)
    assert shift or float((found.p_value < 0.05).mean()) < 0.06
    assert least < float((adjusted < 0.05).any(axis=-1).mean()) < most  # few replicates cost power, not truth


@pytest.mark.monte_carlo
@pytest.mark.parametrize(("phi", "seconds"), [(0.0, 20), (0.5, 20), (0.5, 60), (0.8, 60)])
def test_seconds_that_hang_together_raise_no_more_false_alarms(phi, seconds):
    alarms, naive, draws = 0, 0, 1200
    for _ in range(draws):
        windows = [autoregression(phi, seconds) for _ in range(2)]
        a, b = (window_spread(w) for w in windows)
        difference = np.array([math.log(windows[1].mean() / windows[0].mean())])
        figures = (np.array([v]) for v in (a.variance, b.variance, a.degrees, b.degrees))
        alarms += bool(ratios.tested(difference, *figures, np.array([False])).p_value[0] < 0.05)
        naive += bool(stats.ttest_ind(*windows).pvalue < 0.05)
    assert alarms / draws < 0.08
    assert phi == 0 or naive / draws > 0.15  # what counting every second as independent would do


@pytest.mark.monte_carlo
def test_the_interval_covers_the_true_ratio_nineteen_times_in_twenty():
    sides = drawn(4000, 4, 3), drawn(4000, 4, 3, shift=math.log(0.93))
    found = welch(*sides, *variances(*sides), shared=False)
    for one in (found, together(found)):
        inside = np.abs(one.difference - math.log(0.93)) < stats.t.ppf(0.975, one.degrees) * one.error
        assert 0.93 < inside.mean() < 0.97


@pytest.mark.monte_carlo
def test_a_point_that_is_far_noisier_does_not_raise_alarms_elsewhere_and_stands_alone():
    spread = np.array([0.2] + [0.01] * 11)[:, None]
    sides = [side(CHANCE.normal(0, 1, (4000, 12, 3)) * spread) for _ in range(2)]
    found = welch(*sides, *variances(*sides), shared=False)
    alarms = (found.p_value < 0.05).mean(axis=0)
    assert found.own[:, 0].mean() > 0.95 and alarms[0] < 0.08 and 0.03 < alarms[1] < 0.07


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_never_kinder_than_the_plain_p_nor_harder_than_bonferroni(p_values):
    p = np.array(p_values)
    adjusted = holm(p)
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= np.minimum(p * len(p), 1) + 1e-12)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0)


@given(st.lists(st.floats(1, 1e7), min_size=5, max_size=60), st.floats(0.001, 1000))
def test_the_spread_of_a_window_does_not_depend_on_the_unit(rates, unit):
    one, other = window_spread(rates), window_spread([r * unit for r in rates])
    assert one.variance == pytest.approx(other.variance, rel=1e-6, abs=1e-15)
    assert 0 <= one.effective <= len(rates)
    assert window_spread(rates[:4]) is window_spread([0.0] * 10) is None
    assert window_spread([5.0] * 10).variance == 0


@pytest.mark.monte_carlo
@pytest.mark.parametrize(("trials", "least"), [((5,) * 6, 2), ((2, 2), 0), ((2, 1), 0), ((3, 3), 0)])
def test_the_false_alarms_said_are_those_of_the_test_also_where_there_are_few_residuals(trials, least):
    points = [
        PointLogs(level=n, variant="", a=tuple(CHANCE.normal(0, 0.02, count)), b=tuple(CHANCE.normal(0, 0.02, count)))
        for n, count in enumerate(trials, start=1)
    ]
    said = false_alarms(points, 0.05, 0.05)
    assert least <= said.any_percent < 8
    assert said.slower_percent < said.any_percent
    assert false_alarms(points, 0.05, None).slower_percent is None


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    slow, single = {"gamma": 3.4e5}, {"replicates": 1, "seconds": 30}
    shapes = {"first": {}, "again": {}, "slow": slow, "single": single, "single-slow": single | slow, "later": slow}
    for number, (name, shape) in enumerate(shapes.items(), start=1):
        raw_run(folder, f"2026010{number}T000000Z-{name}", shape=Shape(seed=number, **shape))
    return folder


def run_of(folder: Path, name: str):
    return read_run(next(folder.glob(f"*-{name}")))


def test_a_slower_run_is_called_slower_and_the_same_sweep_again_is_not(runs, wording):
    first, slow, again = (run_of(runs, name) for name in ("first", "slow", "again"))
    found = compare_runs(first, slow, SLOWER)
    assert found.overall.ratio == pytest.approx(0.85, abs=0.02)
    assert found.overall.low < 0.85 < found.overall.high
    assert all(p.differs for p in found.points)
    assert found.slower == ("1 core", "2 cores", "3 cores", "all points")
    same = compare_runs(first, again, SLOWER)
    assert not any(p.differs for p in same.points) and same.slower == ()
    assert [d.name for d in same.differing] == ["seed"]
    own = compare_runs(first, first, SLOWER)
    assert {p.ratio for p in own.points} == {1.0} and own.differing == ()
    assert own.false_alarms.any_percent < 8
    wording(found.sentence, same.sentence, own.cautions[0])


def test_single_trials_are_compared_by_their_seconds_with_a_warning_and_have_no_interval_without(runs, wording):
    a, b = (run_of(runs, name) for name in ("single", "single-slow"))
    found = compare_runs(a, b)
    assert {p.spread for p in found.points} == {"seconds"} and found.overall.differs
    assert {p.spread for p in compare_runs(run_of(runs, "first"), a).points} == {"common"}
    without = compare_runs(replace(a, timeseries={}), replace(b, timeseries={}), SLOWER)
    assert without.points[0].ratio == pytest.approx(0.85, abs=0.05)
    assert (without.points[0].low, without.false_alarms, without.slower) == (None, None, ())
    wording(found.cautions[0], without.sentence)


def test_a_point_that_lost_its_valid_trials_cannot_pass(wording):
    def lost(*levels):
        return synthetic_run(verdicts={(n, r): VerdictKind.ABORTED for n in levels for r in (1, 2, 3)}, seed=9)

    a = synthetic_run()
    found = compare_runs(a, lost(4.0), SLOWER)
    assert found.unjudged == ("4 cores",)
    shorter = compare_runs(a, synthetic_run(levels=(1, 2, 3), seed=9), SLOWER)
    assert shorter.unjudged == ()
    nothing = compare_runs(lost(1.0, 2.0, 3.0, 4.0), a)
    wording(found.points[-1].missing, shorter.points[-1].missing, nothing.sentence)


def test_an_open_loop_has_no_capacity_to_compare(wording):
    a, b = synthetic_run(), synthetic_run(seed=9)
    found = [compare_runs(*pair, SLOWER) for pair in ((offered(a), offered(b)), (a, offered(b)), (offered(a), b))]
    assert [len({p.missing for p in one.points}) for one in found] == [1, 1, 1]
    assert {one.unjudged for one in found} == {()}, "nobody lost a point"
    wording(*(one.points[0].missing for one in found), found[0].sentence)


@pytest.mark.parametrize("role", ["drift_check", "ablation"])
def test_trials_that_are_not_on_the_curve_are_not_compared(role):
    a = synthetic_run()
    odd = replace(a.results[0].trial, trial_id="odd", role=role, knobs={"partitions": "99"})
    beside = replace(a.results[0], trial=odd, measurement=replace(a.results[0].measurement, rows_per_s=1.0))
    b = replace(a, results=(*a.results, beside), plan=replace(a.plan, trials=(*a.plan.trials, odd)))
    found = compare_runs(a, b)
    assert {p.ratio for p in found.points} == {1.0} and found.differing == ()


def test_numbers_of_short_windows_are_a_caution(wording):
    def quick(a, b):
        return [caution for caution in compare_runs(a, b).cautions if "quick" in caution]

    a, b = synthetic_run(), synthetic_run(seed=9)
    long = with_trials(b, lambda trial: replace(trial, load=replace(trial.load, duration_s=40.0)))
    windows = tuple(replace(r, measurement=replace(r.measurement, window_s=45.0)) for r in long.results)
    long = replace(long, results=windows)
    assert quick(long, replace(long, path="other")) == []
    wording(*quick(a, b), *quick(a, long))


def test_what_differs_is_said_and_what_always_differs_is_not():
    a = synthetic_run()
    effective = [r.effective | {"shared_buffers": "2GB", "port": str(at)} for at, r in enumerate(a.results)]
    results = tuple(replace(r, effective=one) for r, one in zip(a.results, effective, strict=True))
    host = {**a.manifest["host"], "kernel": "6.9.0"}
    other = {"tool_version": "0.2.0", "server": {"version": "17.0"}, "host": host, "created_utc": "2027"}
    plan = replace(a.plan, sweep=replace(a.plan.sweep, method="insert"))
    b = replace(a, manifest={**a.manifest, **other}, results=results, plan=plan)
    assert {(d.kind, d.name): (d.a, d.b) for d in differing(a, b)} == {
        ("server", "version"): ("16.2", "17.0"),
        ("settings", "shared_buffers"): ("1GB", "2GB"),
        ("sweep", "method"): ("copy", "insert"),
        ("host", "kernel"): ("6.1.0", "6.9.0"),
        ("tool", "tool_version"): ("0.1.0", "0.2.0"),
    }


IMAGE = {"version": "16.2", "image": "postgres:16", "image_digest": ""}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (IMAGE | {"image_id": "sha256:1"}, IMAGE | {"image_id": "sha256:2"}, ("image_id", "sha256:1", "sha256:2")),
        ({}, {"version": "16.2"}, None),  # interrupted: the version is the one that the trials saw
        ({}, {"version": "17.0"}, ("version", "16.2", "17.0")),
    ],
)
def test_servers_are_told_apart_by_their_version_and_by_the_build_of_their_image(a, b, expected):
    run = synthetic_run()
    found = differing(*(replace(run, manifest={**run.manifest, "server": server}) for server in (a, b)))
    assert [(d.kind, d.name, d.a, d.b) for d in found] == ([("server", *expected)] if expected else [])


def scale(runs, words):
    return CliRunner().invoke(app, ["compare", *words.split(), "--results", str(runs)])


def test_the_code_for_scripts(runs, wording):
    slower = scale(runs, "first,again 0103,later --fail-if-slower 5%")
    assert slower.exit_code == EXIT_SLOWER
    wording(*(line for line in slower.stdout.splitlines() if "slower than" in line or "runs of one side" in line))
    for words in ("0103,later first,again --fail-if-slower 5%", "first,again 0103,later --fail-if-slower 20%"):
        assert scale(runs, words).exit_code == 0
    assert scale(runs, "first,again 0103,later").exit_code == 0
    document = json.loads(
        scale(runs, "first,again 0103,later --json --fail-if-slower 5%").stdout,
        parse_constant=lambda word: pytest.fail(f"{word} is no JSON"),
    )
    assert document["slower"][-1] == "all points" and document["overall"]["level"] is None
    assert (document["sessions_a"], document["sessions_b"]) == (2, 2)
    assert document["points"][0]["spread"] == "sessions"
    pair = json.loads(scale(runs, "first 0103 --json").stdout)
    assert pair["false_alarms"]["draws"] >= 400 and pair["not_judged_because"]


@pytest.mark.parametrize(("words", "why"), [("first 0103", "one run a side"), ("0104 0105", "single trials")])
def test_one_session_a_side_is_shown_and_not_judged(runs, words, why):
    done = scale(runs, f"{words} --fail-if-slower 5%")
    assert isinstance(done.exception, UsageError) and why in done.exception.message
    assert "scale ab" in done.exception.remedy and "not judged" in done.stdout
    assert scale(runs, words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [("first,again", "no run B"), ("first first,again", "given twice"), ("first", "scale ab")],
)
def test_what_cannot_be_compared_is_refused_by_name(runs, words, why):
    done = scale(runs, words)
    assert done.exit_code != 0 and why in str(done.exception) + done.output
    assert (parse_percent("5%"), parse_percent(" 0.5 % ")) == (5, 0.5)


def test_a_page_with_both_curves(runs, tmp_path):
    path = tmp_path / "both.html"
    assert scale(runs, f"first 0103 --html {path}").exit_code == 0
    page = path.read_text()
    assert page.count('class="m run-a"') > 9 and page.count('class="m run-b"') > 8
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_trials_too_noisy_for_any_difference_are_said_to_be_so(wording):
    def spoilt(seed):
        chance = np.random.default_rng(seed)
        return with_rates(synthetic_run(seed=seed), lambda at: math.exp(chance.normal(0, 1.5)))

    found = compare_runs(spoilt(1), spoilt(9))
    assert "too noisy" in {cell for row in ratio_table(found).rows for cell in row}
    wording(found.sentence)
