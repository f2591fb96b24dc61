"""Reads on the real server of every database: every kind of operation that it has words for, each answer right beside
writes; and a wrong text is found out. PostgreSQL has a file of its own.

SCALE_SLOW_TESTS=1 asks the databases that take 10 to 20 CPU seconds to start. No registry has CrateDB and InfluxDB 2:
SCALE_CRATEDB_HOME and SCALE_INFLUXDB2_HOME name one.
"""

import os
from dataclasses import dataclass, field, replace
from importlib import import_module

import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.model.measured import VerdictKind
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.postgres import postgres_queries as queries
from tests.integration.real_server import from_elsewhere, required
from tests.unit import reading_trials as reading
from tests.unit.trial_orders import here, result_of

SLOW = ("iotdb", "cassandra", "kairosdb", "kairosdb on cassandra", "opentsdb")
ELSEWHERE = {"cratedb": "SCALE_CRATEDB_HOME", "influxdb2": "SCALE_INFLUXDB2_HOME"}
NUMBERS = "current:float,voltage:int,phase:double,on:bool,small:smallint"
RANKED = {"largest", "smallest", "top_devices", "top_tags"}  # shapes
WHOLE = "whole.kind=range_value whole.bound_column=voltage whole.bound"


RATES = ("influxdb", "victoriametrics", "prometheus", "opentsdb")  # whose rows of ranges are counted


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a database is asked. lacks: kinds and shapes that it has no words for. more, also: further operations, and
    parameters. groups: of `grouped_order`; None: it is not asked for groups. shapes: whether it is asked for shapes."""

    lacks: frozenset[str] = frozenset()
    more: tuple[str, ...] = ()
    also: str = ""
    alone: tuple[str, ...] = ()
    flags: dict[str, str] = field(default_factory=dict)
    knobs: dict[str, str] = field(default_factory=dict)
    groups: dict[str, object] | None = None
    shapes: bool = False


def promql(*lacks):
    return Asked(
        lacks=frozenset({"set", "range_desc", "range_value_desc", "group_by_time_desc", "newest", *RANKED, *lacks}),
        more=("some", "least", "mean"),
        also="group_by_time.step=10m aggregate_range_value.devices=2 some.kind=aggregate_range_value some.bound=9..11"
        " some.function=count least.kind=aggregate_range_value least.bound=9..11 least.function=max"
        " mean.kind=group_by_time mean.step=10m mean.span=2h",
        flags={"workload__columns": NUMBERS},
        groups={"sets": False, "operation": PROMQL_GROUPS.split()},
        shapes=True,
    )


PROMQL_GROUPS = (
    "one.kind=group_by_tag one.fraction=0.1 aggregate_tag.function=count every.kind=aggregate_tag every.fraction=1"
    " every.function=spread"
)
ON_H2 = Asked(
    lacks=frozenset({"set", "group_by_time_desc", "spread"}),
    also="range_value.columns=current range_value_desc.columns=current range_desc.columns=current point.columns=current"
    " group_by_time.step=10m point.devices=2",
    alone=("latest",),
    flags={"preload__rows": "4k"},
    knobs={"datastore": "h2"},
)
OF = {
    "influxdb": Asked(
        lacks=frozenset({"set", *RANKED}), groups={"fraction": "0.1", "sets": False}, shapes=True
    ),  # InfluxQL has no sets
    "influxdb2": Asked(lacks=frozenset({"set"}), groups={"fraction": "0.1", "sets": False}),
    "victoriametrics": promql(),
    "prometheus": promql("latest", "aggregate_value", "first", "tagged_latest"),
    "mariadb": Asked(lacks=frozenset({"first", "last"}), flags={"workload__columns": NUMBERS}, groups={}, shapes=True),
    "clickhouse": Asked(flags={"workload__columns": NUMBERS}, groups={"sets": False}, shapes=True),
    "cratedb": Asked(flags={"workload__columns": NUMBERS}, groups={"sets": False}, shapes=True),
    "questdb": Asked(shapes=True),
    "cassandra": Asked(
        lacks=frozenset({"set"}),
        more=("whole",),
        also=f"{WHOLE}=140..240",
        alone=("group_by_time",),
        flags={"workload__columns": f"{NUMBERS},name:binary(12)"},
    ),
    "iotdb": Asked(  # 7,200 rows of `rows`, and 5,000 of `range`: one page
        lacks=frozenset({"set", "first"}),
        more=("whole", "rows"),
        also=f"{WHOLE}=190 whole.devices=2 group_by_time.step=10m group_by_time_desc.step=10m rows.kind=range"
        " rows.span=20h range.span=50000s",
        alone=("group_by_time",),
        flags={"workload__columns": f"{NUMBERS},name:binary(12)", "preload__rows": "80k"},
    ),
    "kairosdb": ON_H2,
    "kairosdb on cassandra": replace(ON_H2, knobs={"cassandra_heap": "512m"}),
    "opentsdb": Asked(
        lacks=frozenset(
            "set latest range_value range_desc range_value_desc aggregate_value aggregate_range_value"
            " group_by_time_desc spread".split()
        ),
        more=(*reading.GROUPED, "each", "least", "mean", "some"),
        also="group_by_time.step=10m each.kind=range each.devices=3 each.columns=voltage group_by_tag.function=count"
        " least.kind=aggregate least.function=min least.devices=2 mean.kind=group_by_time mean.span=2h mean.step=10m"
        " mean.column=voltage aggregate_tag.function=sum some.kind=aggregate_tag some.fraction=1 some.function=max"
        " some.bucket=10m",
        flags={"workload__columns": NUMBERS, "load__duration": "4s"},
    ),
}


@pytest.fixture
def asked(request, monkeypatch):
    """The target's name and what it is asked; its server is on this machine."""
    name = request.param
    if name in SLOW and not os.environ.get("SCALE_SLOW_TESTS"):
        pytest.skip("takes long to start: SCALE_SLOW_TESTS=1")
    target = name.partition(" ")[0]
    if variable := ELSEWHERE.get(target):
        from_elsewhere(target, variable, monkeypatch)
    else:
        required(target)
    return target, OF.get(name, Asked())


