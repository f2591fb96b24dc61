"""Operations that read: what a sweep says of them, what databases are asked, what is the right answer and what is not."""

from dataclasses import replace

import numpy as np
import pytest

from scale_sweep.base.errors import CannotAsk, UsageError
from scale_sweep.experiment.work import miscounted, queries_of, rate_of, spec_lines
from scale_sweep.experiment.work.answers import difference, draws, right_answer, stretches, with_groups
from scale_sweep.experiment.work.columns import TableRows
from scale_sweep.experiment.work.devices import as_text, from_text
from scale_sweep.experiment.work.filters import counted, is_undecided
from scale_sweep.judge.figures.rated import rated_intervals, requests_per_s
from scale_sweep.loadgen.rows import Tables
from scale_sweep.measure.trial.answers import _times
from scale_sweep.model import Drawn, Interval, Operation, Query, Work
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.cassandra import queries as cassandra
from scale_sweep.server.targets.cassandra import schema
from scale_sweep.server.targets.iotdb.queries import cells_of
from scale_sweep.server.targets.kairosdb import queries as kairosdb
from scale_sweep.server.targets.marks import filled
from scale_sweep.server.targets.promql.answers import rows_of
from scale_sweep.server.targets.questdb.queries import timed
from scale_sweep.sweep.file import read_sweep_file
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep
from tests.unit.test_loadgen import summary as said

START = 1_500_000_000_000
DATA = {"workload.step_ms": "10000", "preload.rows": "100k", "workload.tables": "10"}


