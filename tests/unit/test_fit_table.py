"""`scale fit`: anybody's CSV, JSON for scripts, one message with the line for every bad file, and whatever numbers a file
holds an answer that makes sense."""

import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from scale_sweep.analysis.fit import table
from scale_sweep.analysis.fit.curve import FitQuestions, fit_rows
from scale_sweep.analysis.fit.rows import far_off
from scale_sweep.analysis.fit.table import CsvColumns, read_table
from scale_sweep.analysis.fit.words import Terms
from scale_sweep.base.errors import UsageError
from scale_sweep.cli import app
from scale_sweep.report.anydata import fit_document
from tests.unit.drawn_rows import table as rows_of

GOOD = "n,x,kind\n1,100,a\n2,190,a\n3,280,a\n4,360,a\n5,440,a\n6,515,a\n"


def parse(text, group=None):
    content = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    return {
        name: [*map(tuple, rows)] for name, rows in read_table(content, CsvColumns(n="n", x="x", group=group)).items()
    }


def run(tmp_path, text, *words):
    file = tmp_path / "data.csv"
    file.write_text(text)
    return CliRunner().invoke(app, ["fit", str(file), "--n", "n", "--x", "x", *words])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file is empty"),
        ("n,x\n", "line 1: no row follows"),
        ("n,y\n1,2\n", "line 1: no column 'x'; the header has n, y"),
        ("n,x,x\n1,2,3\n", "line 1: the header has 2 columns 'x'"),
        ("n,x\n1,2\n2\n", "line 3: 1 cell, but the header has 2"),
        ("n,x\n1,2\n2,3,4\n", "line 3: 3 cells, but the header has 2"),
        ("n,x\n1,2\n\n2,fast\n", "line 4: x is 'fast', which is not a number"),
        ("n,x\n1,2\n2,nan\n", "line 3: x is 'nan'"),
        ("n,x\n1,2\n2,inf\n", "line 3: x is 'inf'"),
        ("n,x\n1,2\n2,1e999\n", "line 3: x is '1e999'"),
        ("n,x\n1,1_000\n", "line 2: x is '1_000'"),
        ('n,x\n1,"1,000.5"\n', "line 2: x is '1,000.5', which is not a number; leave out separators of thousands"),
        ("n;x\n1;1 000\n", "line 2: x is '1 000', which is not a number; leave out separators of thousands"),
        ("n;x\n1;10,5\n", "line 2: x is '10,5', which is not a number; write a point before the decimals"),
        ("n,x\n1,2\n2,\n", "line 3: x is empty"),
        ("n,x\n0,2\n", "line 2: n is 0; it must be above 0"),
        ("n,x\n1,2e300\n", "line 2: x is 2e300; it must be between 1e-100 and 1e+100"),
        ("n,x\n1,1e-8\n2,5\n3,1e8\n", "line 4: x differs from line 2 by more than 1e+12 times"),
        ("n,x\n1,-2\n", "line 2: x is -2; it must be above 0"),
        ('n,x\n1,2\n"2,3\n', "line 3: "),
        (b"n,x\n1,2\n2,\xff\n", "line 3: not UTF-8 text (byte 0xff)"),
        (b"n,x\n1,2\n2,\x00\n", "line 3: holds a NUL byte"),
    ],
)
def test_a_bad_file_is_refused_with_the_line(text, message):
    with pytest.raises(ValueError, match=r"^line \d+: ") as caught:
        parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        "\ufeff" + GOOD,
        "# made by hand\n" + GOOD,
        GOOD.replace("\n", "\r\n"),
        "n;x;note, free\n1;100;fast, hot\n2;190;fast, hot\n",
        '"n";"x";"a, b"\n1;100;fast, hot\n2;190;fast, hot\n',
        "n\tx\tnote, free; or not\n1\t100\tfast, hot\n2\t190\tfast, hot\n",
    ],
)
def test_common_forms_of_csv_are_read(text):
    assert parse(text)[""][:2] == [(1.0, 100.0), (2.0, 190.0)]


def test_levels_that_differ_by_rounding_are_one_level_and_groups_keep_the_order_of_the_file():
    found = parse(f"n,x\n0.3,1\n{0.1 + 0.2},2\n1,3\n")[""]
    assert [level for level, _ in found] == [0.3, 0.3, 1.0]
    assert list(parse("n,x,kind\n1,2,z\n1,3,a\n2,4,z\n", "kind")) == ["z", "a"]


def test_a_measured_unit_is_not_called_rows(tmp_path):
    rows = "".join(f"{n},{1000 * n / (1 + 0.1 * (n - 1)):.1f}\n" for n in range(1, 9))
    shown = run(tmp_path, f"n,x\n{rows}").stdout
    assert re.search(r"maximum 10\.?\d* k \([\d.]+ to [\d.]+ k\) x", shown)
    assert "rows/s" not in shown and "← chosen" in shown


def test_quotes_and_comments_do_not_move_the_lines_that_are_named():
    lines = ["# by hand", "n,x,kind", *(f"{n},{10.5 * n},{'ab'[n % 2]}" for n in range(1, 30))]
    lines[9] = '7,"73.5",b'
    assert sum(map(len, parse("\n".join(lines), "kind").values())) == 29
    for at, cell, message in (
        (25, "25,x,a", "line 26: x is 'x'"),
        (20, "1,2", "line 21: 2 cells"),
        (27, "3,1_0,a", "line 28: x is '1_0'"),
        (22, "1,1e-30,a", "line 32: x differs from line 23"),
    ):
        with pytest.raises(ValueError, match=message):
            parse("\n".join([*lines[:at], cell, *lines[at:]]), "kind")
    with pytest.raises(ValueError, match="line 32: not UTF-8 text"):
        parse("\n".join([*lines, "1,2,"]).encode() + b"\xff")