def of(*names):
    return pytest.mark.parametrize("asked", names, indirect=True)


def placed(order, asked):
    return replace(order, trial=replace(order.trial, knobs={**order.trial.knobs, **asked.knobs}))


@of(*OF)
def test_every_kind_is_answered_rightly_beside_writes(asked, folder):
    target, its = asked
    kinds = {*reading.KINDS, *reading.MORE, *its.more} - its.lacks
    mix = ",".join((*sorted(kinds), "write=2"))
    order = reading.reading_order(folder, target, mix, alone=its.alone, also=its.also.split(), **its.flags)
    result, answers = reading.checked(here(placed(order, its)))
    m = result.measurement
    assert set(answers) == kinds and sum(one["compared"] for one in answers.values()) > 0
    assert m.rows_counted == m.rows_acked + m.preload_rows > m.preload_rows >= 4000
    if target in RATES:
        ranges = m.operations["range"]
        assert ranges.read_rows_per_s == pytest.approx(360 * ranges.requests_per_s, rel=0.01)


@of(*(name for name, its in OF.items() if its.groups is not None))
def test_groups_of_devices_are_answered_rightly(asked, folder):
    target, its = asked
    if "operation" in its.groups:
        kinds = {*reading.GROUPED, "one", "every"}
        order = reading.reading_order(folder, target, ",".join(sorted(kinds)), operation=its.groups["operation"])
    else:
        kinds = {*reading.GROUPED, "every", "some", *(reading.SETS if its.groups.get("sets", True) else ())}
        order = reading.grouped_order(folder, target, **its.groups)
    assert set(reading.checked(here(order))[1]) == kinds


@of(*(name for name, its in OF.items() if its.shapes))
def test_bounds_orders_and_groups_are_answered_rightly(asked, folder):
    target, its = asked
    without = its.lacks & set(reading.SHAPES)
    reading.none_wrong(here(reading.shapes_order(folder, target, without=without)), set(reading.SHAPES) - without)


