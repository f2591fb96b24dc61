"""Operations that read: what a sweep says of them, what databases are asked, what is the right answer and what is not."""

import datetime
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from scale_sweep.base.errors import CannotAsk, UsageError
from scale_sweep.experiment.work import miscounted, queries_of, rate_of, spec_lines
from scale_sweep.experiment.work.answers import (
    counted,
    difference,
    draws,
    is_undecided,
    right_answer,
    stretches,
    with_groups,
)
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.experiment.work.drawn import as_text, from_text
from scale_sweep.judge.figures.counts_per_second import rated_intervals, requests_per_s
from scale_sweep.loadgen.verbs import Tables
from scale_sweep.measure.trial.answers import _times
from scale_sweep.model.declared import Work
from scale_sweep.model.loads import Interval
from scale_sweep.model.questions import Drawn, Query
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.cassandra import cassandra_queries as cassandra
from scale_sweep.server.targets.iotdb.iotdb_queries import cells_of
from scale_sweep.server.targets.kairosdb import kairosdb_queries as kairosdb
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.postgres.postgres_session import _plain
from scale_sweep.server.targets.promql import rows_of
from scale_sweep.server.targets.promql import rows_of as samples
from scale_sweep.server.targets.questdb.questdb_queries import timed
from scale_sweep.server.targets.questdb.questdb_session import milliseconds
from scale_sweep.server.targets.records import exact_ms
from scale_sweep.sweep.file import read_sweep_file
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep
from tests.unit.test_loadgen import summary as said

START = 1_500_000_000_000
DATA = {"workload.step_ms": "10000", "preload.rows": "100k", "workload.tables": "10"}


def work_of(mix: str, *operation: str, **flags: str) -> Work:
    given = {"axis.cores": "1", **DATA, "mix": mix, "operation": list(operation), **flags}
    return resolve_sweep("cpu", given).work


