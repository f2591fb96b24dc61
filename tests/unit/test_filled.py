"""Stretches of time without rows: what they are filled with, which rows an answer may lack, what cannot be asked."""

import numpy as np
import pytest

from scale_sweep.base.errors import CannotAsk, UsageError
from scale_sweep.experiment.work import queries_of
from scale_sweep.experiment.work.answers import difference, right_answer
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.loadgen.protocol import ReportedAnswer
from scale_sweep.measure.trial.answers_within import Within
from scale_sweep.model import FILLS, Drawn, Query
from scale_sweep.server.targets import all_facts, load_facts
from tests.unit.test_reads import work_of

START = 1_500_000_000_000
S = 1000


def held(seconds, **columns):
    """Rows of one device at these seconds after START."""
    times = START + S * np.array(seconds, dtype=np.int64)
    return TableRows(times=times, columns={name: np.array(values) for name, values in columns.items()})


def drawn(first, end, devices=(0,), **more):
    return Drawn(devices=devices, from_ms=START + first * S, to_ms=START + end * S, **more)


def right_of(fill, rows, span=(0, 40), **more):
    query = Query(
        columns=tuple(rows.columns), when="range", fill=fill, **{"function": "avg", "bucket_ms": 5 * S, **more}
    )
    return query, right_answer(query, drawn(*span), {0: rows})


def seconds(right):
    return [((row[0] - START) / S, *row[1:]) for row in right.cells()]


ROWS = held([10, 20, 30], v=[4.0, 8.0, 6.0])
EXPECTED = {
    "null": [(0, None), (5, None), (10, 4), (15, None), (20, 8), (25, None), (30, 6), (35, None)],
    "previous": [(0, None), (5, None), (10, 4), (15, 4), (20, 8), (25, 8), (30, 6), (35, 6)],
    "linear": [(0, None), (5, None), (10, 4), (15, 6), (20, 8), (25, 7), (30, 6), (35, None)],
}


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("newest_first", [False, True])
def test_every_stretch_of_the_range_has_a_row(fill, newest_first):
    query, right = right_of(fill, ROWS, newest_first=newest_first)
    assert seconds(right) == (EXPECTED[fill][::-1] if newest_first else EXPECTED[fill])
    assert difference(query, right, right.cells()) == ""


def test_without_fill_a_stretch_without_rows_has_no_row():
    assert seconds(right_of("", ROWS)[1]) == [(10, 4), (20, 8), (30, 6)]


def test_stretches_are_multiples_of_their_length_wherever_the_range_begins():
    assert seconds(right_of("null", ROWS, span=(8, 26))[1]) == [(5, None), (10, 4), (15, None), (20, 8), (25, None)]
    assert seconds(right_of("linear", ROWS, span=(10, 21))[1]) == [(10, 4), (15, 6), (20, 8)]


def test_a_longer_gap_is_on_one_line():
    rows = held([0, 3, 40], v=[1.0, 3.0, 10.0])
    found = seconds(right_of("linear", rows, span=(0, 41), bucket_ms=10 * S)[1])
    assert found == [(0, 2), (10, 4), (20, 6), (30, 8), (40, 10)]


@pytest.mark.parametrize("fill", FILLS)
def test_rows_before_the_first_value_and_after_the_last_may_be_missing_and_no_others(fill):
    query, right = right_of(fill, ROWS)
    rows = right.cells()
    assert right.optional_rows == 3
    assert difference(query, right, rows[2:-1]) == ""
    assert difference(query, right, rows[2:]) == ""
    assert "4 rows came, 5 are right" in difference(query, right, [*rows[2:3], *rows[4:-1]])
    assert difference(query, right, rows[3:-1])


def test_an_optional_row_that_comes_must_be_right():
    query, right = right_of("previous", ROWS)
    rows = right.cells()
    assert "row 8 of 8" in difference(query, right, [*rows[:-1], (rows[-1][0], None)])
    assert "row 1 of 8" in difference(query, right, [(rows[0][0], 4.0), *rows[1:]])
    query, right = right_of("linear", ROWS)
    rows = right.cells()
    assert "row 8 of 8" in difference(query, right, [*rows[:-1], (rows[-1][0], 6.0)])


@pytest.mark.parametrize(
    ("fill", "wrong"), [("null", 4.0), ("null", 0.0), ("previous", None), ("previous", 8.0), ("linear", 6.001)]
)
def test_a_stretch_that_is_filled_wrongly_is_found(fill, wrong):
    query, right = right_of(fill, ROWS)
    rows = right.cells()
    rows[3] = (rows[3][0], wrong)
    assert "row 4 of 8" in difference(query, right, rows)


@pytest.mark.parametrize("fill", FILLS)
def test_a_range_without_rows_is_nothing_or_null(fill):
    query, right = right_of(fill, held([], v=np.zeros(0)), span=(0, 15))
    assert seconds(right) == [(0, None), (5, None), (10, None)]
    assert difference(query, right, []) == ""
    assert difference(query, right, right.cells()) == ""
    assert difference(query, right, [(START, 0.0)])


