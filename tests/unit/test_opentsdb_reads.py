"""Reads of OpenTSDB without a server: how each query is rendered, what is refused, how series become rows."""

import json

import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of, spec_lines
from scale_sweep.model import Drawn
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.marks import filled
from scale_sweep.server.targets.opentsdb.queries import rows_of
from tests.unit.test_reads import START, work_of

DAY = 86_400_000


def rendered(mix, *operation, **more):
    work = work_of(mix, *operation, **more)
    return load_facts("opentsdb").rendered(queries_of(work)[mix], work.data, "put")


def asked(mix, *operation, **more):
    drawn = Drawn(devices=(1, 0), from_ms=START, to_ms=START + 20, value=3.0)
    return filled(rendered(mix, *operation, **more), drawn, ["d0", "d1"], str)


def one(column, device, *points, **tags):
    tags = {"device": device, **tags} if device else tags
    return {"metric": f"measurement_{column}", "tags": tags, "aggregateTags": [], "dps": [list(p) for p in points]}


def test_points_are_asked_up_to_the_last_moment_before_the_end():
    text = asked("range")
    whole = json.loads(text)
    assert (whole["start"], whole["end"], whole["msResolution"]) == (START, START + 19, True)
    assert [one["metric"].removeprefix("measurement_") for one in whole["queries"]] == ["current", "voltage", "phase"]
    assert {(one["aggregator"], one["filters"][0]["filter"]) for one in whole["queries"]} == {("none", "d1")}
    points = one("current", "d1", (START, 1.5), (START + 10, 2.5))
    found = [points, one("voltage", "d1", (START, 7)), one("phase", "d1")]
    assert rows_of(text, found) == ((START, 1.5, 7, None), (START + 10, 2.5, None, None))
    text = asked("range", "range.devices=2", "range.columns=current")
    assert json.loads(text)["queries"][0]["filters"][0]["filter"] == "d1|d0"
    found = [one("current", "d1", (START, 1.5)), one("current", "d0", (START, 2.5))]
    assert rows_of(text, found) == ((START, "d0", 2.5), (START, "d1", 1.5)), "rows of several devices have their device"


def test_a_moment_is_asked_as_the_time_before_the_next_row():
    assert rendered("point").startswith('{{"start":{at},"end":{until},')
    work = work_of("point")
    assert spec_lines(work)["ask.point.span_ms"] == str(work.data.step_ms), "what the load generator takes for {until}"
    text = asked("range", "range.columns=device", **{"workload.columns": "device:float,v:float"})
    assert json.loads(text)["queries"][0]["metric"] == "measurement_device", "also with the name of a mark"
    with pytest.raises(CannotAsk, match="ends at least a millisecond"):
        rendered("point", **{"workload.step_ms": "1"})
    wide = {"workload.columns": "n:bigint,d:double"}
    with pytest.raises(CannotAsk, match="values as doubles"):
        rendered("aggregate", "aggregate.function=last", **wide)
    assert "0all-max" in rendered("aggregate", "aggregate.function=max", **wide)


@pytest.mark.parametrize(
    ("operation", "end", "aggregator", "downsample"),
    [
        ("aggregate", START + 20, "none", "0all-avg"),
        ("aggregate devices=2 function=max", START + 20, "mimmax", "0all-max"),
        ("group_by_time step=10m", START + 19, "none", "600000ms-avg"),
        ("group_by_time step=10m devices=2 function=count", START + 19, "zimsum", "600000ms-count"),
    ],
)
def test_a_downsample_of_a_whole_range_excludes_its_end_and_others_do_not(operation, end, aggregator, downsample):
    mix, *parameters = operation.split()
    text = asked(mix, *(f"{mix}.{one}" for one in parameters))
    whole = json.loads(text)
    (series,) = whole["queries"]
    assert (whole["start"], whole["end"]) == (START, end)
    assert (series["aggregator"], series["downsample"]) == (aggregator, downsample)
    row = rows_of(text, [one("current", "d1", (START, 2.0))])
    assert row == (((START, 2),) if "ms-" in downsample else ((2,),))
    assert rows_of(text, [one("current", "d1")]) == rows_of(text, []) == ()


def test_groups_are_asked_by_their_tag():
    text = asked("group_by_tag", "group_by_tag.function=count")
    (series,) = json.loads(text)["queries"]
    assert series["filters"] == [{"type": "wildcard", "tagk": "groupid", "filter": "*", "groupBy": True}]
    found = [one("current", "", (1, 5.0), groupid="10"), one("current", "", (1, 4.5), groupid="2")]
    assert rows_of(text, found) == ((2, 4.5), (10, 5))
    text = asked("scan_tag", "scan_tag.columns=current")
    assert json.loads(text)["queries"][0]["filters"][0]["filter"] == "3"
    found = [one("current", "d4", (START, 1.5), groupid="3")]
    assert rows_of(text, found) == ((START, "d4", 1.5),)
    text = asked("aggregate_tag", "aggregate_tag.function=sum", "aggregate_tag.bucket=7m")
    start = json.loads(text)["start"]
    assert start % 420_000 == 0 and START - DAY - 420_000 < start <= START - DAY


@pytest.mark.parametrize(
    ("operation", "word"),
    [
        ("set", "UNION"),
        ("latest", "writing"),
        ("range_desc", "oldest"),
        ("range_value bound=9", "values"),
        ("range devices=2", "again"),
        ("range span=1ms", "millisecond"),
        ("aggregate function=spread", "spread"),
        ("aggregate devices=2", "avg"),
        ("group_by_tag", "avg"),
        ("group_by_tag fraction=0.2 function=sum", "texts"),
        ("group_by_time", "whole stretches"),
    ],
)
def test_what_opentsdb_cannot_be_asked_is_refused(operation, word):
    mix, *parameters = operation.split()
    with pytest.raises(CannotAsk, match=word):
        rendered(mix, *(f"{mix}.{one}" for one in parameters))