def asked_for(kind: str, given: str = "", **flags: str) -> Work:
    """Requests of one kind, with its parameters in words."""
    return work_of(kind, *(f"{kind}.{one}" for one in given.split()), **flags)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("range=0", "", "weights are 0"),
        ("write=1,range=0.0000001", "", "mix: weights of 1e-07"),
        ("rang", "", "mix: 'rang'"),
        ("a", "kind=b", "operation.a.kind: 'b'"),
        ("range", "spam=1", "operation.range.spam: range"),
        ("range", "span=0", "operation.range.span = 0"),
        ("range", "columns=amp", "no such column"),
        ("range", "devices=11", "operation.range.devices = 11"),
        ("range", "span=400h", "the 100000 s"),
        ("range", "step=7s", "the 10000 ms"),
        ("range_value", "", "operation.range_value.bound is missing"),
        ("range_value", "bound=2..1", "runs backwards"),
        ("range_value", "selectivity=10%", "law walk"),
        ("range_value", "selectivity=10", "selectivity = 10"),
        ("range_value", "selectivity=100%", "below 100%"),
        ("range_value", "selectivity=9% bound=9", "there already"),
        ("range_value", "bound=9 side=beside", "side = beside"),
        ("range_value", "bound=9 side=between", "LOW..HIGH"),
        ("range_value", "bound=9 where=voltage=220", "where = voltage=220"),
        ("range_value", "bound=9 where=amp<1", "column of numbers"),
        ("range_value", "bound=9 where=voltage<x", "where: 'x'"),
        ("aggregate", "function=mode", "function = mode"),
        ("aggregate", "function=p100", "p1 to p99"),
        ("aggregate", "functions=avg,percentile", "functions = percentile"),
        ("aggregate", "functions=avg,max function=min", "functions names"),
        ("aggregate", "functions=max,last devices=2", "function = last"),
        ("aggregate", "function=first devices=2", "one device"),
        ("sql", "", "operation.sql.text is missing"),
        ("sql", "text={x}", "{x} is not"),
        ("set", "of=minus", "operation.set.of = minus"),
        ("scan_tag", "tag=location", "tag = location"),
        ("group_by_tag", "fraction=2", "fraction = 2"),
        ("aggregate_tag", "function=last", "same time"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_starts(kind, given, words):
    with pytest.raises(UsageError) as refused:
        asked_for(kind, given)
    assert words in refused.value.message
    assert len(refused.value.message.splitlines()) == 1


RANDOM = {"workload.values": "random"}


@pytest.mark.parametrize(
    ("kind", "given", "flags", "words"),
    [
        ("aggregate", "column=name", {"workload.columns": "name:binary(9)"}, "name .* avg"),
        ("aggregate", "functions=count,p9 column=name", {"workload.columns": "name:binary(9)"}, "name .* p9"),
        ("scan_tag", "", {"workload.tag_columns": "place:int"}, "place:int"),
        ("range_value", "selectivity=0.1% bound_column=voltage", RANDOM, "131 .* 0.100% are 0"),
        ("range", "", {"preload.rows": "0"}, "preload: nothing"),
        ("range", "", {"load.rows": "1000"}, "--rows: fixed work"),
        (",".join(f"a{i}" for i in range(129)), "", {}, "mix: 129 operations"),
    ],
)
def test_what_the_data_or_the_load_do_not_have_is_named(kind, given, flags, words):
    with pytest.raises(UsageError, match=words):
        asked_for(kind, given, **flags)


def test_a_file_and_flags_say_the_same_mix(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(
        'mix = { write = 9, hourly = 1 }\npreload = { rows = "100k" }\n[axis]\ncores = "1"\n'
        '[workload]\ntables = 10\nstep_ms = 10000\n[operation.hourly]\nkind = "group_by_time"\nspan = "4h"\n'
    )
    by_file = resolve_sweep(str(path), {}).work
    assert by_file == work_of("write=9,hourly=1", "hourly.kind=group_by_time", "hourly.span=4h")
    assert [(o.name, o.kind_name, o.weight, o.unit) for o in by_file.operations] == [
        ("write", "write", 9.0, "rows"),
        ("hourly", "group_by_time", 1.0, "requests"),
    ]
    assert read_sweep_file(path)["mix"] == "write=9,hourly=1"


def test_named_workloads_are_defaults_that_flags_override():
    named = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": "iot-queries", "workload.tables": "50"})
    assert (named.work.data.tables, named.work.preload_rows) == (50, 10**6)
    assert "range" in {o.name for o in named.work.operations}
    assert "rate of requests" in named.question
    searched = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": "iot-queries", "load.slo": "p99 < 20ms"})
    assert "highest rate" in searched.question
    assert make_sweep().work == Work(data=make_sweep().work.data)


@pytest.mark.parametrize(
    ("mix", "lines"),
    [
        ("write=9,range=1", "write:9,range:1"),
        ("write=0.1,range=1", "write:1,range:10"),
        ("write=8,range=2", "write:8,range:2"),
    ],
)
def test_what_is_fitted_told_and_counted(mix, lines):
    work, writing = work_of(mix), make_sweep().work
    assert (rate_of(work, durable=True).field, rate_of(writing, durable=False).field) == (
        "requests_per_s",
        "rows_per_s",
    )
    told = {name: spec_lines(work)[name] for name in ("operations", "rows_present", "ask.range.span_ms")}
    assert told == {"operations": lines, "rows_present": "10000", "ask.range.span_ms": "3600000"}
    assert "operations" not in spec_lines(writing)
    assert miscounted(work_of("range"), 0, 100_000) == miscounted(writing, 5, 5) == ""
    assert miscounted(work_of("range"), 0, 99_999)


@pytest.mark.parametrize(
    ("kind", "given", "empty"),
    [
        ("aggregate", "function=count", "zero"),
        ("aggregate", "function=max", "null"),
        ("aggregate", "functions=max,count_distinct", "zero"),
        ("range", "", None),
        ("group_by_time", "", None),
    ],
)
def test_which_answer_of_an_aggregate_is_empty_and_groups_are_drawn_whole(kind, given, empty):
    assert spec_lines(asked_for(kind, given)).get(f"ask.{kind}.empty") == empty
    lines = spec_lines(asked_for("aggregate_tag", "fraction=0.3"))
    assert [lines[f"ask.aggregate_tag.value_{end}"] for end in ("low", "high", "step")] == ["1", "8", "1"]


@pytest.mark.parametrize(
    ("target", "kind", "given", "words"),
    [
        ("questdb tcp", "range", "", "--method tcp"),
        ("tdengine", "set", "of=except", "no EXCEPT"),
        ("cassandra", "set", "", "no UNION"),
        ("cassandra", "group_by_tag", "", "primary key"),
        ("cassandra", "aggregate_tag", "bucket=10m", "by themselves"),
        ("cassandra", "group_by_time", "devices=2", "by themselves"),
        ("cassandra", "range_value", "bound=9..11 bound_column=voltage side=below", "whole number"),
        ("victoriametrics put", "range", "", "--method put"),
        ("victoriametrics", "set", "", "no UNION"),
        ("victoriametrics", "range_desc", "", "newest first"),
        ("victoriametrics", "group_by_time", "", "begin and end"),
        ("victoriametrics", "group_by_time", "step=10m span=65m", "begin and end"),
        ("victoriametrics", "aggregate_value", "bound=9", "too many"),
        ("victoriametrics", "aggregate_value", "bound=9 bound_column=voltage", "the aggregate"),
        ("victoriametrics", "group_by_tag", "fraction=0.2", "texts only"),
        ("victoriametrics", "aggregate_tag", "bucket=10m", "stretches of time"),
        ("victoriametrics", "range_value", "bound=9 span=100h", "30,000 moments"),
        ("iotdb", "set", "", "no UNION"),
        ("iotdb", "scan_tag", "", "no tags"),
        ("iotdb", "range_value", "bound=1..2 bound_column=voltage", "whole number"),
        ("iotdb", "group_by_time", "", "the range"),
        ("iotdb", "aggregate", "devices=2", "by itself"),
        ("kairosdb", "set", "", "no UNION"),
        ("kairosdb", "scan_tag", "", "as texts"),
        ("kairosdb", "range", "devices=2", "each column"),
        ("kairosdb", "latest", "devices=2 columns=current", "devices together"),
        ("kairosdb", "range_value", "bound=9", "by itself"),
        ("kairosdb", "aggregate", "function=spread", "no spread"),
        ("kairosdb", "group_by_time", "", "the range"),
        ("kairosdb", "group_by_time_desc", "step=10m", "oldest first"),
        ("opentsdb", "set", "", "UNION"),
        ("opentsdb", "latest", "", "writing"),
        ("opentsdb", "range_desc", "", "oldest"),
        ("opentsdb", "range_value", "bound=9", "values"),
        ("opentsdb", "range", "devices=2", "again"),
        ("opentsdb", "range", "span=1ms", "millisecond"),
        ("opentsdb", "aggregate", "function=spread", "spread"),
        ("opentsdb", "aggregate", "devices=2", "avg"),
        ("opentsdb", "group_by_tag", "", "avg"),
        ("opentsdb", "group_by_tag", "fraction=0.2 function=sum", "texts"),
        ("opentsdb", "group_by_time", "", "whole stretches"),
    ],
)
def test_what_a_database_cannot_be_asked_is_refused(target, kind, given, words):
    work = asked_for(kind, given, **({"preload.rows": "1M"} if "100h" in given else {}))
    name, _, method = target.partition(" ")
    with pytest.raises(CannotAsk, match=words):
        load_facts(name).rendered(queries_of(work)[kind], work.data, method or load_facts(name).methods[0])


def test_which_answers_of_questdb_begin_with_a_time():
    work = every()
    for name, query in queries_of(work).items():
        for many in (query, replace(query, devices=3)):
            is_timed = not query.function or bool(query.bucket_ms)
            assert timed(load_facts("questdb").rendered(many, work.data, "http")) is is_timed, name


def test_methods_on_the_port_of_victoriametrics_ask_the_same():
    rendered, asked = load_facts("victoriametrics").rendered, queries_of(every())["range"]
    assert len({rendered(asked, every().data, method) for method in ("http", "gzip", "remote-write", "import")}) == 1


def test_cassandra_stores_the_tags_of_each_device_once():
    data = replace(every().data, tags=("groupid:int", "area:binary(8)", "shape:geometry"), columns=("v:float",))
    columns = 'device text, ts timestamp, "groupid" int STATIC, "area" text STATIC, "v" float'
    assert cassandra.table(data) == f"CREATE TABLE scale.measurement ({columns}, PRIMARY KEY (device, ts))"
    assert list(cassandra.indexes(data)) == ["CREATE INDEX ON scale.measurement (\"groupid\") USING 'sai'"]
    names = tuple(f"d{i}" for i in range(cassandra.DEVICES + 1))
    cells = {"groupid": tuple("7" for _ in names), "area": tuple("O'B" for _ in names), "shape": names}
    first, rest = cassandra.tag_batches(data.tags, Tables(names=names, tags=cells))
    row = f"INSERT INTO scale.measurement (device, \"groupid\", \"area\") VALUES ('{names[-1]}', 7, 'O''B');"
    assert rest == f"BEGIN UNLOGGED BATCH {row} APPLY BATCH"
    assert first.count("INSERT") == cassandra.DEVICES


def test_cassandra_says_0_of_nothing_so_that_the_rows_are_counted_too():
    kind, texts = "aggregate_range_value", {}
    for function in ("avg", "max"):
        work = asked_for(kind, f"bound=9 function={function}")
        texts[function] = load_facts("cassandra").rendered(queries_of(work)[kind], work.data, "batch")
    counting = f"SELECT count(ts) FROM{texts['avg'].partition(' FROM')[2]}"
    assert [cassandra.counting(texts[name]) for name in ("avg", "max")] == [counting, ""]
    assert cassandra.bound_column(texts["max"]) == "current"


def test_cells_of_iotdb_have_their_types_and_devices():
    work = work_of("range,latest,aggregate", "range.devices=2", "latest.devices=2")
    texts = {n: load_facts("iotdb").rendered(q, work.data, "tablet") for n, q in queries_of(work).items()}
    kinds, device = {"current": "float", "voltage": "int", "phase": "bool"}, "root.scale.d1"
    assert cells_of(texts["latest"], [[device, 1500, 1.5, 2, "true"]], kinds) == ((1500, device, 1.5, 2, True),)
    assert cells_of(texts["range"], [[1, device, 1.5, None, "false"]], kinds) == ((1, device, 1.5, None, False),)
    assert cells_of(texts["aggregate"], [[2.5]], kinds) == ((2.5,),)


def test_points_of_kairosdb_become_rows():
    def one(name, device, *values):
        return {"name": f"measurement_{name}", "tags": {"device": [device]}, "values": list(values)}

    def asked(kind, given=""):
        work = asked_for(kind, given)
        text = load_facts("kairosdb").rendered(queries_of(work)[kind], work.data, "datapoints")
        return filled(text, Drawn(devices=(1, 0), from_ms=10, to_ms=20, value=0.5), ["d0", "d1"], str)

    def rows_of_points(text, *queries):
        return kairosdb.rows_of(text, [{"results": list(results)} for results in queries])

    text = asked("range_desc", "columns=current,voltage")
    assert '"start_absolute":10,"end_absolute":19' in text and text.count('["d1"]') == 2
    current, voltage = one("current", "d1", [12, 2.5], [11, 1.5]), one("voltage", "d1", [12, 7])
    assert rows_of_points(text, [current], [voltage]) == ((12, 2.5, 7), (11, 1.5, None))
    both = [one("current", "d1", [11, 1.5]), one("current", "d0", [11, 2.5])]
    assert rows_of_points(asked("range", "columns=current devices=2"), both) == ((11, "d0", 2.5), (11, "d1", 1.5))
    found = [one("current", "d1", [11, 1.5], [12, 2.5])]
    assert rows_of_points(asked("aggregate"), found) == ((1.5,), (2.5,))
    assert rows_of_points(asked("group_by_time", "step=10m"), found) == ((11, 1.5), (12, 2.5))
    assert rows_of_points(asked("aggregate"), [one("current", "d1")]) == ()


def test_samples_of_victoriametrics_become_rows():
    def one(name, device, *samples):
        return {"metric": {"__name__": name, "device": device}, "values": samples}

    text = '{{__name__=~"measurement_a|measurement_b",device=~"{device}|{device}"}}'
    found = [one("measurement_b", "d1", (1.5, "7")), one("measurement_a", "d1", (1.5, "0.5"), (2.5, "2"))]
    assert rows_of(text, found) == [(1500, "d1", 0.5, 7), (2500, "d1", 2, None)]
    latest = [*found[:1], one("measurement_a", "d1", (1.5, "2")), one("time", "d1", (1.5, "1500000000.25"))]
    assert rows_of(text.replace("=~", "=", 2).replace("__=", "__=~"), latest) == [(1500000000250, 2, 7)]
    groups = [{"metric": {"g": g}, "values": [(1.0, "3")]} for g in ("10", "2")]
    assert rows_of("sum by (g) (x)&step=1", groups) == [(2, 3), (10, 3)]
    buckets = [{"metric": {}, "values": [(600, "1.5"), (1200, "2")]}]
    assert rows_of("max_over_time(x)&step=600000ms", buckets) == [(600_000, 1.5), (1_200_000, 2)]
    assert rows_of("max_over_time(x)&step=1", buckets) == [(1.5,), (2,)]


def every() -> Work:
    values = ("range_value", "range_value_desc", "aggregate_value", "aggregate_range_value")
    plain = "point,range,range_desc,latest,aggregate,group_by_time,group_by_time_desc"
    return work_of(f"{plain},{','.join(values)}", *(f"{name}.bound=9..11" for name in values))


@pytest.mark.parametrize(
    ("text", "drawn", "filled_in"),
    [
        (
            "{device} {again} {device} {from}..{to} {value} {{x}} {again}",
            Drawn(devices=(3, 1), from_ms=1, to_ms=2, value=0.5),
            "d d b 1..2 0.5 {x} b",
        ),
        ("{from} {until} {to}", Drawn(devices=(), from_ms=10, to_ms=20), "10 19 20"),
        ("{value} {value}", Drawn(devices=(), value=4.0), "4 4"),
    ],
)
def test_marks_are_filled_and_braces_kept(text, drawn, filled_in):
    assert filled(text, drawn, ["a", "b", "c", "d"], str) == filled_in


@pytest.mark.parametrize(("devices", "right"), [((3, 1), "p1 d p1 b p1 b"), ((2, 1), "p0 c p1 b p1 b")])
def test_a_part_is_that_of_the_device_behind_it_or_of_the_last(devices, right):
    text = "p{part} {device} p{part} {device} p{part} {again}"
    assert filled(text, Drawn(devices=devices), ["a", "b", "c", "d"], str, lambda device: device % 2) == right


def rows(count: int = 6, first: int = 0) -> TableRows:
    times = START + 10_000 * np.arange(first, first + count)
    values = np.array([1.0, 5.0, 3.0, 2.0, 4.0, 6.0][:count])
    return TableRows(times=times, columns={"v": values})


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ({"function": "avg"}, [(3.5,)]),
        ({"function": "count"}, [(6,)]),
        ({"function": "spread"}, [(5.0,)]),
        ({"function": "last"}, [(6.0,)]),
        ({"function": "sum", "bound_column": "v"}, [(15.0,)]),
        ({"function": "max", "bucket_ms": 30_000}, [(START, 5.0), (START + 30_000, 6.0)]),
        (
            {"bound_column": "v", "newest_first": True},
            [(START + 50_000, 6.0), (START + 40_000, 4.0), (START + 10_000, 5.0)],
        ),
    ],
)
def test_the_right_answer(asked, right):
    query = Query(columns=("v",), **asked)
    found = right_answer(query, Drawn(devices=(0,), value=3.5), {0: rows()})
    assert found.cells() == right
    assert difference(query, found, right) == ""


