"""Values that came, beside the right ones: whole numbers are equal, fractions as near as their type allows."""

import datetime
from decimal import Decimal

import numpy as np
import pytest

from scale_sweep.experiment.work.answers import difference, right_answer
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.model import Drawn, Query
from scale_sweep.server.targets.answer_rows import exact_ms
from scale_sweep.server.targets.postgres.postgres_session import _plain
from scale_sweep.server.targets.promql.answers import rows_of as samples
from scale_sweep.server.targets.questdb.questdb_session import _milliseconds

START = 1_500_000_000_000
BIG = 1_000_000_004


def rows(values, kind):
    times = START + 10 * np.arange(len(values))
    return {0: TableRows(times=times, columns={"v": np.array(values, dtype=kind)})}


def wrong(function, values, kind, came):
    query = Query(columns=("v",), function=function)
    return difference(query, right_answer(query, Drawn(devices=(0,)), rows(values, kind)), [(came,)])


@pytest.mark.parametrize("function", ["sum", "max", "min", "spread", "first", "last"])
@pytest.mark.parametrize("as_type", [int, float])
def test_an_aggregate_of_whole_numbers_is_exact(function, as_type):
    values = {"sum": [BIG - 4, 4], "spread": [BIG + 7, 7]}.get(function, [BIG])
    assert wrong(function, values, np.int64, as_type(BIG)) == ""
    assert wrong(function, values, np.int64, as_type(BIG + 9000))
    assert wrong(function, values, np.int64, as_type(BIG + 1))


def test_a_sum_beyond_64_bits_is_exact_and_one_in_doubles_has_their_error():
    values = [2**62, 2**62, 2**62, -5]
    assert wrong("sum", values, np.int64, 3 * 2**62 - 5) == ""
    assert wrong("sum", values, np.int64, float(3 * 2**62)) == ""
    assert wrong("sum", values, np.int64, 3 * 2**62 + 2**20)
    assert wrong("max", [2**62 + 1], np.int64, float(2**62)) == ""
    assert wrong("max", [2**62 + 1], np.int64, 2**62 + 2)


@pytest.mark.parametrize(("kind", "near", "far"), [(np.float32, 3e-6, 3e-5), (np.float64, 3e-10, 3e-9)])
@pytest.mark.parametrize("value", [0.001, 1e-9, 12.5, -7e6])
def test_a_fraction_is_compared_by_its_size(kind, near, far, value):
    held = float(kind(value))
    for function in ("max", "sum", "avg"):
        assert wrong(function, [value], kind, held * (1 + near)) == ""
        assert wrong(function, [value], kind, held * (1 + far))
    query = Query(columns=("v",))
    right = right_answer(query, Drawn(devices=(0,)), rows([value], kind))
    assert difference(query, right, [(START, held * (1 + near))]) == ""
    assert difference(query, right, [(START, held * (1 + far))])


def test_numbers_that_cancel_have_the_error_of_the_numbers_and_not_of_their_sum():
    assert wrong("sum", [1e6, -1e6, 0.5], np.float32, 0.5 + 1e-3) == ""
    assert wrong("avg", [3, -3, 0], np.int64, 1e-12) == ""


def test_nulls_are_in_no_aggregate_and_are_not_numbers():
    assert wrong("avg", [1.0, np.nan, 3.0], np.float64, 2.0) == ""
    query = Query(columns=("v",))
    right = right_answer(query, Drawn(devices=(0,)), rows([1.0, np.nan], np.float64))
    assert difference(query, right, [(START, 1.0), (START + 10, None)]) == ""
    assert "row 2 of 2" in difference(query, right, [(START, 1.0), (START + 10, 0.0)])
    assert "row 1 of 2" in difference(query, right, [(START, None), (START + 10, None)])


@pytest.mark.parametrize("late_us", [0, 1, 500, 999])
def test_a_time_below_a_millisecond_is_kept_by_every_session_that_gets_one(late_us):
    query = Query(columns=("v",))
    right = right_answer(query, Drawn(devices=(0,)), rows([1.5], np.float64))
    moment = datetime.datetime.fromtimestamp(START / 1000, datetime.UTC) + datetime.timedelta(microseconds=late_us)
    sample = {"metric": {"__name__": "v", "device": "d"}, "values": [(START / 1000 + late_us / 1e6, "1.5")]}
    came = {
        "postgres": _plain(moment),
        "questdb": _milliseconds(moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
        "tdengine": exact_ms(START * 1_000_000 + late_us * 1000, 1_000_000),
        "victoriametrics": samples('{{__name__=~"v",device="{device}"}}', [sample])[0][0],
    }
    wrong = {name for name, time in came.items() if difference(query, right, [(time, 1.5)])}
    assert wrong == (set(came) if late_us else set())


def test_a_numeric_of_postgresql_without_a_fraction_stays_whole():
    assert _plain(Decimal(2**63 + 1)) == 2**63 + 1
    assert _plain(Decimal("1.5")) == 1.5
