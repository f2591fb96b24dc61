"""The further functions of aggregates: their right values, what may differ from them, and who cannot be asked."""

import math
import statistics

import numpy as np
import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.experiment.work.answers import difference, is_nothing, right_answer
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.model import Drawn, Query
from scale_sweep.model.functions import FURTHER, PERCENTILE, is_function, percent_of, wants_number
from scale_sweep.server.targets import all_facts, load_facts
from tests.unit.test_reads import work_of

START = 1_500_000_000_000
VALUES = [1.0, 5.0, 3.0, 2.0, 4.0, 6.0, 4.0]


def held(values=VALUES, kind=np.float64):
    times = START + 10_000 * np.arange(len(values))
    return {0: TableRows(times=times, columns={"v": np.array(values, dtype=kind)})}


def right_of(function, values=VALUES, kind=np.float64, **more):
    query = Query(columns=("v",), function=function, **more)
    return query, right_answer(query, Drawn(devices=(0,), value=100.0), held(values, kind))


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
            query, right = right_of(function, kind=kind)
            assert right.cells() == [(pytest.approx(value, rel=1e-12),)], function
            assert difference(query, right, [(value,)]) == ""


@pytest.mark.parametrize(
    ("kind", "near", "far"), [(np.float32, 3e-6, 3e-5), (np.float64, 3e-10, 3e-9), (np.int64, 3e-10, 3e-9)]
)
@pytest.mark.parametrize("function", ["median", "p95", "stddev", "stddev_samp"])
def test_a_fraction_has_the_error_of_its_type(function, kind, near, far):
    value = right_of(function, [10, 13, 17, 29], kind)[1].row(0)[0]
    assert accepts(function, [10, 13, 17, 29], kind, value * (1 + near), value * (1 + far)) == [True, False]


def accepts(function, values, kind, *answers):
    query, right = right_of(function, values, kind)
    return [difference(query, right, [(value,)]) == "" for value in answers]


def test_digits_samples_and_ranks_are_told_apart():
    assert accepts("stddev", [1000.0] * 5, np.float64, 5e-12, 5e-11) == [True, False]
    assert accepts("stddev", [10.1] * 5, np.float32, 1e-6, 1e-5) == [True, False]
    assert accepts("stddev", range(1000), np.float64, statistics.stdev(range(1000))) == [False]
    assert accepts("p95", range(10), np.float64, 8.55, 8, 9) == [True, False, False]


def test_a_deviation_of_one_value():
    assert right_of("stddev", [7.0])[1].cells() == [(0.0,)]
    assert right_of("stddev_samp", [7.0])[1].cells() == [(None,)]
    query, right = right_of("stddev_samp", [1.0, 2.0, 7.0], bucket_ms=20_000)
    assert right.cells() == [(START, pytest.approx(math.sqrt(0.5))), (START + 20_000, None)]
    assert difference(query, right, [(START, math.sqrt(0.5)), (START + 20_000, None)]) == ""
    assert difference(query, right, [(START, math.sqrt(0.5)), (START + 20_000, 0.0)])


def test_a_rate_is_of_the_first_and_the_last_row():
    query, right = right_of("rate", [5.0, 1.0, 7.0, 9.0, 2.0], bucket_ms=20_000)
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
    right = right_answer(query, Drawn(devices=(0,), value=100.0), held())
    assert is_nothing(query, right)
    assert difference(query, right, came) == ""
    assert difference(query, right, [(1, None)]) and difference(query, right, [(0, 0.0)])


@pytest.mark.parametrize("target", [facts.name for facts in all_facts() if facts.queries])
@pytest.mark.parametrize("kind", FURTHER)
def test_a_database_has_a_function_or_says_why_not(target, kind):
    facts, function = load_facts(target), "p95" if kind == PERCENTILE else kind
    work = work_of("a", "a.kind=aggregate", f"a.function={function}", "a.column=voltage")
    if kind in facts.functions:
        assert kind not in facts.lacks
        assert facts.rendered(queries_of(work)["a"], work.data, facts.methods[0])
    else:
        assert facts.lacks[kind]
        with pytest.raises(CannotAsk) as refused:
            facts.rendered(queries_of(work)["a"], work.data, facts.methods[0])
        assert refused.value.message == facts.lacks[kind]