def test_rows_of_several_devices_are_ordered_by_time():
    query = Query(devices=2, columns=("v",))
    right = right_answer(query, Drawn(devices=(7, 2)), {7: rows(2), 2: rows(2)})
    first, second, third, fourth = right.cells()
    assert right.cells() == [(START, 2, 1.0), (START, 7, 1.0), (START + 10_000, 2, 5.0), (START + 10_000, 7, 5.0)]
    assert difference(query, right, [second, first, fourth, third]) == ""  # at one time either may come first


@pytest.mark.parametrize(
    ("came", "words"),
    [
        ([(START, 1.0)], "1 rows came"),
        ([(START + 10_000, 5.0), (START, 1.0)], "oldest first"),
        ([(START, 1.0), (START + 10_000, 5.1)], "(1500000010000, 5.1), right is (1500000010000, 5)"),
        ([(START, 1.0), (START + 10_001, 5.0)], "row 2"),
        ([(START, 1.0), (START + 10_000, None)], "row 2"),
    ],
)
def test_what_is_not_right_is_said(came, words):
    query = Query(columns=("v",), when="range")
    assert words in difference(query, right_answer(query, Drawn(devices=(0,)), {0: rows(2)}), came)


@pytest.mark.parametrize(("function", "empty", "wrong"), [("avg", None, 0.0), ("count", 0, 1)])
def test_an_aggregate_of_nothing_may_be_no_row_or_nothing(function, empty, wrong):
    query = Query(columns=("v",), function=function, bound_column="v")
    right = right_answer(query, Drawn(devices=(0,), value=100.0), {0: rows()})
    assert difference(query, right, []) == difference(query, right, [(empty,)]) == ""
    assert difference(query, right, [(wrong,)])