def work_of(mix: str, *operation: str, **flags: str) -> Work:
    given = {"axis.cores": "1", **DATA, "mix": mix, "operation": list(operation), **flags}
    return resolve_sweep("cpu", given).work


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"mix": "range=0"}, "all weights are 0"),
        ({"mix": "write=1,range=0.0000001"}, "mix: weights of 1e-07 and 1 are too far apart"),
        ({"mix": "rang"}, "mix: 'rang' is not one of write, point"),
        ({"mix": "a", "operation": ["a.kind=b"]}, "operation.a.kind: 'b' is not one of"),
        (
            {"operation": ["range.spam=1"]},
            "operation.range.spam: range has no such parameter; it has devices, tagged, columns",
        ),
        ({"operation": ["range.span=0"]}, "operation.range.span = 0: must be above 0"),
        ({"operation": ["range.columns=amp"]}, "no such column; there are current, voltage, phase"),
        ({"operation": ["range.devices=11"]}, "operation.range.devices = 11: 1 to 10 of the tables"),
        ({"operation": ["range.span=400h"]}, "are longer than the 100000 s of data"),
        ({"operation": ["range.step=7s"]}, "are not a multiple of the 10000 ms between two rows"),
        ({"mix": "range_value"}, "operation.range_value.bound is missing"),
        ({"mix": "range_value", "operation": ["range_value.bound=2..1"]}, "runs backwards"),
        ({"mix": "range_value", "operation": ["range_value.selectivity=10%"]}, "of current have the law walk"),
        ({"mix": "range_value", "operation": ["range_value.selectivity=10"]}, "selectivity = 10: a percentage"),
        ({"mix": "range_value", "operation": ["range_value.selectivity=100%"]}, "below 100%"),
        ({"mix": "range_value", "operation": ["range_value.selectivity=9%", "range_value.bound=9"]}, "there already"),
        ({"mix": "aggregate", "operation": ["aggregate.function=mode"]}, "function = mode: not one of avg, count"),
        ({"mix": "aggregate", "operation": ["aggregate.function=p100"]}, "first, last, median, p1 to p99, stddev"),
        ({"mix": "aggregate", "operation": ["aggregate.functions=avg,percentile"]}, "functions = percentile: not one"),
        (
            {"mix": "aggregate", "operation": ["aggregate.functions=avg,max", "aggregate.function=min"]},
            "functions names them already",
        ),
        (
            {"mix": "aggregate", "operation": ["aggregate.functions=max,last", "aggregate.devices=2"]},
            "function = last: 2 devices have rows at the same time",
        ),
        (
            {
                "mix": "aggregate",
                "operation": ["aggregate.functions=count,p9", "aggregate.columns=voltage,name"],
                "workload.columns": "voltage:int,name:binary(9)",
            },
            "columns: name is binary, and p9 needs a number",
        ),
        (
            {"mix": "aggregate", "operation": ["aggregate.column=name"], "workload.columns": "name:binary(9)"},
            "function = avg: name is binary, and avg needs a number",
        ),
        ({"mix": "aggregate", "operation": ["aggregate.function=first", "aggregate.devices=2"]}, "ask for one device"),
        ({"mix": "sql"}, "operation.sql.text is missing"),
        ({"mix": "sql", "operation": ["sql.text=select {x}"]}, "{x} is not one of {device}"),
        (
            {"mix": "set", "operation": ["set.of=minus"]},
            "operation.set.of = minus: not one of union, intersect, except",
        ),
        (
            {"mix": "scan_tag", "operation": ["scan_tag.tag=location"]},
            "tag = location: not one of groupid, whose values",
        ),
        ({"mix": "scan_tag", "workload.tag_columns": "place:int"}, "no tag of place:int names a group"),
        ({"mix": "group_by_tag", "operation": ["group_by_tag.fraction=2"]}, "fraction = 2: more than 0, and 1 at most"),
        ({"mix": "aggregate_tag", "operation": ["aggregate_tag.function=last"]}, "have rows at the same time"),
        ({"preload.rows": "0"}, "preload: nothing to read"),
        ({"load.rows": "1000"}, "--rows: fixed work is rows that are written"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_starts(flags, words):
    with pytest.raises(UsageError) as refused:
        resolve_sweep("cpu", {"axis.cores": "1", **DATA, "mix": "range", **flags})
    assert words in refused.value.message
    assert len(refused.value.message.splitlines()) == 1


def test_more_operations_than_the_load_generator_takes_are_refused():
    with pytest.raises(UsageError, match="mix: 129 operations; 128 at most"):
        work_of(",".join(f"a{i}" for i in range(129)))


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
    assert named.work.data.tables == 50
    assert named.work.preload_rows == 10**6
    assert "range" in {o.name for o in named.work.operations}
    assert named.question == "How does the rate of requests grow with cores?"
    searched = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": "iot-queries", "load.slo": "p99 < 20ms"})
    assert searched.question == "How does the highest rate of requests that holds p99 < 20 ms grow with cores?"
    assert make_sweep().work == Work(data=make_sweep().work.data)  # without one nothing has changed


def test_what_is_fitted_and_told():
    work = work_of("write=9,range=1")
    assert rate_of(work, durable=True).field == "requests_per_s"
    assert rate_of(make_sweep().work, durable=False).field == "rows_per_s"
    lines = spec_lines(work)
    assert lines["operations"] == "write:9,range:1"
    assert lines["rows_present"] == "10000"
    assert lines["ask.range.span_ms"] == "3600000"
    assert "operations" not in spec_lines(make_sweep().work)


@pytest.mark.parametrize(
    ("operation", "empty"),
    [
        (("a.kind=aggregate", "a.function=count"), "zero"),
        (("a.kind=aggregate", "a.function=max"), "null"),
        (("a.kind=aggregate", "a.functions=max,count_distinct"), "zero"),
        (("a.kind=range",), None),
        (("a.kind=group_by_time",), None),
    ],
)
def test_which_answer_of_an_aggregate_is_empty(operation, empty):
    assert spec_lines(work_of("a", *operation)).get("ask.a.empty") == empty


def test_the_preload_is_part_of_the_count():
    work = work_of("range")
    assert miscounted(work, 0, 100_000) == ""
    assert "are missing" in miscounted(work, 0, 99_999)
    assert miscounted(make_sweep().work, 5, 5) == ""


@pytest.mark.parametrize("target", ["postgres", "tdengine", "influxdb", "questdb", "cassandra"])
def test_every_kind_is_rendered_with_its_marks(target):
    for name, query in queries_of(every()).items():
        text = load_facts(target).rendered(query, every().data, load_facts(target).methods[0])
        assert text.count("{device}") == query.devices, name
        assert ("{from}" in text) == ("{to}" in text) == (query.when == "range"), name
        assert ("{value}" in text) == bool(query.bound_column), name
        assert "\n" not in text


@pytest.mark.parametrize("target", ["postgres", "tdengine"])
def test_groups_are_drawn_whole_and_named_only_where_not_all_are_asked(target):
    work = work_of("some=1,every=1,scan_tag", "some.kind=aggregate_tag", "some.fraction=0.3", "every.kind=group_by_tag")
    texts = {n: load_facts(target).rendered(q, work.data, "") for n, q in queries_of(work).items()}
    assert all("{device}" not in text and "{from}" not in text for text in texts.values())
    assert "{value}" in texts["some"] and "{value} + 3" in texts["some"].replace("::float8::integer", "")
    assert "{value}" in texts["scan_tag"]
    assert "{value}" not in texts["every"]
    lines = spec_lines(work)
    assert (lines["ask.some.value_low"], lines["ask.some.value_high"], lines["ask.some.value_step"]) == ("1", "8", "1")


def test_a_method_without_answers_cannot_ask():
    with pytest.raises(CannotAsk, match="--method tcp has no answers"):
        load_facts("questdb").rendered(queries_of(every())["range"], every().data, "tcp")


def test_which_answers_of_questdb_begin_with_a_time():
    work = every()
    for name, query in queries_of(work).items():
        for many in (query, replace(query, devices=3)):
            is_timed = not query.function or bool(query.bucket_ms)
            assert timed(load_facts("questdb").rendered(many, work.data, "http")) is is_timed, name


def test_a_language_without_a_set_operation_refuses_it():
    query = queries_of(work_of("set", "set.of=except"))["set"]
    assert " EXCEPT " in load_facts("postgres").rendered(query, every().data, "copy")
    with pytest.raises(CannotAsk, match="TDengine has no EXCEPT"):
        load_facts("tdengine").rendered(query, every().data, "stmt")


@pytest.mark.parametrize(
    ("mix", "parameters", "words"),
    [
        ("set", (), "CQL has no UNION"),
        ("group_by_tag", (), "by the primary key only"),
        ("aggregate_tag", ("aggregate_tag.bucket=10m",), "rows of each device by themselves"),
        ("group_by_time", ("group_by_time.devices=2",), "rows of each device by themselves"),
    ],
)
def test_what_cassandra_cannot_be_asked_is_refused(mix, parameters, words):
    work = work_of(mix, *parameters)
    with pytest.raises(CannotAsk, match=words):
        load_facts("cassandra").rendered(queries_of(work)[mix], work.data, "batch")


def test_cassandra_finds_the_devices_of_groups_by_a_static_column():
    operations = ("some.kind=aggregate_tag", "some.fraction=0.3", "all.kind=aggregate_tag", "all.fraction=1")
    work = work_of("some=1,all=1,scan_tag=1", *operations)
    texts = {n: load_facts("cassandra").rendered(q, work.data, "batch") for n, q in queries_of(work).items()}
    mean = 'SELECT avg(CAST("current" AS double)) FROM scale.measurement'
    assert texts["all"] == mean
    assert texts["some"] == f'{mean} WHERE "groupid" >= {{value}} AND "groupid" < (int){{value}} + 3'
    rows = 'SELECT ts, device, "current", "voltage", "phase" FROM scale.measurement'
    assert texts["scan_tag"] == f'{rows} WHERE "groupid" = {{value}}'


def test_cassandra_stores_the_tags_of_each_device_once():
    data = replace(every().data, tags=("groupid:int", "area:binary(8)", "shape:geometry"), columns=("v:float",))
    columns = 'device text, ts timestamp, "groupid" int STATIC, "area" text STATIC, "v" float'
    assert schema.table(data) == f"CREATE TABLE scale.measurement ({columns}, PRIMARY KEY (device, ts))"
    assert list(schema.indexes(data)) == ["CREATE INDEX ON scale.measurement (\"groupid\") USING 'sai'"]
    names = tuple(f"d{i}" for i in range(schema.DEVICES + 1))
    cells = {"groupid": tuple("7" for _ in names), "area": tuple("O'B" for _ in names), "shape": names}
    first, rest = schema.tag_batches(data.tags, Tables(names=names, tags=cells))
    row = f"INSERT INTO scale.measurement (device, \"groupid\", \"area\") VALUES ('{names[-1]}', 7, 'O''B');"
    assert rest == f"BEGIN UNLOGGED BATCH {row} APPLY BATCH"
    assert first.count("INSERT") == schema.DEVICES


def test_cassandra_says_0_of_nothing_so_that_the_rows_are_counted_too():
    work = work_of(
        "a=1,b=1", *(f"{name}.kind=aggregate_range_value" for name in "ab"), "a.bound=9", "b.bound=9", "b.function=max"
    )
    texts = {n: load_facts("cassandra").rendered(q, work.data, "batch") for n, q in queries_of(work).items()}
    where = 'FROM scale.measurement WHERE device = {device} AND ts >= {from} AND ts < {to} AND "current" > {value} ALLOW FILTERING'
    assert cassandra.counting(texts["a"]) == f"SELECT count(ts) {where}"
    assert cassandra.counting(texts["b"]) == ""
    assert cassandra.bound_column(texts["b"]) == "current"


@pytest.mark.parametrize(
    ("mix", "parameters", "words"),
    [
        ("set", (), "has no UNION of rows"),
        ("range_desc", (), "newest first"),
        ("group_by_time", (), "ranges must begin and end with one"),
        ("group_by_time", ("group_by_time.step=10m", "group_by_time.span=65m"), "ranges must begin and end with one"),
        ("aggregate_value", ("aggregate_value.bound=9",), "all time has too many"),
        (
            "aggregate_value",
            ("aggregate_value.bound=9", "aggregate_value.bound_column=voltage"),
            "only to the column of the aggregate",
        ),
        ("group_by_tag", ("group_by_tag.fraction=0.2",), "labels as texts only"),
        ("aggregate_tag", ("aggregate_tag.bucket=10m",), "a range of stretches of time only"),
    ],
)
def test_what_victoriametrics_cannot_be_asked_is_refused(mix, parameters, words):
    work = work_of(mix, *parameters)
    with pytest.raises(CannotAsk, match=words):
        load_facts("victoriametrics").rendered(queries_of(work)[mix], work.data, "http")


@pytest.mark.parametrize(
    ("mix", "parameters", "words"),
    [
        ("set", (), "IoTDB has no UNION"),
        ("scan_tag", (), "no tags here"),
        ("range_value", ("range_value.bound=1..2", "range_value.bound_column=voltage"), "with a whole number only"),
        ("group_by_time", (), "begin with the range"),
        ("aggregate", ("aggregate.devices=2",), "aggregates each device by itself"),
    ],
)
def test_what_iotdb_cannot_be_asked_is_refused(mix, parameters, words):
    work = work_of(mix, *parameters)
    with pytest.raises(CannotAsk, match=words):
        load_facts("iotdb").rendered(queries_of(work)[mix], work.data, "tablet")


def test_iotdb_asks_several_devices_by_device():
    operations = ("range.devices=2", "latest.devices=2")
    work = work_of("range,latest,aggregate,group_by_time_desc", *operations, "group_by_time_desc.step=10m")
    texts = {n: load_facts("iotdb").rendered(q, work.data, "tablet") for n, q in queries_of(work).items()}
    assert texts["range"].endswith(
        "FROM {device}, {device} WHERE time >= {from} AND time < {to} ORDER BY TIME ALIGN BY DEVICE"
    )
    assert texts["aggregate"].endswith("WHERE time >= {from} AND time < {to}")
    assert texts["group_by_time_desc"].endswith("GROUP BY ([{from}, {to}), 600000ms) ORDER BY TIME DESC")
    row = [["root.scale.d1", 1500, 1.5, 2, "true"]]
    kinds = {"current": "float", "voltage": "int", "phase": "bool"}
    assert cells_of(texts["latest"], row, kinds) == ((1500, "root.scale.d1", 1.5, 2, True),)
    assert cells_of(texts["range"], [[1, "root.scale.d1", 1.5, None, "false"]], kinds) == (
        (1, "root.scale.d1", 1.5, None, False),
    )
    assert cells_of(texts["aggregate"], [[2.5]], kinds) == ((2.5,),)


@pytest.mark.parametrize(
    ("mix", "parameters", "words"),
    [
        ("set", (), "has no UNION of points"),
        ("scan_tag", (), "compares tags as texts"),
        ("range", ("range.devices=2",), "needs the devices again for each column"),
        ("latest", ("latest.devices=2", "latest.columns=current"), "limits the points of all devices together"),
        ("range_value", ("range_value.bound=9",), "bounds a metric by itself only"),
        ("aggregate", ("aggregate.function=spread",), "KairosDB has no spread"),
        ("group_by_time", (), "begin with the range"),
        ("group_by_time_desc", ("group_by_time_desc.step=10m",), "oldest first"),
    ],
)
def test_what_kairosdb_cannot_be_asked_is_refused(mix, parameters, words):
    work = work_of(mix, *parameters)
    with pytest.raises(CannotAsk, match=words):
        load_facts("kairosdb").rendered(queries_of(work)[mix], work.data, "datapoints")


def test_points_of_kairosdb_become_rows():
    def one(name, device, *values):
        return {"name": f"measurement_{name}", "tags": {"device": [device]}, "values": list(values)}

    def asked(mix, *operation):
        work = work_of(mix, *operation)
        text = load_facts("kairosdb").rendered(queries_of(work)[mix], work.data, "datapoints")
        return filled(text, Drawn(devices=(1, 0), from_ms=10, to_ms=20, value=0.5), ["d0", "d1"], str)

    def queries(*results):
        return [{"results": list(results)}]

    text = asked("range_desc", "range_desc.columns=current,voltage")
    assert '"start_absolute":10,"end_absolute":19' in text and text.count('["d1"]') == 2
    found = queries(one("current", "d1", [12, 2.5], [11, 1.5])) + queries(one("voltage", "d1", [12, 7]))
    assert kairosdb.rows_of(text, found) == ((12, 2.5, 7), (11, 1.5, None))
    text = asked("range", "range.columns=current", "range.devices=2")
    found = queries(one("current", "d1", [11, 1.5]), one("current", "d0", [11, 2.5]))
    assert kairosdb.rows_of(text, found) == ((11, "d0", 2.5), (11, "d1", 1.5))
    found = queries(one("current", "d1", [11, 1.5], [12, 2.5]))
    assert kairosdb.rows_of(asked("aggregate"), found[:1]) == ((1.5,), (2.5,))
    assert kairosdb.rows_of(asked("group_by_time", "group_by_time.step=10m"), found) == ((11, 1.5), (12, 2.5))
    assert kairosdb.rows_of(asked("aggregate"), queries(one("current", "d1"))) == ()


def test_more_moments_than_victoriametrics_answers_for_are_refused():
    work = work_of("range_value", "range_value.bound=9", "range_value.span=100h", **{"preload.rows": "1M"})
    with pytest.raises(CannotAsk, match="30,000 moments at most"):
        load_facts("victoriametrics").rendered(queries_of(work)["range_value"], work.data, "http")


def test_a_port_of_its_own_has_no_queries():
    with pytest.raises(CannotAsk, match="--method put has a separate port"):
        load_facts("victoriametrics").rendered(queries_of(every())["range"], every().data, "put")


@pytest.mark.parametrize("method", ["gzip", "remote-write", "import"])
def test_methods_on_the_port_of_the_server_ask_the_same(method):
    rendered, asked = load_facts("victoriametrics").rendered, queries_of(every())["range"]
    assert rendered(asked, every().data, method) == rendered(asked, every().data, "http")


def test_victoriametrics_names_the_devices_once_and_borders_are_those_of_the_range():
    work = work_of("range,latest,aggregate,group_by_time", "group_by_time.step=10m", "aggregate.devices=2")
    texts = {n: load_facts("victoriametrics").rendered(q, work.data, "gzip") for n, q in queries_of(work).items()}
    assert {name: text.count("{device}") for name, text in texts.items()} == dict.fromkeys(texts, 1) | {"aggregate": 2}
    assert texts["range"].endswith('device="{device}"}}[3600000ms] offset 1ms&time={to}e-3')
    assert "[600000ms] offset -599999ms)) if (time() < {to}e-3)&start={from}e-3&end={to}e-3" in texts["group_by_time"]


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
    bound = [
        f"{name}.bound=9..11"
        for name in ("range_value", "range_value_desc", "aggregate_value", "aggregate_range_value")
    ]
    kinds = "point,range,range_value,range_desc,range_value_desc,latest,aggregate,aggregate_value,"
    return work_of(f"{kinds}aggregate_range_value,group_by_time,group_by_time_desc", *bound)


def test_marks_are_filled_and_braces_kept():
    drawn = Drawn(devices=(3, 1), from_ms=1, to_ms=2, value=0.5)
    text = "{device} {again} {device} {from}..{to} {value} {{x}} {again}"
    assert filled(text, drawn, ["a", "b", "c", "d"], str) == "d d b 1..2 0.5 {x} b"


def test_until_is_the_last_moment_before_to():
    assert filled("{from} {until} {to}", Drawn(devices=(), from_ms=10, to_ms=20), [], str) == "10 19 20"


def test_a_whole_number_is_filled_in_without_a_fraction():
    assert filled("{value} {value}", Drawn(devices=(), value=4.0), [], str) == "4 4"


def test_a_part_is_that_of_the_device_behind_it_or_of_the_last():
    text = "p{part} {device} p{part} {device} p{part} {again}"
    drawn = Drawn(devices=(3, 1))
    assert filled(text, drawn, ["a", "b", "c", "d"], str, lambda device: device % 2 + 10) == "p11 d p11 b p11 b"
    assert filled(text, Drawn(devices=(2, 1)), ["a", "b", "c"], str, lambda device: device % 2) == "p0 c p1 b p1 b"


def rows(count: int = 6, first: int = 0) -> TableRows:
    times = START + 10_000 * np.arange(first, first + count)
    values = np.array([1.0, 5.0, 3.0, 2.0, 4.0, 6.0][:count])
    return TableRows(times=times, columns={"v": values})


@pytest.mark.parametrize(
    ("query", "right"),
    [
        (Query(columns=("v",), function="avg"), [(3.5,)]),
        (Query(columns=("v",), function="count"), [(6,)]),
        (Query(columns=("v",), function="spread"), [(5.0,)]),
        (Query(columns=("v",), function="last"), [(6.0,)]),
        (Query(columns=("v",), function="sum", bound_column="v"), [(15.0,)]),
        (Query(columns=("v",), function="max", bucket_ms=30_000), [(START, 5.0), (START + 30_000, 6.0)]),
        (
            Query(columns=("v",), bound_column="v", newest_first=True),
            [(START + 50_000, 6.0), (START + 40_000, 4.0), (START + 10_000, 5.0)],
        ),
    ],
)
def test_the_right_answer(query, right):
    found = right_answer(query, Drawn(devices=(0,), value=3.5), {0: rows()})
    assert found.cells() == right
    assert difference(query, found, right) == ""


def test_rows_of_several_devices_are_ordered_by_time():
    query = Query(devices=2, columns=("v",))
    right = right_answer(query, Drawn(devices=(7, 2)), {7: rows(2), 2: rows(2)})
    rows_of_right = right.cells()
    assert rows_of_right == [(START, 2, 1.0), (START, 7, 1.0), (START + 10_000, 2, 5.0), (START + 10_000, 7, 5.0)]
    swapped = [rows_of_right[number] for number in (1, 0, 3, 2)]  # at one time either device may come first
    assert difference(query, right, swapped) == ""


@pytest.mark.parametrize(
    ("came", "words"),
    [
        ([(START, 1.0)], "1 rows came, 2 are right"),
        ([(START + 10_000, 5.0), (START, 1.0)], "not ordered by time, oldest first"),
        ([(START, 1.0), (START + 10_000, 5.1)], "row 2 of 2 is (1500000010000, 5.1), right is (1500000010000, 5)"),
        ([(START, 1.0), (START + 10_001, 5.0)], "row 2 of 2"),
        ([(START, 1.0), (START + 10_000, None)], "row 2 of 2"),
    ],
)
def test_what_is_not_right_is_said(came, words):
    query = Query(columns=("v",), when="range")
    assert words in difference(query, right_answer(query, Drawn(devices=(0,)), {0: rows(2)}), came)


def test_an_aggregate_of_nothing_may_be_no_row_or_nothing():
    query = Query(columns=("v",), function="avg", bound_column="v")
    right = right_answer(query, Drawn(devices=(0,), value=100.0), {0: rows()})
    assert difference(query, right, []) == difference(query, right, [(None,)]) == ""
    assert difference(query, right, [(0.0,)])


GROUP_OF = (4, 1, 4, 2)


@pytest.mark.parametrize(
    ("query", "value", "devices"),
    [
        (Query(tag="g", groups=1), 4.0, (0, 2)),
        (Query(tag="g", groups=2), 1.0, (1, 3)),
        (Query(tag="g", groups=2), 2.0, (3,)),
        (Query(tag="g"), 1.0, (0, 1, 2, 3)),
    ],
)
def test_devices_of_groups(query, value, devices):
    drawn = with_groups(query, Drawn(devices=(), value=value), GROUP_OF)
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
    assert right_answer(Query(tag="g", groups=1, columns=("v",), function="count"), Drawn(devices=()), {}).cells() == [
        (0,)
    ]


@pytest.mark.parametrize(("sets", "kept"), [("union", range(6)), ("intersect", (2, 3)), ("except", (0, 1))])
def test_a_set_of_two_ranges_that_share_a_third(sets, kept):
    query = Query(columns=("v",), when="range", sets=sets, span_ms=60_000)
    drawn = Drawn(devices=(0,), from_ms=START, to_ms=START + 60_000)
    assert [(row[0] - START) // 10_000 for row in right_answer(query, drawn, {0: rows()}).cells()] == list(kept)


@pytest.mark.parametrize(("bound", "undecided"), [(3.5, False), (3.0, True), (3.0 + 1e-7, True), (3.0 + 1e-5, False)])
def test_a_bound_at_a_value_decides_nothing(bound, undecided):
    query = Query(columns=("v",), bound_column="v")
    assert is_undecided(query, Drawn(devices=(0,), value=bound), {0: rows()}) is undecided
    assert not is_undecided(Query(columns=("v",)), Drawn(devices=(0,), value=bound), {0: rows()})


@pytest.mark.parametrize(("bound", "undecided"), [(90.0, False), (90.0 + 1e-6, True), (90.5, False)])
def test_a_whole_number_at_a_whole_bound_is_decided(bound, undecided):
    column = np.array([89, 90, 91], dtype=np.int8)
    held = {0: TableRows(times=START + np.arange(3), columns={"v": column})}
    assert is_undecided(Query(columns=("v",), bound_column="v"), Drawn(devices=(0,), value=bound), held) is undecided


def test_rows_above_the_bound_are_counted_before_they_are_aggregated():
    query, drawn = Query(devices=2, columns=("v",), function="avg", bound_column="v"), Drawn(devices=(0, 1), value=2.5)
    assert counted(query, drawn, {0: rows(), 1: rows(3)}) == (9, 6)
    assert counted(replace(query, bound_column=""), drawn, {0: rows(), 1: rows(3)}) == (0, 0)


def test_a_selectivity_is_a_bound_of_the_columns_law():
    values = {"workload.values": "random"}
    work = work_of("range_value", "range_value.selectivity=10%", "range_value.bound_column=voltage", **values)
    query = queries_of(work)["range_value"]
    assert (query.bound_column, query.low, query.high) == ("voltage", 227.0, 227.0)
    assert spec_lines(work)["ask.range_value.value_low"] == "227"
    with pytest.raises(UsageError, match="voltage has 131 different values, of which 0.100% are 0"):
        work_of("range_value", "range_value.selectivity=0.1%", "range_value.bound_column=voltage", **values)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["bound=3.5"], [5.0, 4.0, 6.0]),
        (["bound=3.5", "side=below"], [1.0, 3.0, 2.0]),
        (["bound=1.5..4.5", "side=between"], [3.0, 2.0, 4.0]),
        (["bound=1.5", "where=current<5.5,phase>0.5"], [5.0, 3.0]),
    ],
)
def test_rows_within_bounds(given, kept):
    work = work_of("range_value", *(f"range_value.{one}" for one in given))
    query = replace(queries_of(work)["range_value"], columns=("current",))
    held = {0: replace(rows(), columns={"current": rows().columns["v"], "phase": np.array([1.0, 1, 1, 0, 0, 0])})}
    drawn = Drawn(devices=(0,), value=query.low)
    assert [row[1] for row in right_answer(query, drawn, held).cells()] == kept
    assert counted(query, drawn, held) == (6, len(kept))
    near = replace(held[0], columns={**held[0].columns, "current": np.full(6, 4.5)})
    assert is_undecided(query, drawn, {0: near}) == ("side=between" in given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("side=beside", "side = beside: not one of above, below, between"),
        ("side=between", "between needs two bounds, LOW..HIGH"),
        ("where=voltage=220", "where = voltage=220: like COLUMN<NUMBER or COLUMN>NUMBER"),
        ("where=amp<1", "of a column of numbers"),
        ("where=voltage<x", "where: 'x' is not a number"),
    ],
)
def test_bounds_that_cannot_be_read_are_refused(given, words):
    with pytest.raises(UsageError, match=words):
        work_of("range_value", "range_value.bound=9", f"range_value.{given}")


