"""The 15 queries of TSBS' use case devops: what they ask, their right answers, and what a database leaves out."""

from dataclasses import replace

import numpy as np
import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.experiment.work.answers import difference, only, right_answer, stretches, with_groups
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.model.questions import Drawn, Query
from scale_sweep.plan.target_defaults import complete, left_out
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.promql import rows_of
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep

MINUTE, START = 60_000, 1_451_606_400_000


def devops(**flags):
    return resolve_sweep("cpu", {"axis.cores": "1", "workload.name": "tsbs-devops", **flags})


def held(*values):
    """Rows of a device for each list of values, one a minute."""
    tables = {}
    for device, some in enumerate(map(np.array, values)):
        tables[device] = TableRows(times=START + MINUTE * np.arange(len(some)), columns={"a": some, "b": 10 * some})
    return tables


def refused_by(target, sweep, query):
    facts = load_facts(target)
    with pytest.raises(CannotAsk) as refused:
        facts.rendered(query, sweep.work.data, facts.methods[0])
    return str(refused.value)


OF_TSBS = {  # hosts, metrics, hours, the stretch of time in minutes, function: as in its source (0: all)
    **{f"single-groupby-{m}-{n}-{h}": (n, m, h, 1, "max") for m in (1, 5) for n, h in ((1, 1), (1, 12), (8, 1))},
    **{f"cpu-max-all-{n}": (n, 10, 8, 60, "max") for n in (1, 8)},
    **{f"double-groupby-{name}": (0, m, 12, 60, "avg") for name, m in (("1", 1), ("5", 5), ("all", 10))},
    **{f"high-cpu-{name}": (n, 10, 12, 0, "") for name, n in (("1", 1), ("all", 0))},
    "lastpoint": (0, 10, 0, 0, ""),
    "groupby-orderby-limit": (0, 1, 1, 1, "max"),
}
DEVOPS = tuple(OF_TSBS)


def test_its_queries_ask_for_what_those_of_tsbs_do_and_the_file_is_the_same():
    work = devops().work
    assert resolve_sweep("sweeps/tsbs-devops.toml", {}).work == work
    assert (work.data.start_ms, work.data.step_ms) == (START, 10_000)
    queries = queries_of(work)
    assert set(queries) == set(OF_TSBS) and len(OF_TSBS) == 15
    assert queries["lastpoint"].latest
    for name, (hosts, metrics, hours, minutes, function) in OF_TSBS.items():
        query = queries[name]
        assert (query.devices, query.function) == (hosts, function), name
        assert (query.span_ms, query.bucket_ms) == (hours * 60 * MINUTE, minutes * MINUTE), name
        assert query.columns == tuple(column.partition(":")[0] for column in work.data.columns)[:metrics], name
        bounds = (90, 90, "usage_user") if "high-cpu" in name else (0, 0, "")
        assert (query.low, query.high, query.bound_column) == bounds, name
        assert query.by_device is name.startswith("double-groupby"), name
        assert query.limit == (5 if name == "groupby-orderby-limit" else 0), name


def test_questdb_is_asked_for_all_devices_in_every_table_and_the_newest_stretches_need_only_their_rows():
    work, facts = devops().work, load_facts("questdb")
    texts = {name: facts.rendered(q, work.data, "http", 2) for name, q in queries_of(work).items()}
    each = 'SELECT timestamp, device, "usage_user" FROM "measurement_p{}" WHERE timestamp >= {{from}}000'
    assert all(each.format(part) in texts["double-groupby-1"] for part in (0, 1))
    assert "measurement_p2" not in texts["double-groupby-1"]
    assert texts["lastpoint"].count(") UNION ALL (") == 1
    assert "UNION" not in facts.rendered(queries_of(work)["double-groupby-1"], work.data, "http", 1)
    query = replace(queries_of(work)["groupby-orderby-limit"], columns=("a",), limit=2, bucket_ms=2 * MINUTE)
    for end in (7, 8):
        drawn = Drawn(devices=(0,), to_ms=START + end * MINUTE)
        ((device, first, count),) = stretches(query, drawn, work)
        assert device == 0 and (first + count) * work.data.step_ms == end * MINUTE and first > 0
        cells = right_answer(query, drawn, held(list(range(end)))).cells()
        assert cells == [(START + 6 * MINUTE, end - 1), (START + 4 * MINUTE, 5)]


