"""Levels whose trials were rejected: nothing is said across them, and what was measured there stands beside."""

import json
from dataclasses import replace

from scale_sweep.analysis.fit.curve import FitQuestions, fit_curve
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.model.fitted import FitReport
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.observed import Observation
from scale_sweep.report.anydata import fit_document
from scale_sweep.report.curve import curve_svg, drawn_range
from scale_sweep.report.documents import documents
from scale_sweep.report.figures import fit_of
from scale_sweep.report.fitted import asked_table, rejected_table
from scale_sweep.report.headlines import title_of
from scale_sweep.results.store.codec import from_json, to_json
from tests.unit.factories import make_result, make_sweep
from tests.unit.synthetic_run import synthetic_run


def seen(level, value, mark="", note=""):
    return Observation(level=float(level), value=value, mark=mark, note=note)


def line(levels, wobble=(0.99, 1.01)):
    return [seen(n, 1e6 * n * w) for n in levels for w in wobble]


def answered(observed, **asked):
    return fit_curve(observed, Terms(), questions=FitQuestions(**asked))


def test_nothing_is_predicted_across_rejected_levels_and_what_was_measured_is_said(wording):
    """A server with a lock: linear up to six cores; from seven on 6.2 M, and every trial rejected."""
    wobble = (0.995, 1.005)
    lost = [seen(n, 6.2e6 * w, "RESOURCE_NOT_SATURATED") for n in range(7, 13) for w in wobble]
    fit = answered([*line(range(1, 7), wobble), *lost], predict=[5.5, 6.5, 7.0, 12.0], need=[4e6, 7e6, 12e6])
    inside, before, at, beyond = fit.predictions
    assert inside.rate is not None and before.rate is not None
    assert (at.rate, at.low, beyond.rate, beyond.low) == (None, None, None, None)
    assert fit.needs[0].level is not None and [one.level for one in fit.needs[1:]] == [None, None]
    assert (fit.ends_before, drawn_range(fit, 12.7)) == (7.0, (0.0, 6.0))
    wording(at.reason, beyond.reason, fit.needs[1].reason, fit.sentence[fit.sentence.index("the curve ends") :])


def test_a_maximum_beyond_rejected_levels_is_not_given():
    good = [seen(n, 1e6 * n / (1 + 0.1 * (n - 1)) * w) for n in range(1, 7) for w in (0.995, 1.005)]
    assert answered(good).maximum is not None
    assert answered([*good, seen(8, 2e6, "UNSTEADY")]).maximum is None


def test_a_rejected_level_between_good_ones_is_said_and_one_below_the_first_ends_the_curve(wording):
    observed = [*line((1, 2, 4, 5, 6)), seen(3, 2e6, "GENERATOR_BOUND")]
    at, beyond = answered(observed, predict=[3.0, 8.0]).predictions
    assert at.rate is not None and beyond.rate is not None and beyond.reason == ""
    fit = answered([seen(2, 5e5, "UNSTEADY"), *line(range(3, 9))], predict=[2.0], need=[1.9e6])
    assert (fit.predictions[0].rate, fit.needs[0].level) == (None, None)
    wording(at.reason, fit.predictions[0].reason, fit.needs[0].reason)


def test_a_level_that_lost_a_third_is_doubted_and_the_fit_with_it_is_beside(tmp_path, wording):
    """Two of three trials at eight cores stalled and were rejected; the third says "linear"."""
    good = line(range(1, 8), (0.99, 1.0, 1.01))
    fit = answered([*good, seen(8, 8e6), seen(8, 4e6, "UNSTEADY"), seen(8, 4.1e6, "UNSTEADY")])
    assert fit.verdict == "linear"
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
    alone = answered([seen(1, 1e6), seen(1, 5e5, "UNSTEADY")])
    doubts = [one.sentence[one.sentence.index("In doubt") :] for one in (fit, alone)]
    wording(*doubts, *(c for c in fit.cautions if "8 cores" in c))
    few = answered([*line(range(1, 8), (0.99, 1.0, 1.005, 1.01)), seen(4, 2e6, "UNSTEADY")])
    assert few.beside is None and "doubt" not in few.sentence
    assert few.cautions[0].startswith("1 of 29")


def test_a_speedup_in_doubt_is_not_in_the_heading():
    lost = [make_result(2.0, 5e5, r, VerdictKind.UNSTEADY) for r in (4, 5)]
    run = synthetic_run((1, 2), sweep=make_sweep(cores="1..2"))
    assert title_of(run, fit_of(run)).endswith(", 1.96×")
    run = replace(run, results=(*run.results, *lost), fit=None)
    assert title_of(run, fit_of(run)).endswith(", in doubt")
    words = " ".join(documents(run).pages.values())
    assert "1 → 2, in doubt" in words and "trials give" not in words


def test_a_bottleneck_inside_the_server_is_a_point_of_the_curve_with_its_note():
    notes = {n: "SOFTWARE_BOTTLENECK" if n > 6 else "" for n in range(1, 13)}
    observed = [seen(n, 1e6 * min(n, 6.2) * w, note=note) for n, note in notes.items() for w in (0.995, 1.005)]
    fit = answered(observed, predict=[12.0])
    assert (fit.verdict, fit.ends_before) == ("knee", None)
    assert fit.predictions[0].low < 6.2e6 < fit.predictions[0].high
    assert any(c.startswith("SOFTWARE_BOTTLENECK at 7") for c in fit.cautions)


def test_the_report_shows_where_the_curve_ends():
    run = synthetic_run(range(1, 7), sweep=make_sweep(cores="1..8", report__predict="8"), gamma=4e5)
    lost = [make_result(float(n), 1.5e6, r, VerdictKind.GENERATOR_BOUND) for n in (7, 8) for r in (1, 2)]
    run = replace(run, results=(*run.results, *lost), fit=None)
    made = documents(run)
    assert "before 7" in curve_svg(run)
    assert all("1.5 M" in page for page in made.pages.values())
    assert "at 7 cores" in asked_table(made.fits["fit.json"]).rows[0][2]
