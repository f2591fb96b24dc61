"""Verdicts, predictions and needs: what is said, what is refused with a reason, and the intervals of curves that are none of
the models: chords between levels, and curves of the last levels beyond."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scale_sweep.analysis.fit.candidates import fit_model
from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows, value_at
from scale_sweep.analysis.fit.next_level import level_places
from scale_sweep.analysis.fit.partial_curves import between, misfit_p
from scale_sweep.analysis.fit.summaries import Usable, pooled_noise
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.base.errors import UsageError
from scale_sweep.cli.compose import asked_again
from scale_sweep.model.fitted import FitReport
from scale_sweep.report.documents import documents
from scale_sweep.results.store.codec import from_json, to_json
from tests.unit.drawn_rows import answered, drawn, law, table
from tests.unit.factories import make_sweep
from tests.unit.synthetic_run import synthetic_run


def line(n):
    return n


def limited(n):
    return min(n, 6.5)


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("verdict", "curve"),
    [
        ("linear", line),
        ("contended", law(0.1)),
        ("contended", lambda n: n**0.7),
        ("retrograde", law(0.05, 0.02)),
        ("knee", limited),
        ("superlinear", lambda n: n**1.15),
        ("superlinear", lambda n: n - 0.3),
    ],
)
def test_the_verdict_names_the_curve(verdict, curve):
    said = [answered(drawn(curve, seed=seed)).verdict for seed in range(5)]
    assert said.count(verdict) >= 4, said


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_too_few_points_are_undecided(count):
    fit = answered(drawn(line, range(1, count + 1), replicates=1), predict=[3.0])
    assert (fit.verdict, fit.chosen, fit.predictions[0].rate) == ("undecided", None, None)
    assert count < 3 or any("cannot test" in c for c in fit.cautions)


def test_noise_that_could_hide_contention_is_undecided_not_linear():
    fit = answered(drawn(line, range(1, 9), replicates=1, noise=0.15, seed=4))
    assert fit.verdict == "undecided"
    assert any("excluded" in c or "from 0" in c for c in fit.cautions)


def test_superlinear_without_replicates_by_the_scatter_of_the_others(wording):
    fit = answered([(1, 380), (2, 880), (3, 1480), (4, 1930), (5, 2450), (6, 2880), (12, 5730)])
    assert fit.verdict == "superlinear"
    assert "efficiency up to 130 %" in fit.sentence, "as the rows have it"
    wording(*(c for c in fit.cautions if c.startswith(("superlinear", "possible causes"))))


def test_predictions_stop_at_the_extrapolation_limit(wording):
    fit = answered(drawn(law(0.05)), predict=[0.25, 6.0, 24.0, 25.0])
    below, inside, edge, beyond = fit.predictions
    assert (below.rate, beyond.rate) == (None, None)
    assert (inside.extrapolated, edge.extrapolated) == (False, True)
    assert inside.rate == pytest.approx(value_at(fit, 6))
    assert edge.low < 1e6 * 24 / (1 + 0.05 * 23) < edge.high
    assert edge.high - edge.low > inside.high - inside.low
    (far,) = answered(drawn(line), need=[40e6]).needs
    assert far.level is None
    wording(below.reason, beyond.reason, far.reason)


@pytest.mark.parametrize(
    ("curve", "rate", "level"),
    [
        (line, 9e6, 9.0),
        (law(0.1), 5e6, 9.0),
        (law(0.05, 0.01), 3e6, None),
        (limited, 4e6, 4.0),
        (lambda n: n**0.7, 4e6, 4 ** (1 / 0.7)),
        (lambda n: n + 2, 9e6, 7.0),
    ],
)
def test_the_level_that_a_rate_needs(curve, rate, level):
    fit = answered(drawn(curve, noise=0.003), need=[rate])
    (found,) = fit.needs
    if level is None:
        level = next(n / 1000 for n in range(1000, 12000) if 1e6 * curve(n / 1000) >= rate)
    assert found.level == pytest.approx(level, rel=0.03)
    assert found.low <= found.level <= found.high
    assert value_at(fit, found.level) == pytest.approx(rate, rel=1e-6)


def test_no_rate_below_0_is_foretold():
    fit = answered([(float(n), 100.0 - 9 * n + 0.1 * (-1) ** n) for n in range(1, 9)], predict=[9.0, 10.0, 12.0])
    assert fit.chosen == "affine"
    assert fit.predictions[0].rate == pytest.approx(19, abs=0.5)
    assert fit.predictions[2].rate is None and "to 0" in fit.predictions[2].reason
    vague = answered([(float(n), x) for n, x in enumerate((90, 40, 75, 20, 55, 30, 25, 2), 1)], predict=[8.0, 9.0])
    assert all(p.low is None or p.low >= 0 for p in vague.predictions)


def test_a_rate_that_every_level_has_or_none_needs_no_level():
    below, found = answered(drawn(lambda n: n + 5, noise=0.003), need=[1e6, 6e6]).needs
    assert below.level is None and "(1)" in below.reason
    assert found.level == pytest.approx(1, rel=0.1)
    fit = answered(drawn(law(0.2), noise=0.003), need=[6e6])
    assert fit.needs[0].level is None and "its maximum is 5" in fit.needs[0].reason
    assert fit.maximum.low < 5e6 < fit.maximum.high


def test_the_level_at_90_percent_and_the_peak():
    amdahl = answered(drawn(law(0.05), noise=0.003))
    assert amdahl.level_at_90.value == pytest.approx(1 + (1 / 0.9 - 1) / 0.05, rel=0.05)
    usl = answered(drawn(law(0.05, 0.02), noise=0.003))
    assert usl.peak.low < math.sqrt(0.95 / 0.02) < usl.peak.high
    assert usl.maximum.value == pytest.approx(value_at(usl, usl.peak.value), rel=1e-6)
    knee = answered(drawn(limited, noise=0.003))
    assert knee.knee.value == pytest.approx(6.5, rel=0.02)
    assert knee.level_at_90.value == pytest.approx(6.5 / 0.9, rel=0.02)
    assert answered(drawn(line)).level_at_90 is None


def test_a_sweep_asks_and_its_report_answers():
    sweep = make_sweep(cores="1..8", report__predict="12,40", report__need="3M,2500000")
    assert (sweep.predict, sweep.need) == ((12.0, 40.0), (2.5e6, 3e6))
    run = synthetic_run(range(1, 9), sweep=sweep, gamma=4e5, alpha=0.02)
    made = documents(replace(run, fit=None))
    fit = made.fits["fit.json"]
    assert fit.predictions[0].rate == pytest.approx(4e5 * 12 / (1 + 0.02 * 11), rel=0.05)
    assert fit.predictions[1].rate is None
    assert [n.rate for n in fit.needs] == [2.5e6, 3e6]
    assert all("at 12 cores" in page and "for 2.5 M" in page for page in made.pages.values())
    again = asked_again(run, (), (3e6,))
    assert (again.plan.sweep.predict, again.plan.sweep.need) == ((12.0, 40.0), (3e6,))
    assert again.manifest["sweep"]["need"] == (3e6,)
    for wrong in ({"report__need": "0"}, {"report__need": "fast"}, {"report__predict": "-1"}):
        with pytest.raises(UsageError, match="--need|--predict|report"):
            make_sweep(cores="1..2", **wrong)


def test_the_fit_is_stored_and_read_back_whole(tmp_path):
    fit = answered(drawn(law(0.05)), predict=[16.0, 99.0], need=[3e6, 9e9])
    text = to_json(fit)
    assert from_json(text, FitReport, tmp_path / "fit.json") == fit
    assert len(text) < 40_000


def noise_of(rows):
    return pooled_noise(Usable(levels=rows.levels, rates=rows.rates, left_out={}))


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    "curve",
    [
        lambda n: 1 + 1.5 * math.log(n),
        lambda n: n if n <= 6 else 6 + 0.55 * (n - 6),
        lambda n: n if n <= 7.2 else 7.2 + 0.25 * (n - 7.2),
        lambda n: n / (1 + (n / 6) ** 2) + 1.8 * (1 - math.exp(-n / 12)),
    ],
    ids=["log n", "NUMA step", "SMT siblings", "fall to a floor"],
)
def test_intervals_hold_curves_that_are_none_of_the_models(curve):
    asked = [2.5, 5.5, 8.5, 11.5, 15.0, 24.0]
    held = []
    for seed in range(5):
        fit = answered(drawn(curve, seed=seed), predict=asked, samples=100)
        held += [p.low <= 1e6 * curve(p.level) <= p.high for p in fit.predictions]
    assert sum(held) >= 0.9 * len(held)


def test_a_misfit_is_improbable_noise_is_not_and_without_replicates_it_is_not_known():
    bent, straight = table(drawn(lambda n: min(n, 6.0))), table(drawn(lambda n: n))
    assert misfit_p(fit_model("linear", bent, 10), bent) < 1e-6
    assert misfit_p(fit_model("linear", straight, 10), straight) > 0.05
    once = table(drawn(lambda n: min(n, 6.0), replicates=1))
    assert misfit_p(fit_model("linear", once, 10), once) is None
    assert between(once, 2.5, noise_of(once)) is None


def test_a_chord_joins_the_means_and_its_interval_shrinks_with_replicates():
    few, many = (table(drawn(lambda n: n, (1, 2, 4), replicates, 0.02, 2)) for replicates in (3, 30))
    for rows in (few, many):
        low, high = between(rows, 3.0, noise_of(rows))
        assert low < rows.means[1:].mean() < high
    assert np.ptp(between(many, 3.0, noise_of(many))) < np.ptp(between(few, 3.0, noise_of(few)))
    assert between(few, 0.9, noise_of(few)) is None and between(few, 4.1, noise_of(few)) is None
    low, high = between(few, 2.0, noise_of(few))
    assert low < few.means[1] < high


def test_without_replicates_a_fall_has_no_curve_of_its_last_levels():
    """A power of three rows has one degree of freedom: its ends may be anything."""
    for seed in range(3):
        fit = answered(drawn(law(0.05, 0.95 / 7**2), replicates=1, seed=seed), predict=[24.0], samples=100)
        (predicted,) = fit.predictions
        assert fit.verdict == "retrograde"
        assert predicted.high < 2 * predicted.by_model["usl"].high


def asked_next(rows, *levels):
    questions = FitQuestions(predict=levels, next_level=True)
    return fit_rows(rows, Terms(), questions=questions, samples=200).predictions


@pytest.mark.monte_carlo
def test_the_level_that_halves_an_interval_does_so():
    curve = lambda n: n if n <= 6 else 6 + 0.55 * (n - 6)  # noqa: E731
    ratios = []
    for seed in range(6):
        rows = drawn(curve, seed=seed)
        (first,) = asked_next(rows, 24.0)
        if first.is_wide:
            assert 12 < first.halved_by <= 24 and first.halved_by == round(first.halved_by)
            (then,) = asked_next(rows + drawn(curve, [first.halved_by], seed=seed + 1000), 24.0)
            ratios.append((then.high - then.low) / (first.high - first.low))
    assert len(ratios) >= 3
    assert np.median(ratios) < 0.7


def test_a_narrow_interval_names_no_level():
    predictions = asked_next(drawn(lambda n: n, noise=0.001), 15.0, 24.0)
    assert [(p.is_wide, p.halved_by) for p in predictions] == [(False, None)] * 2


def test_the_levels_tried_are_whole_where_the_measured_ones_are():
    whole, parts = (table(drawn(lambda n: n, levels)) for levels in ((1, 2, 4), (0.5, 1.0)))
    assert level_places(whole, 8.0) == [5.0, 6.0, 7.0, 8.0]
    assert level_places(whole, 3.0) == [3.0]
    assert len(level_places(parts, 2.0)) == 12 and level_places(parts, 2.0)[-1] == 2.0
    assert level_places(whole, 0.5)[0] > level_places(whole, 0.5)[-1] == 0.5
