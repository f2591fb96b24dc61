"""Aggregates: stretches of time without rows, which rows an answer may lack, the right values of the further functions,
what may differ from them, and what cannot be asked."""

import math
import statistics

import numpy as np
import pytest

from scale_sweep.base.errors import CannotAsk, UsageError
from scale_sweep.experiment.work import queries_of
from scale_sweep.experiment.work.answers import difference, is_nothing, right_answer
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.loadgen.protocol import ReportedAnswer
from scale_sweep.measure.trial.answers_within import why_wrong
from scale_sweep.model.questions import FILLS, FURTHER, PERCENTILE, Drawn, Query, is_function, percent_of, wants_number
from scale_sweep.server.targets import all_facts, load_facts
from tests.unit.test_reads import work_of

START = 1_500_000_000_000
S = 1000


def held(seconds, **columns):
    """Rows of one device at these seconds after START."""
    times = START + S * np.array(seconds, dtype=np.int64)
    return TableRows(times=times, columns={name: np.array(values) for name, values in columns.items()})


NONE = held([], v=np.zeros(0))


def right_of(fill, rows, span=(0, 40), others=None, **more):
    asked = {"function": "avg", "bucket_ms": 5 * S, **more}
    query = Query(columns=tuple(rows.columns), when="range", fill=fill, **asked)
    held_rows = {0: rows} | (others or {})
    drawn = Drawn(devices=tuple(held_rows), from_ms=START + span[0] * S, to_ms=START + span[1] * S)
    return query, right_answer(query, drawn, held_rows)


def seconds(right):
    return [((row[0] - START) / S, *row[1:]) for row in right.cells()]


ROWS = held([10, 20, 30], v=[4.0, 8.0, 6.0])
EXPECTED = {
    "": [(10, 4), (20, 8), (30, 6)],
    "null": [(0, None), (5, None), (10, 4), (15, None), (20, 8), (25, None), (30, 6), (35, None)],
    "previous": [(0, None), (5, None), (10, 4), (15, 4), (20, 8), (25, 8), (30, 6), (35, 6)],
    "linear": [(0, None), (5, None), (10, 4), (15, 6), (20, 8), (25, 7), (30, 6), (35, None)],
}


@pytest.mark.parametrize("fill", EXPECTED)
@pytest.mark.parametrize("newest_first", [False, True])
def test_every_stretch_of_the_range_has_a_row(fill, newest_first):
    query, right = right_of(fill, ROWS, newest_first=newest_first)
    assert seconds(right) == (EXPECTED[fill][::-1] if newest_first else EXPECTED[fill])
    assert difference(query, right, right.cells()) == ""


def test_stretches_are_multiples_of_their_length_a_longer_gap_is_on_one_line_and_each_column_is_filled():
    assert seconds(right_of("null", ROWS, (8, 26))[1]) == [(5, None), (10, 4), (15, None), (20, 8), (25, None)]
    assert seconds(right_of("linear", ROWS, (10, 21))[1]) == [(10, 4), (15, 6), (20, 8)]
    _, right = right_of("linear", held([0, 3, 40], v=[1.0, 3.0, 10.0]), (0, 41), bucket_ms=10 * S)
    assert seconds(right) == [(0, 2), (10, 4), (20, 6), (30, 8), (40, 10)]
    _, right = right_of("linear", held([0, 10], a=[1.0, 3.0], b=[10.0, 30.0]), (0, 11), more_functions=("max",))
    assert seconds(right) == [(0, 1, 1, 10, 10), (5, 2, 2, 20, 20), (10, 3, 3, 30, 30)]


@pytest.mark.parametrize("fill", FILLS)
def test_rows_before_the_first_value_and_after_the_last_may_be_missing_and_no_others(fill):
    query, right = right_of(fill, ROWS)
    rows = right.cells()
    assert right.optional_rows == 3
    assert difference(query, right, rows[2:-1]) == difference(query, right, rows[2:]) == ""
    assert "4 rows" in difference(query, right, [*rows[2:3], *rows[4:-1]])
    assert difference(query, right, rows[3:-1])
    query, right = right_of(fill, NONE, span=(0, 15))
    assert seconds(right) == [(0, None), (5, None), (10, None)]
    assert difference(query, right, []) == difference(query, right, right.cells()) == ""
    assert difference(query, right, [(START, 0.0)])


INNER = [("null", 4, 4.0), ("null", 4, 0.0), ("previous", 4, None), ("previous", 4, 8.0), ("linear", 4, 6.001)]
OPTIONAL = [("previous", 8, None), ("previous", 1, 4.0), ("linear", 8, 6.0)]


@pytest.mark.parametrize(("fill", "row", "wrong"), [*INNER, *OPTIONAL])
def test_a_stretch_that_is_filled_wrongly_is_found_even_where_its_row_is_optional(fill, row, wrong):
    query, right = right_of(fill, ROWS)
    rows = right.cells()
    rows[row - 1] = (rows[row - 1][0], wrong)
    assert f"row {row} of" in difference(query, right, rows)


