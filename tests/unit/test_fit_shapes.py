"""A falling tail, a hard limit, levels below 1, intervals over models and thousands of levels."""

import numpy as np
import pytest

from scale_sweep.analysis.fit import rows
from scale_sweep.analysis.fit.beyond import Known, predict
from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.choice import choose
from scale_sweep.analysis.fit.curve import fit_rows
from scale_sweep.analysis.fit.fall_and_limit_tests import _never_falling, bends, falls
from scale_sweep.analysis.fit.rows import MANY_LEVELS, make_rows
from scale_sweep.analysis.fit.words import Terms
from tests.unit.drawn_rows import answered, drawn, law, table

EIGHT, FIVE = range(1, 9), (1.0, 2.0, 4.0, 8.0, 16.0)
FALLING = law(0.05, 0.95 / 4.5**2)  # from its peak at 4.5 to 8 it loses 13 %


def many(test, curve, levels=EIGHT, replicates=2, noise=0.02, sets=12):
    return sum(test(table(drawn(curve, levels, replicates, noise, seed))) for seed in range(sets))


def line(n):
    return n


def test_a_fall_beyond_the_noise_is_seen_and_none_where_there_is_none():
    for levels, replicates, noise in ((EIGHT, 2, 0.02), (range(1, 8), 3, 0.01), (range(1, 13), 1, 0.02)):
        assert many(falls, FALLING, levels, replicates, noise) == 12
    for curve in (lambda n: min(n, 4.3), law(0.3), law(0.05, 0.95 / 8**2), line):
        assert many(falls, curve, noise=0.05, sets=16) <= 2


def test_a_fall_below_2_percent_and_one_of_a_single_row_are_no_falls():
    assert not falls(table([(float(n), min(n, 4) * (1 - 0.004 * max(n - 4, 0))) for n in EIGHT]))
    three = ((1.0, 10.0), (2.0, 20.0), (3.0, 5.0))
    assert not falls(table(three))
    assert falls(table([(n, x * f) for n, x in three for f in (0.99, 1.0, 1.01)]))
    fit = answered([*three, (2.0, 20.1)])
    assert (fit.chosen, fit.verdict) == (None, "retrograde")


def test_what_rose_before_it_fell_is_not_described_by_a_falling_line():
    """Of six rows AICc prefers one, by 20 and more."""
    fit = answered([(1.0, 100.0), (2.0, 180.0), (3.0, 200.0), (4.0, 160.0), (5.0, 120.0), (6.0, 90.0)], need=[250.0])
    assert (fit.verdict, fit.chosen, fit.needs[0].level) == ("retrograde", "usl", None)
    assert answered([(float(n), 110 - 10 * n + 0.5 * (-1) ** n) for n in range(1, 7)]).chosen == "affine"


@pytest.mark.monte_carlo
@pytest.mark.parametrize("levels", [EIGHT, range(1, 25)])
def test_a_fall_after_a_plateau_is_seen_without_replicates(levels):
    """The highest rate is in the middle, and at the last level 8 % are lost; no model has this shape."""
    last = float(max(levels))
    curve = lambda n: min(n, 0.5 * last) * (1 - 0.16 * max(0.0, n / last - 0.5))  # noqa: E731
    assert many(falls, curve, levels, replicates=1, noise=0.01) >= 10


@pytest.mark.monte_carlo
@pytest.mark.parametrize("replicates", [1, 2])
def test_no_fall_is_seen_on_24_levels_without_one(replicates):
    curves = (lambda n: n / (1 + (n / 11) ** 4) ** 0.25, lambda n: min(n, 12) + 0.06 * max(0.0, n - 12))
    assert sum(many(falls, curve, range(1, 25), replicates, 0.03, sets=30) for curve in curves) <= 3


def test_a_curve_that_never_falls_joins_what_falls():
    means = _never_falling(np.array([1.0, 3.0, 2.0, 2.0, 5.0]), np.array([1.0, 1.0, 1.0, 2.0, 1.0]))
    assert means == pytest.approx([1.0, 2.25, 2.25, 2.25, 5.0])