GROUP_OF = (4, 1, 4, 2)


@pytest.mark.parametrize(
    ("groups", "value", "devices"), [(1, 4.0, (0, 2)), (2, 1.0, (1, 3)), (2, 2.0, (3,)), (0, 1.0, (0, 1, 2, 3))]
)
def test_devices_of_groups(groups, value, devices):
    drawn = with_groups(Query(tag="g", groups=groups), Drawn(devices=(), value=value), GROUP_OF)
    assert drawn.devices == devices
    assert drawn.groups == tuple(GROUP_OF[device] for device in devices)


def test_aggregates_and_rows_of_groups():
    held = {0: rows(2), 1: rows(3), 2: rows(1), 3: rows(2, first=10)}
    drawn = with_groups(Query(tag="g"), Drawn(devices=()), GROUP_OF)
    by_tag = Query(tag="g", by_tag=True, columns=("v",), function="sum")
    right = right_answer(by_tag, drawn, held)
    assert right.cells() == [(1, 9.0), (2, 6.0), (4, 7.0)]
    assert difference(by_tag, right, [right.row(1), right.row(0), right.row(2)])  # groups are ordered
    scan = Query(tag="g", columns=("v",))
    right = right_answer(scan, drawn, held)
    assert len(right) == 8 and right.first(2).cells() == [(START, 0, 1.0), (START, 1, 1.0)]
    assert difference(scan, right, right.cells()[::-1]) == ""  # rows of a group are not
    none = right_answer(Query(tag="g", groups=1, columns=("v",), function="count"), Drawn(devices=()), {})
    assert none.cells() == [(0,)]