def test_victoriametrics_is_asked_for_several_series_by_their_names(wording):
    sweep = devops()
    means = replace(queries_of(sweep.work)["single-groupby-5-8-1"], function="avg")
    wording(refused_by("victoriametrics", sweep, means))
    names = ("measurement_a", "measurement_b")
    found = [
        {"metric": {"__name__": name, "device": device}, "values": [(1.5, "1"), (2.5, value)]}
        for name, value in zip(names, "23", strict=True)
        for device in ("d0", "d1")
    ]
    text = f'avg_over_time({{{{__name__=~"{"|".join(names)}"}}}}[1h]) keep_metric_names'
    rows = [(1500, "d0", 1, 1), (1500, "d1", 1, 1), (2500, "d0", 2, 3), (2500, "d1", 2, 3)]
    assert rows_of(f"{text}&step=1000ms&nocache=1", found) == rows
    apart = [{**one, "metric": {"__name__": one["metric"]["__name__"]}} for one in found[::2]]
    together = f"max by (__name__) ({text})"
    assert rows_of(f"{together}&step=1000ms&nocache=1", apart) == [(1500, 1, 1), (2500, 2, 3)]
    assert rows_of(f"{together}&step=1&nocache=1", apart) == [(1, 1), (2, 3)]


def test_the_first_rows_in_an_order_and_their_ties(wording):
    query = Query(devices=2, columns=("a",), when="range", limit=3, by_value="a", largest_first=True)
    drawn = Drawn(devices=(0, 1), from_ms=START, to_ms=START + 4 * MINUTE)
    rows = held([4, 1, 3, 2], [2, 3, 1, 2])
    right = right_answer(query, drawn, rows)
    assert [row[1:] for row in right.cells()] == [(0, 4), (1, 3), (0, 3)]
    came = [right.row(number) for number in (0, 2, 1)]  # of equal values, either may come first
    assert difference(query, right, came) == ""
    wrong = [difference(query, right, came[::-1]), difference(query, right, came[:2])]
    fewer = replace(query, limit=2)
    right = right_answer(fewer, drawn, rows)
    assert len(right) == 3  # either of the last two
    assert difference(fewer, right, came[:2]) == difference(fewer, right, [came[0], came[2]]) == ""
    wrong += [difference(fewer, right, some) for some in (came[1:], [came[0]] * 2, [came[0], (START, 1, 2)])]
    late = replace(query, by_value="", largest_first=False, newest_first=True)
    right = right_answer(late, drawn, rows)
    assert difference(late, right, [right.row(number) for number in (1, 0, 3)]) == ""
    wording(*wrong, difference(late, right, [right.row(number) for number in (2, 0, 1)]))


def test_aggregates_of_each_device_and_of_each_value_of_a_tag_and_the_greatest_of_them():
    each = Query(devices=0, columns=("a", "b"), when="range", function="max", bucket_ms=2 * MINUTE, by_device=True)
    drawn = with_groups(each, Drawn(devices=(), from_ms=START, to_ms=START + 4 * MINUTE), [0, 0])
    assert drawn.devices == (0, 1)
    cells = right_answer(each, drawn, held([1, 2, 3, 4], [8, 7, 6, 5])).cells()
    assert [row[1:] for row in cells] == [(0, 2, 20), (1, 8, 80), (0, 4, 40), (1, 6, 60)]
    assert [row[0] - START for row in cells] == [0, 0, 2 * MINUTE, 2 * MINUTE]
    query = Query(devices=0, columns=("a",), when="range", function="sum", each_tag="region")
    drawn = with_groups(query, Drawn(devices=(), from_ms=START, to_ms=START + 2 * MINUTE), ["x", "y", "x"])
    assert only(drawn, {1, 2}) == replace(drawn, devices=(1, 2), groups=("y", "x"))
    rows = held([1, 2], [8, 7], [3, 4])
    right = right_answer(query, drawn, rows)
    assert right.cells() == [("x", 10), ("y", 15)]
    assert difference(query, right, [("y", 15), ("x", 10)]) == ""  # texts have another order elsewhere
    assert difference(query, right, [("x", 15), ("y", 10)])
    top = replace(query, limit=1, by_value="a", largest_first=True)
    assert right_answer(top, drawn, rows).cells() == [("y", 15)]
    timed = right_answer(replace(query, bucket_ms=MINUTE), drawn, rows).cells()
    assert timed == [(START, "x", 4), (START, "y", 8), (START + MINUTE, "x", 6), (START + MINUTE, "y", 7)]
    device = Query(devices=0, columns=("a",), when="range", function="max", by_device=True)
    assert right_answer(device, replace(drawn, groups=()), rows).cells() == [(0, 2), (1, 8), (2, 4)]
    assert only(Drawn(devices=(0, 1)), ()) == Drawn(devices=())