def is_untested(fit):
    return any("USL is not tested" in caution for caution in fit.cautions)


def test_few_levels_that_fall_get_the_model_that_falls():
    """Of five rows the USL has no AICc, and no other model falls after it rose."""
    curve = law(0.03, 0.97 / 6**2)
    fit = answered(drawn(curve, FIVE, 1, noise=0), predict=[32.0])
    assert (fit.verdict, fit.chosen, is_untested(fit)) == ("retrograde", "usl", True)
    assert fit.predictions[0].rate == pytest.approx(1e6 * curve(32), rel=0.01)


def test_few_noisy_levels_of_a_usl_are_no_line_and_those_of_a_line_stay_one():
    """The correction of AICc for five rows prefers a line that misses them all, and a falling line where they rise."""
    held = []
    for peak in (4.2, 5.0, 7.0, 9.0):
        curve = law(0.05, 0.95 / peak**2)
        for seed in range(6):
            fit = answered(drawn(curve, FIVE, 1, 0.02, [20261125, seed]), predict=[32.0], samples=200)
            assert fit.chosen in ("usl", "amdahl") and fit.verdict in ("retrograde", "contended")
            assert (fit.chosen == "usl") == is_untested(fit)
            held.append(fit.predictions[0].low <= 1e6 * curve(32) <= fit.predictions[0].high)
    assert sum(held) >= 22
    lines = [answered(drawn(line, FIVE, 1, 0.02, [20261125, seed]), samples=200) for seed in range(30)]
    assert sum(fit.chosen == "linear" for fit in lines) >= 28


def test_a_fall_that_no_model_has_chooses_none():
    """Of these models none falls, so that each would predict a rise."""
    falling = table(drawn(FALLING, EIGHT, 2, 0.01, 1))
    candidates = {name: fit_model(name, falling, 50) for name in ("linear", "amdahl", "knee")}
    choice = choose(candidates, falling, superlinear=False)
    assert (choice.model, choice.verdict, choice.plausible) == (None, "retrograde", ())
    known = Known(chosen=None, plausible=(), wider=(), rows=falling, terms=Terms(), falls=True)
    (predicted,) = predict(known, [10.0])
    assert predicted.rate is None and predicted.reason


def test_a_model_with_a_much_lower_aicc_is_named_with_the_rule_against_it(wording):
    """A rate that is full from the second last level on: there are too few levels beyond it for a hard limit."""
    fit = fit_rows([(float(n), min(n, 7.05) * 1e6 * f) for n in EIGHT for f in (0.998, 1.002)], Terms())
    assert fit.chosen != "knee"
    wording(*(caution for caution in fit.cautions if caution.startswith("Knee has an AICc")))


def test_a_hard_limit_is_seen_and_a_smooth_top_is_none():
    assert many(bends, lambda n: min(n, 4.3), noise=0.01) == 12
    assert many(bends, FALLING, replicates=1, noise=0.02) <= 1


@pytest.mark.monte_carlo
def test_a_rate_that_loses_a_fifth_after_its_peak_is_retrograde_not_a_knee():
    curve = law(0.02, 0.98 / 4**2)
    said = [answered(drawn(curve, EIGHT, 1, 0.02, seed), samples=100).verdict for seed in range(8)]
    assert said.count("retrograde") >= 7, said


@pytest.mark.parametrize(("alpha", "verdict"), [(0.0, "linear"), (0.4, "contended"), (1.0, "contended")])
def test_levels_below_1_are_counted_in_units_of_the_smallest(alpha, verdict):
    curve = lambda n: (n / 0.25) / (1 + alpha * (n / 0.25 - 1))  # noqa: E731
    fit = answered(drawn(curve, (0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)), predict=[1.25])
    amdahl = next(m for m in fit.models if m.model == "amdahl")
    assert (fit.verdict, amdahl.unit_level) == (verdict, 0.25)
    assert amdahl.parameters["alpha"].value == pytest.approx(alpha, abs=0.03)
    assert fit.predictions[0].low < 1e6 * curve(1.25) < fit.predictions[0].high