@pytest.mark.parametrize(
    ("side", "bounds"),
    [("above", ((">", 227.0),)), ("below", (("<", 123.0),)), ("between", ((">", 168.0), ("<", 182.0)))],
)
def test_a_selectivity_is_on_the_side_that_is_asked_for(side, bounds):
    asked = ("selectivity=10%", "bound_column=voltage", f"side={side}")
    query = queries_of(
        work_of("range_value", *(f"range_value.{one}" for one in asked), **{"workload.values": "random"})
    )
    found = query["range_value"].compared(query["range_value"].low)
    assert tuple((one.sign, one.value) for one in found) == bounds


def test_databases_that_compare_whole_numbers_only_are_asked_for_the_same_rows():
    asked = ("bound=9", "where=voltage<220.5,voltage>9.5,phase<0.5")
    work = work_of("range_value", *(f"range_value.{one}" for one in asked))
    for target in ("iotdb", "cassandra"):
        text = load_facts(target).rendered(queries_of(work)["range_value"], work.data, "batch").replace('"', "")
        assert "voltage < 221 AND voltage > 9 AND phase < 0.5" in text
    below = work_of(
        "range_value", "range_value.bound=9..11", "range_value.bound_column=voltage", "range_value.side=below"
    )
    with pytest.raises(CannotAsk, match="CQL compares whole numbers with a whole number only"):
        load_facts("cassandra").rendered(queries_of(below)["range_value"], below.data, "batch")


