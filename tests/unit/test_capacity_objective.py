"""The text of an objective: what is read, what is refused, and how far a step is from it."""

import math

import pytest

from scale_sweep.capacity import excess_of, parse_objective, requests_needed
from scale_sweep.model import Clause


def test_conditions_are_read():
    clauses = parse_objective("p99 < 20ms, p99.9<0.1s , range.p50 < 500us, errors < 0.1%").clauses
    assert clauses == (
        Clause(quantity="p99", limit=20.0),
        Clause(quantity="p999", limit=100.0),
        Clause(quantity="p50", limit=0.5, operation="range"),
        Clause(quantity="errors", limit=0.1),
    )
    assert parse_objective("range.p99 < 5ms").words == "range.p99 < 5 ms"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("p99 > 20ms", "upper limit"),
        ("p99 <= 20ms", "upper limit"),
        ("p42 < 20ms", "p42 is none of"),
        ("q99 < 20ms", "q99 is none of"),
        ("p99 < 20", "with its unit"),
        ("p99 < 20m", "with its unit"),
        ("p99 <", "with its unit"),
        ("p99 < 0ms", "more than 0"),
        ("p99 < -1ms", "with its unit"),
        ("p99 < nan", "with its unit"),
        ("errors < 3", "share of the requests"),
        ("errors < 0%", "percentage"),
        ("errors < 100%", "percentage"),
        ("write.errors < 1%", "all operations together"),
        ("p99 < 5ms, p99 < 6ms", "two limits"),
        ("p99 < 5ms,", "not a condition"),
        ("fast", "not a condition"),
        ("", "not a condition"),
    ],
)
def test_what_is_no_objective_is_refused_with_its_condition(text, named):
    with pytest.raises(ValueError, match=named):
        parse_objective(text)


def test_a_percentile_needs_its_requests():
    assert requests_needed(parse_objective("p50 < 1ms")) == 20
    assert requests_needed(parse_objective("p99 < 1ms, errors < 1%")) == 1000
    assert requests_needed(parse_objective("p99 < 1ms, p999 < 1s")) == 10_000


def test_the_condition_furthest_from_holding_counts():
    objective = parse_objective("p99 < 20ms, p50 < 1ms, errors < 1%")
    assert excess_of(objective, {"p99": 10.0, "p50": 0.9, "errors": 0.0}) == pytest.approx(math.log(0.9))
    assert excess_of(objective, {"p99": 40.0, "p50": 0.9, "errors": 0.0}) == pytest.approx(math.log(2))
    assert excess_of(objective, {"p99": 10.0, "p50": None, "errors": 0.0}) is None