SMOOTH = lambda n: n / (1 + (n / 4) ** 4) ** 0.25  # noqa: E731


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("curve", "noise"), [(law(0.05), 0.02), (law(0.05, 0.95 / 16**2), 0.02), (line, 0.05), (SMOOTH, 0.02)]
)
def test_the_interval_at_twice_the_last_level_holds_the_truth(curve, noise):
    fits = [answered(drawn(curve, EIGHT, 2, noise, seed), predict=[16.0], samples=100) for seed in range(6)]
    assert sum(fit.predictions[0].low <= 1e6 * curve(16) <= fit.predictions[0].high for fit in fits) >= 5


@pytest.mark.monte_carlo
def test_the_interval_of_a_line_stays_narrow():
    fits = [answered(drawn(line, EIGHT, 3, 0.01, seed), predict=[16.0], samples=100) for seed in range(6)]
    low, high = np.median([[p.low / 16e6 - 1, p.high / 16e6 - 1] for fit in fits for p in fit.predictions], axis=0)
    assert -0.08 < low < 0 < high < 0.04


def test_no_number_without_an_interval_and_a_band_begins_where_predictions_do():
    fit = answered([(1.0, 10.0), (2.0, 20.0), (3.0, 28.0), (4.0, 35.0), (5.0, 40.0)], predict=[8.0], need=[45.0])
    for asked in fit.predictions:
        assert (asked.rate is None) == (asked.low is None) == (asked.high is None)
        assert asked.rate is None or set(asked.by_model) >= {fit.chosen}
    assert fit.needs[0].level is None or fit.needs[0].low is not None
    assert answered(drawn(law(0.05), range(2, 9))).band[0][0] == 1.0


def test_a_rate_that_falling_data_reaches_at_first_has_the_level_up_to_which(wording):
    found, never = answered([(float(n), 100 - 9 * n + 0.1 * (-1) ** n) for n in EIGHT], need=[70.0, 200.0]).needs
    assert found.falling and 3 < found.level < 4
    assert found.low <= found.level <= found.high
    assert never.level is None
    wording(found.reason, never.reason)


@pytest.mark.monte_carlo
def test_where_the_rate_falls_the_one_model_that_is_left_has_a_wider_interval_than_its_own():
    fit = answered(drawn(law(0.05, 0.04), EIGHT, 3, 0.02, 5), predict=[16.0], samples=400)
    (asked,) = fit.predictions
    assert fit.verdict == "retrograde" and list(asked.by_model) == ["usl"]
    own = asked.by_model["usl"]
    assert asked.high - asked.low > 1.1 * (own.high - own.low)


PEAK_WITHOUT_A_FALL = [(20, 29.5), (34, 56), (60, 83), (95, 112.5), (130, 139), (170, 166), (240, 195.5), (320, 222),
                       (510, 251), (1500, 272)]  # fmt: skip
SLOWER_BY_AND_BY = [(1, 52), (2, 103), (4, 192), (8, 347), (12, 384), (16, 425)]
THREE_FALLS = [(1, 64.9), (18, 995.9), (36, 1652.4), (72, 1853.2), (108, 1828.9), (144, 1775.0), (216, 1702.2)]


@pytest.mark.parametrize("measured", [PEAK_WITHOUT_A_FALL, SLOWER_BY_AND_BY])
def test_a_rate_that_still_rises_has_no_peak_and_its_maximum_spans_the_models(measured):
    fit = answered(measured, predict=[2.0 * measured[-1][0]])
    assert fit.peak is None and "peak at" not in fit.sentence
    if fit.maximum is None:
        assert f"up to {measured[-1][0]} cores" in fit.sentence
    else:
        assert fit.maximum.low < max(rate for _, rate in measured) < fit.maximum.high < 2 * fit.predictions[0].high