def test_a_count_of_nothing_may_be_nothing():
    query = Query(columns=("v",), function="count", bound_column="v")
    right = right_answer(query, Drawn(devices=(0,), value=100.0), {0: rows()})
    assert right.cells() == [(0,)]
    assert difference(query, right, []) == difference(query, right, [(0,)]) == ""
    assert difference(query, right, [(1,)])


def test_draws_lie_within_the_data_on_their_steps():
    work = work_of("range", "range.span=1h", "range.step=30s", "range.recent=2h", "range.devices=3")
    query = queries_of(work)["range"]
    end = work.data.start_ms + work.rows_present * work.data.step_ms
    for drawn in draws(query, work, 50, seed=7):
        assert (drawn.from_ms - work.data.start_ms) % 30_000 == 0
        assert end - 7_200_000 <= drawn.from_ms <= drawn.to_ms - 3_600_000
        assert drawn.to_ms <= end
        assert len(set(drawn.devices)) == 3
        assert [count for _, _, count in stretches(query, drawn, work)] == [360] * 3


def test_requests_are_counted_where_the_load_reads():
    interval, summary = Interval(**dict.fromkeys(Interval.__dataclass_fields__)), said([1000] * 20)
    reading, writing = work_of("write,range"), make_sweep().work
    told_each = replace(interval, rows=900, requests=11, operations={"write": 9, "range": 1})
    (read,), (wrote,) = (rated_intervals([told_each], work) for work in (reading, writing))
    assert (read.count, read.unit, read.rows, read.requests) == (10, "requests", 900, 10)
    assert (wrote.count, wrote.unit, wrote.rows, wrote.requests) == (900, "rows", 900, 10)
    (only,) = rated_intervals([told_each], work_of("range"))
    assert (only.count, only.rows) == (10, None), "nothing is written"
    assert rated_intervals([told_each], writing, is_answered=False)[0].requests is None
    rates = (requests_per_s(summary, writing), requests_per_s(summary, reading))
    assert rates[0] == rates[1] == summary.service.count / summary.window_s


def test_an_operation_may_have_another_name_than_its_kind():
    assert Operation(name="hourly", kind="group_by_time").kind_name == "group_by_time"


@pytest.mark.parametrize(
    ("mix", "lines"),
    [
        ("write=9,range=1", "write:9,range:1"),
        ("write=0.1,range=1", "write:1,range:10"),
        ("write=8,range=2", "write:8,range:2"),
    ],
)
def test_weights_with_a_fraction_are_whole_numbers_in_the_same_proportion(mix, lines):
    assert spec_lines(work_of(mix))["operations"] == lines


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


def test_draws_of_other_trials_and_operations_are_others():
    work = work_of("range", **{"workload.tables": "100"})
    query = queries_of(work)["range"]
    one, other = (draws(query, work, 20, 7, place) for place in (0, 20))
    assert not {d for drawn in one for d in drawn.devices} & {d for drawn in other for d in drawn.devices}
    assert [drawn.from_ms for drawn in one] != [drawn.from_ms for drawn in other]


@pytest.mark.parametrize(("devices", "text"), [((), ""), ((3,), "3"), ((7, 0, 1, 2, 2), "0-2,7")])
def test_devices_as_text(devices, text):
    assert as_text(devices) == text
    assert from_text(text) == set(devices)