def test_a_float_is_filled_with_the_error_of_a_float():
    query, right = right_of("linear", held([0, 10], v=np.array([3.0, 5.0], dtype=np.float32)), span=(0, 11))
    assert difference(query, right, [(START, 3.0), (START + 5 * S, 4 * (1 + 3e-6)), (START + 10 * S, 5.0)]) == ""
    assert difference(query, right, [(START, 3.0), (START + 5 * S, 4 * (1 + 3e-5)), (START + 10 * S, 5.0)])


def test_whole_numbers_stay_exact():
    big = 10**15 + 1
    query, right = right_of("previous", held([0, 10], v=np.array([big, 7])), span=(0, 20), function="max")
    assert seconds(right) == [(0, big), (5, big), (10, 7), (15, 7)]
    assert difference(query, right, [(START, big), (START + 5 * S, big - 1), *right.cells()[2:]])


def test_each_column_and_function_is_filled():
    rows = held([0, 10], a=[1.0, 3.0], b=[10.0, 30.0])
    right = right_of("linear", rows, span=(0, 11), more_functions=("max",))[1]
    assert seconds(right) == [(0, 1, 1, 10, 10), (5, 2, 2, 20, 20), (10, 3, 3, 30, 30)]


def test_each_device_is_filled_over_the_whole_range():
    rows = {0: held([0, 10], v=[1.0, 2.0]), 1: held([10], v=[5.0]), 2: held([], v=np.zeros(0))}
    query = Query(
        devices=3, columns=("v",), function="avg", when="range", bucket_ms=5 * S, fill="previous", by_device=True
    )
    right = right_answer(query, drawn(0, 15, devices=(0, 1, 2)), rows)
    whole = [(0, 0, 1), (0, 1, None), (5, 0, 1), (5, 1, None), (10, 0, 2), (10, 1, 5)]
    assert seconds(right) == whole
    assert difference(query, right, [right.row(number) for number in (0, 2, 4, 5)]) == ""
    assert difference(query, right, [right.row(number) for number in (0, 4, 5)])


def test_optional_rows_may_be_missing_in_an_answer_of_the_load():
    query, right = right_of("null", ROWS)
    for rows, is_right in ((4, False), (5, True), (8, True), (9, False)):
        place = {"operation": "a", "worker": 0, "request": 0, "devices": (0,), "in_window": True}
        answer = ReportedAnswer(**place, from_ms=START, to_ms=START, value=None, rows=rows)
        wrong = Within(query=query, answer=answer, right=right, came=None, names=(), written=0).wrong()
        assert (wrong == "") is is_right, (rows, wrong)


ASKED = ("a.kind=group_by_time", "a.bucket=5s", "a.span=5m")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["fill=prev"], "fill = prev: not one of null, previous, linear"),
        (["fill=null", "function=count"], "count of no rows is 0 in some databases and NULL in others"),
        (["fill=null", "functions=avg,count_distinct"], "count_distinct of no rows is 0"),
        (["fill=previous", "function=rate"], "rate has no value in a stretch of one row"),
        (["fill=linear", "function=stddev_samp"], "stddev_samp has no value in a stretch of one row"),
        (["fill=linear", "function=max", "column=voltage"], "round the values between two whole numbers of voltage"),
        (["fill=null", "bucket=3ms"], "a range has 100,000 stretches of time at most"),
    ],
)
def test_what_databases_fill_with_different_values_is_refused(given, words):
    with pytest.raises(UsageError, match=words):
        queries_of(work_of("a", *ASKED, *(f"a.{one}" for one in given)))


@pytest.mark.parametrize("kind", ["group_by_time_limit", "aggregate", "aggregate_tag"])
def test_only_stretches_of_a_range_are_filled(kind):
    with pytest.raises(UsageError, match="has no such parameter"):
        queries_of(work_of("a", f"a.kind={kind}", "a.fill=null"))


@pytest.mark.parametrize("target", [facts.name for facts in all_facts() if facts.queries])
@pytest.mark.parametrize("fill", FILLS)
def test_a_database_fills_or_says_why_not(target, fill):
    facts, work = load_facts(target), work_of("a", *ASKED, f"a.fill={fill}")
    if fill in facts.fills:
        assert f"fill = {fill}" not in facts.lacks
        assert facts.rendered(queries_of(work)["a"], work.data, facts.methods[0])
    else:
        with pytest.raises(CannotAsk) as refused:
            facts.rendered(queries_of(work)["a"], work.data, facts.methods[0])
        assert refused.value.message == facts.lacks[f"fill = {fill}"]


@pytest.mark.parametrize("target", ["influxdb", "iotdb", "tdengine"])
def test_the_previous_value_newest_first_is_refused_where_it_is_the_later_one(target):
    facts = load_facts(target)
    work = work_of("a", "a.kind=group_by_time_desc", *ASKED[1:], "a.fill=previous")
    with pytest.raises(CannotAsk, match="takes the later value"):
        facts.rendered(queries_of(work)["a"], work.data, facts.methods[0])


def test_iotdb_leaves_out_stretches_that_it_would_answer_with_null():
    facts = load_facts("iotdb")
    for bucket, is_empty in (("5s", True), ("10s", False)):
        work = work_of("a", ASKED[0], "a.span=5m", f"a.bucket={bucket}")
        assert ("HAVING count(current) > 0" in facts.rendered(queries_of(work)["a"], work.data, "tablet")) is is_empty