def test_three_falls_in_a_row_are_a_word_of_their_own_and_no_law_rises_beside_it():
    fit = answered(THREE_FALLS, predict=[270.0, 432.0])
    assert fit.verdict == "falls" and fit.sentence.startswith("Falls;") and fit.peak
    assert set(fit.predictions[0].by_model) == {"usl"}
    last = np.polynomial.Polynomial.fit(*np.array(THREE_FALLS[-3:]).T, 1)
    assert all(p.low <= last(p.level) + 1e-6 for p in fit.predictions), "it may go on falling"
    assert answered(THREE_FALLS[:-1]).verdict != "falls", "two falls"
    assert answered([*THREE_FALLS, (300, 1710)]).verdict != "falls"


MANY = 10_000


def dense(curve, levels, noise=0.03, seed=1):
    chance = np.random.default_rng(seed)
    return make_rows(levels, curve(levels) * np.exp(noise * chance.standard_normal(len(levels))))


def wide(n):
    return 1000 * n / (1 + 0.002 * (n - 1) + 4e-6 * n * (n - 1))


@pytest.mark.parametrize("levels", [np.arange(1.0, MANY + 1), np.geomspace(0.01, 1e9, MANY), 1e6 + np.arange(1.0, 501)])
def test_groups_hold_every_row_and_are_few(levels):
    full = dense(lambda n: n, levels)
    few = full.condensed
    assert MANY_LEVELS / 4 < len(few.distinct) <= MANY_LEVELS
    assert few.weights.sum() == len(few.rates) == len(levels)
    assert np.all(np.diff(few.distinct) > 0)
    assert few.distinct @ few.weights == pytest.approx(levels.sum())
    assert few.unit_level == full.unit_level
    small = dense(wide, np.repeat(np.arange(1.0, MANY_LEVELS + 1), 2))
    assert small.condensed is small


def test_the_noise_within_groups_is_that_of_the_rows():
    few = dense(lambda n: 1000 + 0 * n + 5 * n, np.arange(1.0, MANY + 1), noise=0.0).condensed
    assert few.rates == pytest.approx(few.means[few.of_level], rel=1e-9)
    few = dense(wide, np.arange(1.0, MANY + 1)).condensed
    spread = np.sqrt(np.mean((few.rates / few.means[few.of_level] - 1) ** 2))
    assert spread == pytest.approx(0.03, rel=0.05)


@pytest.mark.parametrize("model", ["amdahl", "usl", "knee", "power"])
def test_intervals_are_those_of_all_levels(model, monkeypatch):
    full = dense(wide, np.arange(1.0, 401))
    found = fit_model(model, full, 500)
    monkeypatch.setattr(rows, "MANY_LEVELS", MANY)
    exact = fit_model(model, dense(wide, np.arange(1.0, 401)), 500)
    assert np.array_equal(found.values, exact.values)
    for name in found.names:
        (low, high), (exact_low, exact_high) = found.interval(name), exact.interval(name)
        assert high - low == pytest.approx(exact_high - exact_low, rel=0.2)
        assert abs(low - exact_low) < 0.2 * (exact_high - exact_low)


def test_shapes_are_told_at_thousands_of_levels():
    n = np.arange(1.0, MANY + 1)
    assert falls(dense(lambda n: 1000 * n / (1 + 1e-4 * (n - 1) + 4e-8 * n * (n - 1)), n))
    assert not falls(dense(lambda n: np.minimum(n, 5000), n))
    assert bends(dense(lambda n: np.minimum(n, 5000), n))
    assert not bends(dense(lambda n: n / (1 + 2e-4 * (n - 1)), n))


def test_thousands_of_levels_have_a_verdict_and_a_figure_for_each():
    n = np.arange(1.0, MANY + 1)
    table = dense(lambda n: 1000 * n / (1 + 3e-4 * (n - 1)), n)
    found = fit_rows(list(zip(table.levels, table.rates, strict=True)), Terms(), samples=100)
    assert (found.verdict, found.chosen, len(found.points)) == ("contended", "amdahl", MANY)
    alpha = next(m for m in found.models if m.model == "amdahl").parameters["alpha"]
    assert alpha.low < 3e-4 < alpha.high
