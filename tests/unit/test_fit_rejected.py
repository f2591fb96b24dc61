"""Levels whose trials were rejected: nothing is said across them, and what was measured there stands beside."""

import json
from dataclasses import replace

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_curve
from scale_sweep.model import FitReport, Observation, VerdictKind
from scale_sweep.report.anydata import fit_document
from scale_sweep.report.curve import curve_svg, drawn_range
from scale_sweep.report.documents import documents
from scale_sweep.report.figures import fit_of
from scale_sweep.report.fitted import asked_table, rejected_table
from scale_sweep.report.heading import title_of
from scale_sweep.results.store.codec import from_json, to_json
from tests.unit.factories import make_result, make_sweep
from tests.unit.synthetic_run import synthetic_run


def seen(level, value, mark="", note=""):
    return Observation(level=float(level), value=value, mark=mark, note=note)


def server_with_a_lock():
    """Linear up to six cores; from seven on 6.2 M, and every trial rejected."""
    wobble = (0.995, 1.005)
    good = [seen(n, 1e6 * n * w) for n in range(1, 7) for w in wobble]
    return [*good, *(seen(n, 6.2e6 * w, "RESOURCE_NOT_SATURATED") for n in range(7, 13) for w in wobble)]


def test_nothing_is_predicted_across_rejected_levels_and_what_was_measured_is_said():
    fit = fit_curve(
        server_with_a_lock(), Terms(), questions=FitQuestions(predict=[5.5, 6.5, 7.0, 12.0], need=[4e6, 7e6, 12e6])
    )
    inside, before, at, beyond = fit.predictions
    assert inside.rate is not None and before.rate is not None
    for refused in (at, beyond):
        assert refused.rate is None and refused.low is None
        assert "every trial at 7 cores was rejected" in refused.reason
        assert "6.2 M rows/s (2 RESOURCE_NOT_SATURATED)" in refused.reason
    assert "measured at 12" in beyond.reason
    assert fit.needs[0].level is not None
    for refused in fit.needs[1:]:
        assert refused.level is None
        assert "at or beyond 7 cores" in refused.reason and "6.2 M rows/s" in refused.reason
    assert "the curve ends there: every trial at 7 to 12 cores was rejected; measured: 6.2 M rows/s" in fit.sentence
    assert (fit.ends_before, drawn_range(fit, 12.7)) == (7.0, (0.0, 6.0))


def test_a_maximum_beyond_rejected_levels_is_not_given():
    wobble = (0.995, 1.005)
    good = [seen(n, 1e6 * n / (1 + 0.1 * (n - 1)) * w) for n in range(1, 7) for w in wobble]
    assert fit_curve(good, Terms()).maximum is not None
    assert fit_curve([*good, seen(8, 2e6, "UNSTEADY")], Terms()).maximum is None


def test_a_rejected_level_between_good_ones_is_said_beside_the_answer():
    observed = [seen(n, 1e6 * n * w) for n in (1, 2, 4, 5, 6) for w in (0.99, 1.01)]
    fit = fit_curve([*observed, seen(3, 2e6, "GENERATOR_BOUND")], Terms(), questions=FitQuestions(predict=[3.0, 8.0]))
    assert fit.predictions[0].rate is not None
    assert "measured there, and rejected: 2 M rows/s (1 GENERATOR_BOUND)" in fit.predictions[0].reason
    assert fit.predictions[1].rate is not None and fit.predictions[1].reason == ""


def test_levels_below_the_first_good_one_end_the_curve_too():
    observed = [seen(n, 1e6 * n * w) for n in range(3, 9) for w in (0.99, 1.01)]
    fit = fit_curve([seen(2, 5e5, "UNSTEADY"), *observed], Terms(), questions=FitQuestions(predict=[2.0], need=[1.9e6]))
    assert "every trial at 2 cores was rejected" in fit.predictions[0].reason
    assert "at or below 2 cores" in fit.needs[0].reason