@pytest.mark.parametrize(("sets", "kept"), [("union", range(6)), ("intersect", (2, 3)), ("except", (0, 1))])
def test_a_set_of_two_ranges_that_share_a_third(sets, kept):
    query = Query(columns=("v",), when="range", sets=sets, span_ms=60_000)
    drawn = Drawn(devices=(0,), from_ms=START, to_ms=START + 60_000)
    assert [(row[0] - START) // 10_000 for row in right_answer(query, drawn, {0: rows()}).cells()] == list(kept)


@pytest.mark.parametrize(
    ("values", "bound", "undecided"),
    [
        ([1.0, 3.0, 5.0], 3.5, False),
        ([1.0, 3.0, 5.0], 3.0, True),
        ([1.0, 3.0, 5.0], 3.0 + 1e-7, True),
        ([1.0, 3.0, 5.0], 3.0 + 1e-5, False),
        (np.array([89, 90, 91], dtype=np.int8), 90.0, False),
        (np.array([89, 90, 91], dtype=np.int8), 90.0 + 1e-6, True),
        (np.array([89, 90, 91], dtype=np.int8), 90.5, False),
    ],
)
def test_a_bound_at_a_value_decides_nothing_but_of_whole_numbers(values, bound, undecided):
    held = {0: TableRows(times=START + np.arange(3), columns={"v": np.asarray(values)})}
    assert is_undecided(Query(columns=("v",), bound_column="v"), Drawn(devices=(0,), value=bound), held) is undecided
    assert not is_undecided(Query(columns=("v",)), Drawn(devices=(0,), value=bound), held)


def test_rows_above_the_bound_are_counted_before_they_are_aggregated():
    query, drawn = Query(devices=2, columns=("v",), function="avg", bound_column="v"), Drawn(devices=(0, 1), value=2.5)
    held = {0: rows(), 1: rows(3)}
    assert (counted(query, drawn, held), counted(replace(query, bound_column=""), drawn, held)) == ((9, 6), (0, 0))


@pytest.mark.parametrize(
    ("side", "bounds"),
    [("above", ((">", 227.0),)), ("below", (("<", 123.0),)), ("between", ((">", 168.0), ("<", 182.0)))],
)
def test_a_selectivity_is_a_bound_of_the_columns_law(side, bounds):
    asked = f"selectivity=10% bound_column=voltage side={side}"
    work = asked_for("range_value", asked, **RANDOM)
    query = queries_of(work)["range_value"]
    assert (query.bound_column, query.low) == ("voltage", query.high)
    assert spec_lines(work)["ask.range_value.value_low"] == f"{query.low:g}"
    assert tuple((one.sign, one.value) for one in query.compared(query.low)) == bounds


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("bound=3.5", [5.0, 4.0, 6.0]),
        ("bound=3.5 side=below", [1.0, 3.0, 2.0]),
        ("bound=1.5..4.5 side=between", [3.0, 2.0, 4.0]),
        ("bound=1.5 where=current<5.5,phase>0.5", [5.0, 3.0]),
    ],
)
def test_rows_within_bounds(given, kept):
    query = replace(queries_of(asked_for("range_value", given))["range_value"], columns=("current",))
    held = {0: replace(rows(), columns={"current": rows().columns["v"], "phase": np.array([1.0, 1, 1, 0, 0, 0])})}
    drawn = Drawn(devices=(0,), value=query.low)
    assert [row[1] for row in right_answer(query, drawn, held).cells()] == kept
    assert counted(query, drawn, held) == (6, len(kept))
    near = replace(held[0], columns={**held[0].columns, "current": np.full(6, 4.5)})
    assert is_undecided(query, drawn, {0: near}) == ("side=between" in given)


