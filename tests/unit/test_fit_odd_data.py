"""Odd data: whatever numbers a file holds, the answer is a fit that makes sense or one message, and never a traceback."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scale_sweep.analysis.fit import FitQuestions, Terms, fit_rows
from scale_sweep.analysis.fit.table import CsvColumns, parse_table
from scale_sweep.report.anydata import fit_document

LEVELS = st.one_of(st.integers(1, 64).map(float), st.floats(0.01, 1e4), st.sampled_from((1.0, 7.0, 1e6)))
RATES = st.one_of(st.just(100.0), st.floats(1e-3, 1e8), st.sampled_from((1.0, 7.0, 1e3)))
ROWS = st.lists(st.tuples(LEVELS, RATES), min_size=1, max_size=14)
UNITS = st.sampled_from((1e-90, 1.0, 1e90))


def every_number(found):
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, list):
        return [n for part in found for n in every_number(part)]
    return [found] if isinstance(found, float) else []


@given(rows=ROWS, unit=UNITS)
@settings(max_examples=25, deadline=None)
def test_any_numbers_give_an_answer_that_makes_sense(rows, unit):
    rows = [(level, rate * unit) for level, rate in rows]
    questions = FitQuestions(predict=[0.1, 3.0, 70.0], need=[1e-9, 50.0])
    fit = fit_rows(rows, Terms(axis="n", rate="x", row="row"), questions=questions, samples=200)
    document = fit_document(fit)
    assert all(map(math.isfinite, every_number(document)))
    assert document["sentence"].endswith(".")
    levels = {level for level, _ in rows}
    if len(levels) <= 3 and len(rows) <= 3:
        assert document["chosen"] is None
        assert document["verdict"] in ("undecided", "superlinear")
    for asked in document["predictions"]:
        assert asked["x"] is None and asked["reason"] or asked["x"] > 0
    for asked in document["needs"]:
        assert asked["n"] is None and asked["reason"] or min(levels) / 2.001 <= asked["n"] <= 2.001 * max(levels)


@given(
    content=st.one_of(st.binary(max_size=60), st.text(alphabet='nx,;\t\n"#1290.e-\ufeff', max_size=60).map(str.encode))
)
@settings(max_examples=60, deadline=None)
def test_any_file_is_read_or_refused_with_a_line(content):
    try:
        found = parse_table(content, CsvColumns(n="n", x="x"))
    except ValueError as error:
        assert str(error).startswith("line ")
    else:
        assert all(level > 0 and rate > 0 for level, rate in found[""])


EIGHT = range(1, 9)


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([(n, 100) for n in EIGHT], "contended"),
        ([(n, 100 / n) for n in EIGHT], "retrograde"),
        ([(n, 100 - n) for n in EIGHT], "retrograde"),
        ([(n, 10 * n if n != 5 else 1) for n in EIGHT], "undecided"),
        ([(n, 10 if n % 2 else 40) for n in EIGHT], "undecided"),
        ([(n, 10 if n < 5 else 40) for n in EIGHT], "undecided"),
        ([(4, x) for x in (10, 11, 12)], "undecided"),
        ([(1, 10)] * 5 + [(2, 20)] * 5, "undecided"),
        ([(n, 2**n) for n in range(1, 12)], "superlinear"),
        ([(n, 10 * n) for n in (5, 3, 8, 1, 7, 2, 4, 6)], "linear"),
    ],
)
def test_odd_curves_have_the_verdict_that_they_deserve(rows, verdict):
    assert fit_rows(rows, Terms()).verdict == verdict


def test_enormous_numbers_are_told_briefly():
    fit = fit_rows([(float(n), n * 1e90) for n in range(1, 6)], Terms())
    assert "1e+90" in fit.sentence
    assert len(fit.sentence) < 300
