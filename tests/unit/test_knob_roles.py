"""Knobs by their roles, columns that a plan brings along, and the heaps of servers that run in Java."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.model.declared_parts import ROLES_BY_OTHER_NAME, KnobRole
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.resources import ResourceRange
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.report.article import article_columns
from scale_sweep.report.figures import knobs_table
from scale_sweep.results.store.texts import point_columns, point_row
from scale_sweep.server.targets import all_facts, load_facts
from scale_sweep.server.targets.common_facts import heap
from scale_sweep.server.targets.java import heap_bytes
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.sweep.server_settings import KNOB_NAMES, KNOB_SETTINGS
from tests.unit.factories import make_result, make_sweep
from tests.unit.test_plan import make_host


def completed(target: str, **flags):
    return complete(replace(make_sweep(**flags), target=target, runtime="process"), load_facts(target))


def planned(target: str, **flags):
    return make_plan(completed(target, **flags), make_host(), load_facts(target))


@pytest.mark.parametrize("flag", ["knobs__partitions", "knobs__vgroups"])
def test_partitions_are_what_the_database_calls_so(flag):
    plan = planned("tdengine", **{flag: "1=3,2=6"})
    assert {t.level: (t.knobs["vgroups"], t.load.partitions) for t in plan.trials} == {1.0: ("3", 3), 2.0: ("6", 6)}
    assert not any("partitions" in t.knobs for t in plan.trials)
    assert plan.sweep.origin["knobs.vgroups"] == "flag", "scale plan says where the value came from"
    varied = planned("tdengine", vary=["partitions=2,5"]).trials
    values = {(t.variant["vgroups"], t.knobs["vgroups"], t.load.partitions) for t in varied}
    assert values == {("2", "2", 2), ("5", "5", 5)}


def test_one_knob_has_one_name_and_one_column(tmp_path):
    with pytest.raises(UsageError, match="--partitions and --vgroups: both are vgroups of tdengine"):
        completed("tdengine", knobs__partitions="3", knobs__vgroups="4")
    file = tmp_path / "asked.toml"
    file.write_text("[axis]\ncores = 1\n[knobs]\nvgroups = 4\n")
    sweep = replace(resolve_sweep(str(file), {"knobs.partitions": "3"}), target="tdengine", runtime="process")
    assert complete(sweep, load_facts("tdengine")).knobs["vgroups"].pieces[0].value == "3"
    plan = planned("null")
    shards = replace(plan.knobs[0], name="shards", label="Shards", column="shards")
    plan = replace(plan, knobs=(shards, *plan.knobs[1:]))
    trial = replace(plan.trials[0], knobs={"shards": "7", "connections": "1"})
    results = (replace(make_result(), trial=trial),)
    run = StoredRun(path="", manifest={}, plan=replace(plan, trials=(trial,)), results=results, timeseries={})
    heading, said = article_columns(run)[0]
    assert (heading, said(list(run.results))) == ("Shards", "7")
    assert knobs_table(run).rows == () and "Shards 7; " in knobs_table(run).notes[0]
    assert point_row(plan, run.results[0])["shards"] == "7"


def test_the_flags_are_the_roles_and_one_that_nothing_plays_is_refused(wording):
    for target, name in (("postgres", "vgroups"), ("postgres", "commit_threads"), ("null", "commit_threads")):
        with pytest.raises(UsageError) as refused:
            completed(target, **{f"knobs__{name}": "4"})
        wording(refused.value.message)
    declared = {knob.name for facts in all_facts() for knob in facts.role_knobs} | set(ROLES_BY_OTHER_NAME)
    assert set(KNOB_NAMES) == declared | {role.value for role in KnobRole if role is not KnobRole.OTHER}
    helps = " ".join(s.help for s in KNOB_SETTINGS)
    assert "partitions (PostgreSQL)" in helps and "numOfCommitThreads (TDengine)" in helps


TDENGINE, POSTGRES = ("vgroups", "connections", "commit_threads"), ("partitions", "connections")


@pytest.mark.parametrize(("target", "knobs"), [("tdengine", TDENGINE), ("postgres", POSTGRES)])
def test_results_have_columns_for_the_knobs_of_their_plan(target, knobs):
    plan = planned(target)
    columns = point_columns(plan)
    at = columns.index("disks") + 1
    assert columns[at : at + len(knobs)] == knobs and columns[at + len(knobs)] == "rows"
    result = replace(make_result(), trial=plan.trials[0])
    assert all(point_row(plan, result)[name] == plan.trials[0].knobs[name] for name in knobs)
    assert point_row(plan, result)["other_knobs"] == ""


JAVA = ("questdb", "cassandra", "iotdb", "kairosdb", "opentsdb")
GIB = 2**30


@pytest.mark.parametrize(
    ("cores", "memory", "expected"),
    [
        ((1.0,), 8 * GIB, "1g"),
        ((0.5,), 8 * GIB, "1g"),
        ((1.0, 2.0), 24 * GIB, "1536m"),
        ((2.0,), 4 * 10**9, "896m"),
        ((1.0, 12.0), 24 * GIB, "6g"),
        ((12.0,), 64 * GIB, "6656m"),
        ((12.0,), None, "6656m"),
        ((2.0,), GIB // 2, "256m"),
    ],
)
def test_a_heap_follows_the_most_cores_and_the_memory(cores, memory, expected):
    size = heap(ResourceRange(cores=cores, memory_bytes=memory))
    assert size == expected
    assert heap_bytes(size) % 2**26 == 0


@pytest.mark.parametrize("name", JAVA)
def test_all_java_servers_have_the_same_heap_at_all_levels(name):
    facts = load_facts(name)
    sweep = replace(make_sweep(cores="1..4"), target=name, method="", knobs={})
    plan = make_plan(complete(sweep, facts, 24 * GIB), make_host(8), facts)
    heaps = [knob.name for knob in facts.knobs if knob.name in ("heap", "tsd_heap")]
    assert heaps
    assert {trial.knobs[knob] for trial in plan.trials for knob in heaps} == {"2560m"}
    small = complete(replace(sweep, memory_bytes=2 * GIB), facts, 24 * GIB)
    assert {small.knobs[knob].pieces[0].value for knob in heaps} == {"512m"}