def test_what_a_database_cannot_answer_is_left_out_of_a_named_workload_only(wording):
    sweep, facts = devops(), load_facts("victoriametrics")
    kept = [one.name for one in complete(sweep, facts).work.operations]
    assert set(kept) == set(OF_TSBS) - {"groupby-orderby-limit"}
    wording(left_out(sweep, facts))
    for target in ("postgres", "tdengine", "questdb", "influxdb", "influxdb2"):
        assert left_out(sweep, load_facts(target)) == ""
    named = replace(sweep, origin={**sweep.origin, "mix": "flag"})
    with pytest.raises(Exception, match="operation groupby-orderby-limit: MetricsQL has no samples"):
        complete(named, facts)
    with pytest.raises(Exception, match="null cannot be read yet"):
        complete(sweep, load_facts("null"))


@pytest.mark.parametrize("target", ["victoriametrics", "kairosdb", "opentsdb", "iotdb", "cassandra", "tdengine"])
def test_iot_queries_run_with_what_each_database_can_answer(target):
    sweep = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": "iot-queries"})
    facts = load_facts(target)
    asked = {one.name for one in complete(sweep, facts).work.operations}
    for name, query in queries_of(sweep.work).items():
        if name in asked:
            assert facts.rendered(query, sweep.work.data, facts.methods[0])
        else:
            assert refused_by(target, sweep, query)
            assert name in left_out(sweep, facts)


def test_orders_and_groups_that_a_database_is_not_asked_for_are_refused(wording):
    refusals = []
    for target, kind in (
        ("cassandra", "range order=voltage limit=5"),
        ("kairosdb", "aggregate each=device top=2"),
        ("influxdb", "range order=voltage limit=5"),
        ("influxdb", "aggregate each=location top=2"),
        ("victoriametrics", "range limit=5"),
        ("victoriametrics", "aggregate each=location columns=current,phase"),
    ):
        operation = [f"a.{one}" for one in f"kind={kind}".split()]
        sweep = make_sweep(mix="a", operation=operation, preload__rows="1M", workload__step_ms="10000")
        refusals.append(refused_by(target, sweep, queries_of(sweep.work)["a"]))
    wording(*refusals)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (["aggregate.columns=voltage,current", "aggregate.column=voltage"], "columns names them already"),
        (["group_by_time.each=tag"], "each = tag: not device, groupid, location"),
        (["range.tagged=location"], "tagged = location: like TAG=VALUE"),
        (["range.tagged=place=here"], "TAG is one of groupid, location"),
        (["range.tagged=location=O'B"], "without quotes, braces"),
        (["range.tagged=groupid=3", "range.devices=2"], "devices are named already"),
        (["aggregate.top=3"], "top: of which groups"),
        (["range.order=name"], "order = name: not a column of numbers"),
        (["range.order=voltage"], "limit is missing: how many rows"),
        (["range.order=voltage up", "range.limit=3"], "order = voltage up: like voltage, or voltage desc"),
        (["group_by_time_limit.limit=0"], "limit = 0: 1 to 10,000"),
        (["aggregate.devices=all", "aggregate.function=first"], "all devices have rows at the same time"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(operation, words):
    mix = operation[0].partition(".")[0]
    with pytest.raises(Exception, match=words):
        make_sweep(mix=mix, operation=operation, preload__rows="1M", workload__step_ms="10000")