def test_the_rows_of_a_file_are_bounded(monkeypatch):
    monkeypatch.setattr(table, "ROWS_MAX", 3)
    with pytest.raises(ValueError, match="line 5: more than 3 rows"):
        parse(GOOD)
    monkeypatch.setattr(table, "LINE_BYTES_MAX", 100)
    with pytest.raises(ValueError, match="line 1: longer than 100 bytes"):
        parse("n,x" + "a" * 200)


def test_one_row_ten_times_too_high_is_named(wording):
    text = "n,x\n" + "".join(f"{n},{(1000 if n == 5 else 100) * n}\n" for n in range(1, 9))
    fit = fit_rows(parse(text)[""], Terms(axis="n", rate="x", row="row"))
    assert not any("far off" in c for c in fit_rows(parse(GOOD)[""], Terms()).cautions)
    wording(*(c for c in fit.cautions if "far off" in c))


@pytest.mark.parametrize(("replicates", "factor"), [(1, 10), (1, 0.1), (2, 10), (2, 0.1), (3, 10)])
@pytest.mark.parametrize("at", range(1, 7))
def test_a_spoilt_row_is_named_and_its_neighbours_are_not(replicates, factor, at):
    chance = np.random.default_rng([replicates, at])
    noise = iter(1 + 0.02 * chance.normal(size=6 * replicates))
    good = [(n, 100 * n / (1 + 0.05 * (n - 1)) * next(noise)) for n in range(1, 7) for _ in range(replicates)]
    assert far_off(rows_of(good)) == ()
    spoilt = [(n, x * factor if i == (at - 1) * replicates else x) for i, (n, x) in enumerate(good)]
    (named,) = far_off(rows_of(spoilt))
    assert named.level == at and named.factor == pytest.approx(factor, rel=0.5)


def test_two_rows_of_a_collapse_that_agree_are_no_outliers():
    rows = [(n, 100.0 * n + i) for n in range(1, 6) for i in (0, 1)] + [(6, 30.0), (6, 30.5)]
    assert far_off(rows_of(rows)) == ()


def test_the_document_for_scripts(tmp_path):
    done = run(tmp_path, GOOD, "--json", "--predict", "8,99", "--need", "600")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert [m["name"] for m in document["models"]] == ["linear", "amdahl", "usl", "knee", "affine", "power"]
    for model in document["models"]:
        assert {"rse", "aicc", "holdout_error"} <= set(model)
        assert set(model["params"]) == set(model["std_errors"]) == set(model["intervals"])
    assert (document["chosen"], document["verdict"]) == ("amdahl", "contended")
    eight, far = document["predictions"]
    assert eight["interval"][0] < eight["x"] < eight["interval"][1]
    assert far["x"] is None and "extrapolation" in far["reason"]
    assert document["needs"][0]["n"] == pytest.approx(7.1, abs=0.2)
    assert any("per level" in w for w in document["warnings"])
    text = GOOD + "".join(f"{n},{50 * n},b\n" for n in range(1, 9))
    grouped = json.loads(run(tmp_path, text, "--json", "--group", "kind").stdout)["groups"]
    assert {name: g["verdict"] for name, g in grouped.items()} == {"a": "contended", "b": "linear"}
    three = json.loads(run(tmp_path, "n,x\n1,10\n2,19\n4,35\n", "--json").stdout)
    assert (three["chosen"], three["verdict"]) == (None, "undecided")
    assert three["models"][0]["params"]["gamma"] == pytest.approx((10 + 38 + 140) / 21)
    assert any("cannot test" in w for w in three["warnings"])


def test_bad_questions_and_a_file_that_is_not_there_are_usage_errors(tmp_path):
    wrong = (("--predict", "x"), ("--need", "-5"), ("--need", "0"), ("--group", "colour"))
    refused = [run(tmp_path, GOOD, *words).exception for words in wrong]
    refused.append(CliRunner().invoke(app, ["fit", "/nowhere/data.csv", "--n", "n", "--x", "x"]).exception)
    named = ("--predict", "--need", "--need", "no column 'colour'", "FILE.csv /nowhere/data.csv")
    for error, name in zip(refused, named, strict=True):
        assert isinstance(error, UsageError) and error.exit_code == 2
        assert name in error.message


def test_a_bundled_table_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["fit", "tdengine-cpu", "--n", "cores", "--x", "rows_per_s", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["points"][-1]["n"] == 12


LEVELS = st.one_of(st.integers(1, 64).map(float), st.floats(0.01, 1e4), st.sampled_from((1.0, 7.0, 1e6)))
RATES = st.one_of(st.just(100.0), st.floats(1e-3, 1e8), st.sampled_from((1.0, 7.0, 1e3)))
ROWS = st.lists(st.tuples(LEVELS, RATES), min_size=1, max_size=14)
UNITS = st.sampled_from((1e-90, 1.0, 1e90))


@given(rows=ROWS, unit=UNITS)
@settings(max_examples=25, deadline=None)
def test_any_numbers_give_an_answer_that_makes_sense(rows, unit):
    rows = [(level, rate * unit) for level, rate in rows]
    questions = FitQuestions(predict=[0.1, 3.0, 70.0], need=[1e-9, 50.0])
    fit = fit_rows(rows, Terms(axis="n", rate="x", row="row"), questions=questions, samples=200)
    document = fit_document(fit)
    json.dumps(document, allow_nan=False)
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
        found = parse(content)
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