def test_draws_lie_within_the_data_on_their_steps_and_differ_between_trials():
    work = asked_for("range", "span=1h step=30s recent=2h devices=3")
    query = queries_of(work)["range"]
    end = work.data.start_ms + work.rows_present * work.data.step_ms
    for drawn in draws(query, work, 50, seed=7):
        assert (drawn.from_ms - work.data.start_ms) % 30_000 == 0
        assert end - 7_200_000 <= drawn.from_ms <= drawn.to_ms - 3_600_000
        assert drawn.to_ms <= end
        assert len(set(drawn.devices)) == 3
        assert [count for _, _, count in stretches(query, drawn, work)] == [360] * 3
    work = work_of("range", **{"workload.tables": "100"})
    query = queries_of(work)["range"]
    one, other = (draws(query, work, 20, 7, place) for place in (0, 20))
    assert not {d for drawn in one for d in drawn.devices} & {d for drawn in other for d in drawn.devices}
    assert [drawn.from_ms for drawn in one] != [drawn.from_ms for drawn in other]


def test_requests_are_counted_where_the_load_reads():
    interval, summary = Interval(**dict.fromkeys(Interval.__dataclass_fields__)), said([1000] * 20)
    reading, writing = work_of("write,range"), make_sweep().work
    told_each = replace(interval, rows=900, requests=11, operations={"write": 9, "range": 1})
    (read,), (wrote,) = (rated_intervals([told_each], work) for work in (reading, writing))
    assert (read.count, read.unit, read.rows, read.requests) == (10, "requests", 900, 10)
    assert (wrote.count, wrote.unit, wrote.rows, wrote.requests) == (900, "rows", 900, 10)
    (only,) = rated_intervals([told_each], work_of("range"))
    assert (only.count, only.rows) == (10, None)
    assert rated_intervals([told_each], writing, is_answered=False)[0].requests is None
    rates = (requests_per_s(summary, writing), requests_per_s(summary, reading))
    assert rates[0] == rates[1] == summary.service.count / summary.window_s