def test_a_float_is_filled_with_its_error_and_whole_numbers_stay_exact():
    query, right = right_of("linear", held([0, 10], v=np.array([3.0, 5.0], dtype=np.float32)), span=(0, 11))
    for error, is_right in ((3e-6, True), (3e-5, False)):
        came = [(START, 3.0), (START + 5 * S, 4 * (1 + error)), (START + 10 * S, 5.0)]
        assert (difference(query, right, came) == "") is is_right
    big = 10**15 + 1
    query, right = right_of("previous", held([0, 10], v=np.array([big, 7])), (0, 20), function="max")
    assert seconds(right) == [(0, big), (5, big), (10, 7), (15, 7)]
    assert difference(query, right, [(START, big), (START + 5 * S, big - 1), *right.cells()[2:]])


def test_each_device_is_filled_over_the_whole_range():
    others = {1: held([10], v=[5.0]), 2: NONE}
    query, right = right_of("previous", held([0, 10], v=[1.0, 2.0]), (0, 15), others, devices=3, by_device=True)
    assert seconds(right) == [(0, 0, 1), (0, 1, None), (5, 0, 1), (5, 1, None), (10, 0, 2), (10, 1, 5)]
    assert difference(query, right, [right.row(number) for number in (0, 2, 4, 5)]) == ""
    assert difference(query, right, [right.row(number) for number in (0, 4, 5)])


def test_optional_rows_may_be_missing_in_an_answer_of_the_load():
    query, right = right_of("null", ROWS)
    place = {"operation": "a", "worker": 0, "request": 0, "devices": (0,), "in_window": True}
    asked = {"query": query, "right": right, "came": None, "names": (), "written": 0}
    for rows, is_right in ((4, False), (5, True), (8, True), (9, False)):
        answer = ReportedAnswer(**place, from_ms=START, to_ms=START, value=None, rows=rows)
        assert (why_wrong(answer=answer, **asked) == "") is is_right, rows


VALUES = [1.0, 5.0, 3.0, 2.0, 4.0, 6.0, 4.0]


def rows_of(values=VALUES, kind=np.float64):
    times = START + 10_000 * np.arange(len(values))
    return {0: TableRows(times=times, columns={"v": np.array(values, dtype=kind)})}


def value_of(function, values=VALUES, kind=np.float64, **more):
    query = Query(columns=("v",), function=function, **more)
    return query, right_answer(query, Drawn(devices=(0,), value=100.0), rows_of(values, kind))


def test_which_names_are_functions():
    assert [percent_of(name) for name in ("p1", "p95", "p99", "median", "avg")] == [1, 95, 99, 50, None]
    assert all(map(is_function, ("avg", "median", "p5", "stddev", "stddev_samp", "count_distinct")))
    assert not any(map(is_function, ("p0", "p100", "p9.5", "p05", PERCENTILE, "stdev", "")))
    names = ("count", "count_distinct", "first", "median", "rate")
    assert list(filter(wants_number, names)) == ["median", "rate"]


def test_the_right_values_are_those_of_other_definitions():
    known = {
        "median": statistics.median(VALUES),
        "p25": statistics.quantiles(VALUES, n=4, method="inclusive")[0],
        "p95": statistics.quantiles(VALUES, n=20, method="inclusive")[18],
        "stddev": statistics.pstdev(VALUES),
        "stddev_samp": statistics.stdev(VALUES),
        "count_distinct": len(set(VALUES)),
        "rate": (VALUES[-1] - VALUES[0]) / 60,
    }
    for function, value in known.items():
        for kind in (np.float64, np.float32, np.int64):
            query, right = value_of(function, kind=kind)
            assert right.cells() == [(pytest.approx(value, rel=1e-12),)], function
            assert difference(query, right, [(value,)]) == ""


def accepts(function, values, kind, *answers):
    query, right = value_of(function, values, kind)
    return [difference(query, right, [(value,)]) == "" for value in answers]


@pytest.mark.parametrize("function", ["median", "p95", "stddev", "stddev_samp"])
def test_a_fraction_has_the_error_of_its_type(function):
    for kind, near in ((np.float32, 3e-6), (np.float64, 3e-10), (np.int64, 3e-10)):
        value = value_of(function, [10, 13, 17, 29], kind)[1].row(0)[0]
        assert accepts(function, [10, 13, 17, 29], kind, value * (1 + near), value * (1 + 10 * near)) == [True, False]


def test_digits_samples_and_ranks_are_told_apart():
    assert accepts("stddev", [1000.0] * 5, np.float64, 5e-12, 5e-11) == [True, False]
    assert accepts("stddev", [10.1] * 5, np.float32, 1e-6, 1e-5) == [True, False]
    assert accepts("stddev", range(1000), np.float64, statistics.stdev(range(1000))) == [False]
    assert accepts("p95", range(10), np.float64, 8.55, 8, 9) == [True, False, False]