def doubtful():
    """Two of three trials at eight cores stalled and were rejected; the third says "linear"."""
    good = [seen(n, 1e6 * n * w) for n in range(1, 8) for w in (0.99, 1.0, 1.01)]
    return [*good, seen(8, 8e6), seen(8, 4e6, "UNSTEADY"), seen(8, 4.1e6, "UNSTEADY")]


def test_a_level_that_lost_a_third_is_doubted_and_the_fit_with_it_is_beside(tmp_path):
    fit = fit_curve(doubtful(), Terms())
    assert fit.verdict == "linear"
    assert fit.sentence.endswith("In doubt: at 8 cores only 1 of 3 trials is valid."), "no speedup of rejected trials"
    assert any("8 cores: 2 of 3 trials were rejected" in c for c in fit.cautions)
    assert fit.beside is not None and fit.beside.levels == (8.0,)
    assert fit.beside.verdict != "linear"
    document = fit_document(fit)
    assert document["beside"]["verdict"] == fit.beside.verdict
    assert document["rejected"] == [
        {"n": 8.0, "kept": 1, "rejected": {"UNSTEADY": 2}, "mean": 4.05e6, "lost": False, "doubted": True}
    ]
    json.dumps(document)
    assert from_json(to_json(fit), FitReport, tmp_path / "fit.json") == fit
    assert "in doubt" in rejected_table(fit).rows[0]


def test_a_doubted_level_alone_is_named_without_another_fit():
    fit = fit_curve([seen(1, 1e6), seen(1, 5e5, "UNSTEADY")], Terms())
    assert fit.sentence.endswith(" In doubt: at 1 core only 1 of 2 trials is valid.")


def test_a_speedup_in_doubt_is_not_in_the_heading():
    lost = [make_result(2.0, 5e5, r, VerdictKind.UNSTEADY) for r in (4, 5)]
    run = synthetic_run((1, 2), sweep=make_sweep(cores="1..2"))
    assert title_of(run, fit_of(run)).endswith(" 1 → 2 cores, 1.96×")
    run = replace(run, results=(*run.results, *lost), fit=None)
    assert title_of(run, fit_of(run)).endswith(" 1 → 2 cores, in doubt")
    words = " ".join(documents(run).pages.values())
    assert "speedup 1 → 2, in doubt" in words and "all 8 trials give" not in words


def test_a_level_that_lost_less_than_a_third_is_not_doubted():
    good = [seen(n, 1e6 * n * w) for n in range(1, 8) for w in (0.99, 1.0, 1.005, 1.01)]
    fit = fit_curve([*good, seen(4, 2e6, "UNSTEADY")], Terms())
    assert fit.beside is None and "doubt" not in fit.sentence
    assert fit.cautions[0].startswith("1 of 29 trials is not fitted")


def test_a_bottleneck_inside_the_server_is_a_point_of_the_curve_with_its_note():
    observed = [
        seen(n, 1e6 * min(n, 6.2) * w, note="SOFTWARE_BOTTLENECK" if n > 6 else "")
        for n in range(1, 13)
        for w in (0.995, 1.005)
    ]
    fit = fit_curve(observed, Terms(), questions=FitQuestions(predict=[12.0]))
    assert (fit.verdict, fit.ends_before) == ("knee", None)
    assert fit.predictions[0].low < 6.2e6 < fit.predictions[0].high
    assert "SOFTWARE_BOTTLENECK at 7 to 12 cores: these trials are fitted" in fit.cautions


def test_the_report_shows_where_the_curve_ends():
    run = synthetic_run(range(1, 7), sweep=make_sweep(cores="1..8", report__predict="8"), gamma=4e5)
    lost = [make_result(float(n), 1.5e6, r, VerdictKind.GENERATOR_BOUND) for n in (7, 8) for r in (1, 2)]
    run = replace(run, results=(*run.results, *lost), fit=None)
    made = documents(run)
    assert "ends before 7: every trial there was rejected" in curve_svg(run)
    for page in made.pages.values():
        assert "1.5 M" in page and "not on the curve" in page
    assert "every trial at 7 cores was rejected" in asked_table(made.fits["fit.json"]).rows[0][2]
