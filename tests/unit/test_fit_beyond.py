"""Verdicts, predictions and needs: what is said, and what is refused with a reason."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_rows, value_at
from scale_sweep.base.errors import UsageError
from scale_sweep.cli.compose import asked_again
from scale_sweep.model import FitReport
from scale_sweep.report.documents import documents
from scale_sweep.results.store.codec import from_json, to_json
from tests.unit.factories import make_sweep
from tests.unit.synthetic_run import synthetic_run


def rows(curve, levels=range(1, 13), replicates=3, noise=0.01, seed=1):
    chance = np.random.default_rng(seed)
    return [
        (float(n), 1e6 * curve(n) * math.exp(noise * chance.standard_normal()))
        for n in levels
        for _ in range(replicates)
    ]


def law(alpha, beta=0.0):
    return lambda n: n / (1 + alpha * (n - 1) + beta * n * (n - 1))


@pytest.mark.monte_carlo
@pytest.mark.parametrize(
    ("verdict", "curve"),
    [
        ("linear", lambda n: n),
        ("contended", law(0.1)),
        ("contended", lambda n: n**0.7),
        ("retrograde", law(0.05, 0.02)),
        ("knee", lambda n: min(n, 6.5)),
        ("superlinear", lambda n: n**1.15),
        ("superlinear", lambda n: n - 0.3),
    ],
)
def test_the_verdict_names_the_curve(verdict, curve):
    said = [fit_rows(rows(curve, seed=seed), Terms()).verdict for seed in range(5)]
    assert said.count(verdict) >= 4, said


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_too_few_points_are_undecided_and_say_so(count):
    fit = fit_rows(
        rows(lambda n: n, range(1, count + 1), replicates=1), Terms(row="row"), questions=FitQuestions(predict=[3.0])
    )
    assert fit.verdict == "undecided"
    assert fit.chosen is None
    assert fit.predictions[0].rate is None
    assert "no model is chosen" in fit.predictions[0].reason
    if count >= 3:
        assert any("cannot test" in c for c in fit.cautions)


def test_noise_that_could_hide_contention_is_undecided_not_linear():
    fit = fit_rows(rows(lambda n: n, range(1, 9), replicates=1, noise=0.15, seed=4), Terms())
    assert fit.verdict == "undecided"
    assert any("cannot be excluded" in c or "told from 0" in c for c in fit.cautions)


def test_superlinear_without_replicates_by_the_scatter_of_the_others():
    fit = fit_rows([(1, 380), (2, 880), (3, 1480), (4, 1930), (5, 2450), (6, 2880), (12, 5730)], Terms())
    assert fit.verdict == "superlinear"
    assert "with an efficiency of 116 to 130 % against the first level" in fit.sentence, "as the rows have it"
    assert any("superlinear beyond the scatter" in c for c in fit.cautions)
    assert any(c.startswith("possible causes") for c in fit.cautions)


def test_predictions_stop_at_the_extrapolation_limit():
    fit = fit_rows(rows(law(0.05)), Terms(), questions=FitQuestions(predict=[0.25, 6.0, 24.0, 25.0]))
    below, inside, edge, beyond = fit.predictions
    assert (below.rate, beyond.rate) == (None, None)
    assert "below half of the lowest level" in below.reason
    assert "extrapolation limit" in beyond.reason
    assert (inside.extrapolated, edge.extrapolated) == (False, True)
    assert inside.rate == pytest.approx(value_at(fit, 6))
    assert edge.low < 1e6 * 24 / (1 + 0.05 * 23) < edge.high
    assert edge.high - edge.low > inside.high - inside.low


@pytest.mark.parametrize(
    ("curve", "rate", "level"),
    [
        (lambda n: n, 9e6, 9.0),
        (law(0.1), 5e6, 9.0),
        (law(0.05, 0.01), 3e6, None),
        (lambda n: min(n, 6.5), 4e6, 4.0),
        (lambda n: n**0.7, 4e6, 4 ** (1 / 0.7)),
        (lambda n: n + 2, 9e6, 7.0),
    ],
)
def test_the_level_that_a_rate_needs(curve, rate, level):
    fit = fit_rows(rows(curve, noise=0.003), Terms(), questions=FitQuestions(need=[rate]))
    found = fit.needs[0]
    if level is None:
        level = next(n / 1000 for n in range(1000, 12000) if 1e6 * curve(n / 1000) >= rate)
    assert found.level == pytest.approx(level, rel=0.03)
    assert found.low <= found.level <= found.high
    assert value_at(fit, found.level) == pytest.approx(rate, rel=1e-6)


def test_no_rate_below_0_is_foretold():
    falls = [(float(n), 100.0 - 9 * n + 0.1 * (-1) ** n) for n in range(1, 9)]
    fit = fit_rows(falls, Terms(), questions=FitQuestions(predict=[9.0, 10.0, 12.0]))
    assert fit.chosen == "affine"
    assert fit.predictions[0].rate == pytest.approx(19, abs=0.5)
    assert fit.predictions[2].rate is None
    assert "falls to 0" in fit.predictions[2].reason
    vague = fit_rows(
        [(float(n), x) for n, x in enumerate((90, 40, 75, 20, 55, 30, 25, 2), 1)],
        Terms(),
        questions=FitQuestions(predict=[8.0, 9.0]),
    )
    assert all(p.low is None or p.low >= 0 for p in vague.predictions)


def test_a_rate_that_every_level_has_needs_no_level():
    fit = fit_rows(rows(lambda n: n + 5, noise=0.003), Terms(), questions=FitQuestions(need=[1e6, 6e6]))
    assert fit.needs[0].level is None
    assert "below half of the lowest level (1)" in fit.needs[0].reason
    assert fit.needs[1].level == pytest.approx(1, rel=0.1)


def test_a_rate_above_the_roof_is_refused_with_the_roof():
    fit = fit_rows(rows(law(0.2), noise=0.003), Terms(), questions=FitQuestions(need=[6e6]))
    assert fit.needs[0].level is None
    assert "never reaches it: its maximum is 5" in fit.needs[0].reason
    assert fit.maximum.low < 5e6 < fit.maximum.high


def test_a_level_beyond_the_limit_is_refused():
    fit = fit_rows(rows(lambda n: n), Terms(), questions=FitQuestions(need=[40e6]))
    assert fit.needs[0].level is None
    assert "extrapolation limit" in fit.needs[0].reason


def test_the_level_at_90_percent_and_the_peak():
    amdahl = fit_rows(rows(law(0.05), noise=0.003), Terms())
    assert amdahl.level_at_90.value == pytest.approx(1 + (1 / 0.9 - 1) / 0.05, rel=0.05)
    usl = fit_rows(rows(law(0.05, 0.02), noise=0.003), Terms())
    assert usl.peak.low < math.sqrt(0.95 / 0.02) < usl.peak.high
    assert usl.maximum.value == pytest.approx(value_at(usl, usl.peak.value), rel=1e-6)
    knee = fit_rows(rows(lambda n: min(n, 6.5), noise=0.003), Terms())
    assert knee.knee.value == pytest.approx(6.5, rel=0.02)
    assert knee.level_at_90.value == pytest.approx(6.5 / 0.9, rel=0.02)
    assert fit_rows(rows(lambda n: n), Terms()).level_at_90 is None


def test_a_sweep_asks_and_its_report_answers():
    sweep = make_sweep(cores="1..8", report__predict="12,40", report__need="3M,2500000")
    assert (sweep.predict, sweep.need) == ((12.0, 40.0), (2.5e6, 3e6))
    run = synthetic_run(range(1, 9), sweep=sweep, gamma=4e5, alpha=0.02)
    made = documents(replace(run, fit=None))
    fit = made.fits["fit.json"]
    assert fit.predictions[0].rate == pytest.approx(4e5 * 12 / (1 + 0.02 * 11), rel=0.05)
    assert fit.predictions[1].rate is None
    assert [n.rate for n in fit.needs] == [2.5e6, 3e6]
    for page in made.pages.values():
        assert "rate at 12 cores" in page
        assert "cores needed for 2.5 M" in page


def test_the_report_asks_again_and_remembers():
    run = synthetic_run(range(1, 9), sweep=make_sweep(cores="1..8", report__predict="12"))
    again = asked_again(run, (), (3e6,))
    assert (again.plan.sweep.predict, again.plan.sweep.need) == ((12.0,), (3e6,))
    assert again.manifest["sweep"]["need"] == (3e6,)


@pytest.mark.parametrize(("key", "text"), [("report__need", "0"), ("report__need", "fast"), ("report__predict", "-1")])
def test_questions_that_make_no_sense_are_refused(key, text):
    with pytest.raises(UsageError, match="--need|--predict|report"):
        make_sweep(cores="1..2", **{key: text})


def test_the_fit_is_stored_and_read_back_whole(tmp_path):
    fit = fit_rows(rows(law(0.05)), Terms(), questions=FitQuestions(predict=[16.0, 99.0], need=[3e6, 9e9]))
    text = to_json(fit)
    assert from_json(text, FitReport, tmp_path / "fit.json") == fit
    assert len(text) < 40_000