@of("questdb")
def test_groups_of_tags_are_answered_rightly(asked, folder):
    also = ("group_by_tag.fraction=0.4", "aggregate_tag.bucket=10m", "scan_tag.columns=voltage")
    order = reading.shapes_order(
        folder, "questdb", without=set(reading.SHAPES) - {"below"}, also=also, more=reading.GROUPED
    )
    reading.none_wrong(here(order), {"below", *reading.GROUPED})


@of("cassandra")
def test_groups_of_devices_are_chosen_by_their_tags_beside_writes(asked, folder):
    """Groups of one device, of several, and, by a tag with a hundred values, of none."""
    kinds = {"some": "groupid", "every": "groupid", "few": "zone", "one": "zone"}
    also = [f"{name}.kind={'scan_tag' if name == 'one' else 'aggregate_tag'}" for name in kinds]
    also += [f"{name}.tag={tag}" for name, tag in kinds.items()]
    also += ["aggregate_tag.function=count", "some.fraction=0.4", "every.fraction=1", "every.function=max"]
    mix = ",".join(("scan_tag", "aggregate_tag", *kinds, "write=2"))
    flags = {"workload__tag_columns": "groupid:int,zone:tinyint,name:binary(12)"}
    result, answers = reading.checked(here(reading.reading_order(folder, "cassandra", mix, also=also, **flags)))
    assert set(answers) == {"scan_tag", "aggregate_tag", *kinds}
    assert result.measurement.rows_counted == result.measurement.rows_acked + 20_000 > 20_000


FUNCTIONS = {
    "postgres": {"median", "p95", "stddev", "stddev_samp", "count_distinct", "rate", "several"},
    "questdb": {"stddev", "stddev_samp", "count_distinct", "rate", "several"},
    "influxdb": {"median", "stddev_samp", "count_distinct", "several"},
    "victoriametrics": {"median", "p95", "stddev", "count_distinct", "rate"},
    "iotdb": {"stddev", "stddev_samp", "rate", "several"},
    "kairosdb": {"stddev_samp"},
    "opentsdb": {"median", "stddev"},
    "cratedb": None,
}


@of(*FUNCTIONS)
def test_functions_are_answered_rightly(asked, folder):
    target, _ = asked
    column = "voltage" if target == "questdb" else "current"  # it counts no different fractions
    _, answers = reading.checked(here(reading.functions_order(folder, target, column=column)))
    known = FUNCTIONS[target]
    assert known is None or set(answers) == known | {f"{name}_each" for name in known}


TILL_END = (" if (time() < {to}e-3)", "", "range_value")
WRONG_TEXTS = [  # what is right, what takes its place, and the operation that is wrong then
    ("mariadb", "time < {to}", "time <= {to}", "range"),
    ("iotdb", "time < {to}", "time <= {to}", "range"),
    ("cassandra", "ts < {to}", "ts <= {to}", "range"),
    ("kairosdb", "{until}", "{to}", "range"),
    ("victoriametrics", *TILL_END),
    ("prometheus", "end={until}e-3", "end={to}e-3", "range_value"),
    *((name, " offset 1ms", "", "range") for name in ("victoriametrics", "prometheus")),
    *((name, "offset -599999ms", "", "group_by_time") for name in ("victoriametrics", "prometheus")),
    ("opentsdb", "{until}", "{to}", "range"),  # the row at the end is one too many
    ("opentsdb", '"end":{to}', '"end":4000000000000', "aggregate"),  # the rows after the end
    ("opentsdb", "{until}", "{to}", "group_by_time"),  # the stretch that begins at the end
    ("opentsdb", "mimmax", "zimsum", "group_by_time"),
]


@pytest.mark.parametrize(("asked", "right", "wrong", "operation"), WRONG_TEXTS, indirect=["asked"])
def test_a_wrong_text_is_found_out(asked, right, wrong, operation, folder, monkeypatch):
    target, its = asked
    module = import_module(load_facts(target).queries.partition(":")[0])
    rendered = module.rendered
    monkeypatch.setattr(module, "rendered", lambda *given: rendered(*given).replace(right, wrong))
    order = reading.reading_order(folder, target, operation, alone=its.alone, also=["group_by_time.step=10m"])
    verdict = result_of(here(placed(order, its))).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert verdict.reasons[0].startswith(f"{operation} of device"), verdict.reasons


