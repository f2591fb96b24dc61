"""Rows in the order of a value that is NULL in some: databases put them first, last, or by size, so none is compared."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scale_sweep.experiment.work.answers import difference, known_answer, right_answer
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.model.questions import Drawn, Query

START = 1_500_000_000_000
ROWS = [START + 1000 * number for number in range(4)]
ORDERED = Query(columns=("v",), when="range", by_value="v", limit=2)
DRAWN = Drawn(devices=(0,), from_ms=START, to_ms=START + 4000)


def held(values, kind=np.float64):
    return {0: TableRows(times=np.array(ROWS[: len(values)]), columns={"v": np.array(values, dtype=kind)})}


@pytest.mark.parametrize("kind", [np.float64, np.float32, object])
def test_an_order_of_nulls_is_not_compared(kind):
    null = None if kind is object else math.nan
    rows = held([3, null, 1, 2], kind)
    assert known_answer(ORDERED, DRAWN, rows) is None
    for limit in (0, 2):
        assert known_answer(Query(columns=("v",), when="range", limit=limit), DRAWN, rows) is not None
    assert known_answer(ORDERED, DRAWN, held([3, 4, 1, 2], kind)).cells() == [(ROWS[2], 1), (ROWS[3], 2)]


def test_the_greatest_of_aggregates_that_have_no_value_are_not_compared():
    values = {device: TableRows(times=np.array(ROWS[:1]), columns={"v": np.array([1.0])}) for device in range(3)}
    several = Drawn(devices=(0, 1, 2), from_ms=START, to_ms=START + 1000)
    top = replace(ORDERED, devices=3, function="rate", by_device=True, largest_first=True)
    assert known_answer(top, several, values) is None
    assert right_answer(top, several, values)


@pytest.mark.parametrize("place", [0, 1])
def test_a_null_that_came_where_none_is_right_is_named(place):
    right = right_answer(ORDERED, DRAWN, held([3, 4, 1, 2]))
    came = [(ROWS[2], 1.0), (ROWS[3], 2.0)]
    assert difference(ORDERED, right, came) == ""
    came[place] = (came[place][0], None)
    assert f"row {place + 1} of 2 is NULL" in difference(ORDERED, right, came)
