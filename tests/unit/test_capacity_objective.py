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
    ("texts", "named"),
    [
        (("p99 > 20ms", "p99 <= 20ms"), "upper limit"),
        (("p42 < 20ms", "q99 < 20ms"), "is none of"),
        (("p99 < 20", "p99 < 20m", "p99 <", "p99 < -1ms", "p99 < nan"), "with its unit"),
        (("p99 < 0ms",), "more than 0"),
        (("errors < 3",), "share of the requests"),
        (("errors < 0%", "errors < 100%"), "percentage"),
        (("write.errors < 1%",), "all operations together"),
        (("p99 < 5ms, p99 < 6ms",), "two limits"),
        (("p99 < 5ms,", "fast", ""), "not a condition"),
    ],
)
def test_what_is_no_objective_is_refused_with_its_condition(texts, named):
    for text in texts:
        with pytest.raises(ValueError, match=named):
            parse_objective(text)


@pytest.mark.parametrize(
    ("text", "count"), [("p50 < 1ms", 20), ("p99 < 1ms, errors < 1%", 1000), ("p99 < 1ms, p999 < 1s", 10_000)]
)
def test_a_percentile_needs_its_requests(text, count):
    assert requests_needed(parse_objective(text)) == count


@pytest.mark.parametrize(("p99", "p50", "ratio"), [(10.0, 0.9, 0.9), (40.0, 0.9, 2.0), (10.0, None, None)])
def test_the_condition_furthest_from_holding_counts(p99, p50, ratio):
    objective = parse_objective("p99 < 20ms, p50 < 1ms, errors < 1%")
    found = excess_of(objective, {"p99": p99, "p50": p50, "errors": 0.0})
    assert found == (pytest.approx(math.log(ratio)) if ratio else None)