UNFILLED = {  # what each cannot fill
    "postgres": {name for name in reading.FILLED if name.startswith(("previous", "linear"))} | {"null_devices"},
    "questdb": set(),
    "influxdb": {"previous_newest"},
    "victoriametrics": {
        name for name in reading.FILLED if name.startswith(("null", "linear")) or name.endswith("newest")
    }
    | {"previous_uneven"},
    "iotdb": {name for name in reading.FILLED if name.endswith(("together", "devices", "tags", "uneven"))}
    | {"previous_newest"},
    "kairosdb": set(reading.FILLED) - {"null", "null_together"},
    "opentsdb": set(reading.FILLED) - {"null"},
}


@of(*UNFILLED)
def test_stretches_without_rows_are_filled_rightly(asked, folder):
    target, _ = asked
    can = [name for name in reading.FILLED if name not in UNFILLED[target]]
    for half in (can[::2], can[1::2]):  # an order has 16 operations at most
        answers = reading.checked(here(reading.filled_order(folder, target, half)))[1] if half else {}
        assert set(answers) == set(half)
        # A window of few seconds may hold no answer of an operation; those that it holds are compared.
        assert all(one["compared"] or not one["counted"] for one in answers.values()), answers


@pytest.mark.parametrize("target", UNFILLED)
def test_what_a_database_cannot_fill_is_refused(target, folder):
    facts, refused = load_facts(target), set()
    for half in (0, 1):
        work = reading.filled_order(folder, "questdb", list(reading.FILLED)[half::2]).trial.work
        for name, query in queries_of(work).items():
            try:
                facts.rendered(query, work.data, facts.methods[0])
            except CannotAsk:
                refused.add(name)
    assert refused == UNFILLED[target]


@pytest.mark.parametrize(
    ("right", "wrong", "operation"),
    [
        ("LEFT JOIN", "JOIN", "null"),
        ("generate_series(", "generate_series(interval '10 s' + ", "null"),
        ("avg(", "0.001 + avg(", "null"),
        ("stddev_pop", "stddev_samp", "stddev"),
        ("percentile_cont", "percentile_disc", "p95"),
    ],
)
def test_another_definition_and_another_filling_are_found_out(folder, monkeypatch, right, wrong, operation):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *asked: rendered(*asked).replace(right, wrong))
    if operation == "null":
        order = reading.filled_order(folder, "postgres", ["null"])
    else:
        parameters = ["aggregate.column=voltage", f"aggregate.function={operation}"]
        order = reading.reading_order(folder, "postgres", "aggregate", operation=parameters)
    verdict = result_of(here(order)).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert verdict.reasons[0].startswith(f"{'null' if operation == 'null' else 'aggregate'} of device ")


def test_a_null_in_the_order_of_the_rows_is_named(folder, monkeypatch):
    rendered = queries.rendered
    null = 'SELECT time, nullif("voltage", "voltage") '
    monkeypatch.setattr(queries, "rendered", lambda *asked: rendered(*asked).replace('SELECT time, "voltage" ', null))
    operation = ["range.columns=voltage", "range.order=voltage desc", "range.limit=5"]
    verdict = result_of(here(reading.reading_order(folder, "postgres", "range", operation=operation))).verdict
    assert verdict.kind is VerdictKind.WRONG_ANSWER
    assert "row 1 of 5 is NULL in voltage, by which the rows are ordered" in verdict.reasons[0]


def test_an_order_of_aggregates_without_a_value_is_not_compared(folder):
    same = ["each=device", "devices=all", "top=3", "function=rate", "column=voltage"]
    operation = [*(f"aggregate.{one}" for one in same), "aggregate.span=10s"]  # one row of each device
    operation += ["several.kind=aggregate", *(f"several.{one}" for one in same), "several.span=1m"]
    events = here(reading.reading_order(folder, "postgres", "aggregate,several", operation=operation))
    answers = reading.answers_of(events)
    assert result_of(events).verdict.kind not in reading.WRONG
    assert (answers["aggregate"]["whole"], answers["several"]["whole"]) == (0, 20)
    assert not answers["aggregate"]["wrong"]