@pytest.mark.parametrize(
    ("mix", "flags", "trials"), [("range", {}, 1), ("point,latest", {"workload.tables": "900"}, 3)]
)
def test_the_questions_of_a_sweep_ask_for_every_device(mix, flags, trials):
    work = work_of(mix, **{"preload.rows": "900k", **flags})
    queries = queries_of(work)
    times = _times(queries.values(), work)
    asked, place = [], 0
    for _ in range(trials):
        for query in queries.values():
            asked += [device for one in draws(query, work, times, 7, place) for device in one.devices]
            place += times * query.devices
    assert set(asked) == set(range(work.data.tables))
    assert max(asked.count(device) for device in set(asked)) <= -(-len(asked) // work.data.tables)


@pytest.mark.parametrize(("devices", "text"), [((), ""), ((3,), "3"), ((7, 0, 1, 2, 2), "0-2,7")])
def test_devices_as_text(devices, text):
    assert as_text(devices) == text
    assert from_text(text) == set(devices)


BIG = 1_000_000_004


def held_rows(values, kind):
    times = START + 10 * np.arange(len(values))
    return {0: TableRows(times=times, columns={"v": np.array(values, dtype=kind)})}


def wrong(function, values, kind, came):
    query = Query(columns=("v",), function=function)
    return difference(query, right_answer(query, Drawn(devices=(0,)), held_rows(values, kind)), [(came,)])


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
    assert wrong("sum", [1e6, -1e6, 0.5], np.float32, 0.5 + 1e-3) == ""  # the error is that of the numbers
    assert wrong("avg", [3, -3, 0], np.int64, 1e-12) == ""
    query = Query(columns=("v",))
    right = right_answer(query, Drawn(devices=(0,)), held_rows([value], kind))
    assert difference(query, right, [(START, held * (1 + near))]) == ""
    assert difference(query, right, [(START, held * (1 + far))])


def test_nulls_are_in_no_aggregate_and_are_not_numbers():
    assert wrong("avg", [1.0, np.nan, 3.0], np.float64, 2.0) == ""
    query = Query(columns=("v",))
    right = right_answer(query, Drawn(devices=(0,)), held_rows([1.0, np.nan], np.float64))
    assert difference(query, right, [(START, 1.0), (START + 10, None)]) == ""
    assert "row 2" in difference(query, right, [(START, 1.0), (START + 10, 0.0)])
    assert "row 1" in difference(query, right, [(START, None), (START + 10, None)])


@pytest.mark.parametrize("late_us", [0, 1, 500, 999])
def test_a_time_below_a_millisecond_is_kept_by_every_session_that_gets_one(late_us):
    query = Query(columns=("v",))
    right = right_answer(query, Drawn(devices=(0,)), held_rows([1.5], np.float64))
    moment = datetime.datetime.fromtimestamp(START / 1000, datetime.UTC) + datetime.timedelta(microseconds=late_us)
    sample = {"metric": {"__name__": "v", "device": "d"}, "values": [(START / 1000 + late_us / 1e6, "1.5")]}
    came = {
        "postgres": _plain(moment),
        "questdb": milliseconds(moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
        "tdengine": exact_ms(START * 1_000_000 + late_us * 1000, 1_000_000),
        "victoriametrics": samples('{{__name__=~"v",device="{device}"}}', [sample])[0][0],
    }
    wrong = {name for name, time in came.items() if difference(query, right, [(time, 1.5)])}
    assert wrong == (set(came) if late_us else set())
    assert (_plain(Decimal(2**63 + 1)), _plain(Decimal("1.5"))) == (2**63 + 1, 1.5)