def test_a_deviation_of_one_value():
    assert value_of("stddev", [7.0])[1].cells() == [(0.0,)]
    assert value_of("stddev_samp", [7.0])[1].cells() == [(None,)]
    query, right = value_of("stddev_samp", [1.0, 2.0, 7.0], bucket_ms=20_000)
    assert right.cells() == [(START, pytest.approx(math.sqrt(0.5))), (START + 20_000, None)]
    assert difference(query, right, [(START, math.sqrt(0.5)), (START + 20_000, None)]) == ""
    assert difference(query, right, [(START, math.sqrt(0.5)), (START + 20_000, 0.0)])


def test_a_rate_is_of_the_first_and_the_last_row():
    query, right = value_of("rate", [5.0, 1.0, 7.0, 9.0, 2.0], bucket_ms=20_000)
    assert right.cells() == [(START, -0.4), (START + 20_000, 0.2), (START + 40_000, None)]
    assert difference(query, right, [(START, -0.4), (START + 20_000, 0.2), (START + 40_000, None)]) == ""
    assert "row 2 of" in difference(query, right, [(START, -0.4), (START + 20_000, 0.35), (START + 40_000, None)])


def test_several_functions_are_beside_each_other_column_by_column():
    values = np.array([3.0, 1.0, 2.0])
    rows = {0: TableRows(times=START + 1000 * np.arange(3), columns={"a": values, "b": values * 10})}
    query = Query(columns=("a", "b"), function="max", more_functions=("count", "median"), bucket_ms=2000)
    right = right_answer(query, Drawn(devices=(0,)), rows)
    assert right.cells() == [(START, 3.0, 2, 2.0, 30.0, 2, 20.0), (START + 2000, 2.0, 1, 2.0, 20.0, 1, 20.0)]
    by_tag = Query(columns=("a",), function="sum", more_functions=("avg",), tag="g", by_tag=True)
    assert right_answer(by_tag, Drawn(devices=(0,), groups=(4,)), rows).cells() == [(4, 6.0, 2.0)]


@pytest.mark.parametrize("came", [[], [(0, None)], [(None, None)]])
def test_several_functions_of_nothing_are_nothing(came):
    query = Query(columns=("v",), function="count_distinct", more_functions=("avg",), bound_column="v")
    right = right_answer(query, Drawn(devices=(0,), value=100.0), rows_of())
    assert is_nothing(query, right)
    assert difference(query, right, came) == ""
    assert difference(query, right, [(1, None)]) and difference(query, right, [(0, 0.0)])


ASKED = ("a.kind=group_by_time", "a.bucket=5s", "a.span=5m")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["fill=prev"], "fill = prev: not one of"),
        (["fill=null", "function=count"], "count of no rows is 0"),
        (["fill=null", "functions=avg,count_distinct"], "count_distinct of no rows is 0"),
        (["fill=previous", "function=rate"], "rate has no value"),
        (["fill=linear", "function=stddev_samp"], "stddev_samp has no value"),
        (["fill=linear", "function=max", "column=voltage"], "between two whole numbers of voltage"),
        (["fill=null", "bucket=3ms"], "100,000 stretches"),
    ],
)
def test_what_databases_fill_with_different_values_is_refused(given, words):
    with pytest.raises(UsageError, match=words):
        queries_of(work_of("a", *ASKED, *(f"a.{one}" for one in given)))
    for kind in ("group_by_time_limit", "aggregate", "aggregate_tag"):
        with pytest.raises(UsageError, match="no such parameter"):
            queries_of(work_of("a", f"a.kind={kind}", "a.fill=null"))


def rendered(facts, *parameters):
    work = work_of("a", *parameters)
    return facts.rendered(queries_of(work)["a"], work.data, facts.methods[0])


@pytest.mark.parametrize("target", [facts.name for facts in all_facts() if facts.queries])
@pytest.mark.parametrize("kind", [*FILLS, *FURTHER])
def test_a_database_fills_or_has_a_function_or_says_why_not(target, kind):
    facts, lacking = load_facts(target), f"fill = {kind}" if kind in FILLS else kind
    function = "p95" if kind == PERCENTILE else kind
    one = ["a.kind=aggregate", "a.column=voltage", f"a.function={function}"]
    asked = [*ASKED, f"a.fill={kind}"] if kind in FILLS else one
    if kind in (*facts.fills, *facts.functions):
        assert lacking not in facts.cannot
        assert rendered(facts, *asked)
    else:
        with pytest.raises(CannotAsk) as refused:
            rendered(facts, *asked)
        assert refused.value.message == facts.cannot[lacking]


def test_what_single_databases_would_fill_otherwise_is_refused_or_left_out():
    for target in ("influxdb", "iotdb", "tdengine"):
        with pytest.raises(CannotAsk, match="the later value"):
            rendered(load_facts(target), "a.kind=group_by_time_desc", *ASKED[1:], "a.fill=previous")
    for bucket, is_empty in (("5s", True), ("10s", False)):
        asked = rendered(load_facts("iotdb"), ASKED[0], "a.span=5m", f"a.bucket={bucket}")
        assert ("HAVING" in asked) is is_empty
