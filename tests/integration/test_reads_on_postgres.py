"""Reads on a real PostgreSQL: every kind of operation beside writes, each answer right; a wrong text is found out."""

import re

import pytest

from scale_sweep.experiment.work import queries_of
from scale_sweep.model import VerdictKind
from scale_sweep.server.targets.postgres import queries
from scale_sweep.server.targets.postgres.postgres_session import PostgresSession
from tests.integration.loaded_server import send_loads_through
from tests.loadgen.lying_postgres import LIES, LyingPostgres
from tests.loadgen.proxy import WHEN, at_times
from tests.unit import reading_trials as reading
from tests.unit.test_tsbs_devops import devops
from tests.unit.trial_orders import here, result_of, trial_order


def mistaken(rendered, wrong):
    """A renderer whose queries have other parts. wrong: each right part with the one in its place."""

    def other(*query):
        text = rendered(*query)
        for right, part in wrong.items():
            text = text.replace(right, part)
        return text

    return other


def test_every_kind_is_answered_rightly_beside_writes(folder):
    events = here(reading.reading_order(folder, "postgres", load__duration="3s"))  # some of each kind
    result, answers = reading.checked(events)
    m = result.measurement
    assert set(answers) == {*reading.KINDS, *reading.MORE}
    assert all(answers[name]["compared"] for name in ("point", "range", "aggregate", "group_by_time", "set"))
    assert not answers["latest"]["compared"], "the writes of the load change it"
    assert m.preload_rows == 20_000
    assert m.preload_bytes_per_row > 20
    assert m.rows_counted == m.rows_acked + 20_000 > 20_000
    assert m.requests_per_s == pytest.approx(sum(o.requests_per_s for o in m.operations.values()), rel=0.01)
    assert m.operations["range"].read_rows_per_s == pytest.approx(360 * m.operations["range"].requests_per_s, rel=0.01)
    assert m.operations["range"].response_ms["max"] > 0
    assert m.operations["write"].read_rows_per_s is None
    assert m.operations["range"].rows_per_s is None
    assert m.durable_rows_per_s is None


def test_groups_of_devices_and_sets_are_answered_rightly(folder):
    result, answers = reading.checked(here(reading.grouped_order(folder, "postgres")))
    assert set(answers) == {*reading.GROUPED, *reading.SETS, "every", "some"} and all(
        one["compared"] for one in answers.values()
    )
    scanned = result.measurement.operations["scan_tag"]
    assert scanned.read_rows_per_s > scanned.requests_per_s > 0  # every group has devices
    assert result.measurement.operations["every"].empty == 0


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("time >= {from}", "time > {from}", "359 rows came, 360 are right"),
        ("ORDER BY time", "ORDER BY time DESC", "not ordered by time, oldest first"),
        ('"voltage"', '"voltage" + 1', "row 1 of 360 is"),
    ],
)
def test_a_wrong_text_is_found_out(folder, monkeypatch, right, wrong, words):
    rendered = queries.rendered
    monkeypatch.setattr(queries, "rendered", lambda *asked: rendered(*asked).replace(right, wrong))
    result = result_of(here(reading.reading_order(folder, "postgres", "range")))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert result.verdict.reasons[0].startswith("range of device ")
    assert words in result.verdict.reasons[0]


def test_a_server_that_lies_to_the_load_alone_is_found_out(folder, monkeypatch):
    """The answers before the load are right; between the load generator and the server, all are falsified."""
    with LyingPostgres(LIES["floats times 11"]) as lying:
        send_loads_through(lying, PostgresSession, monkeypatch)
        result = result_of(here(reading.reading_order(folder, "postgres", "range")))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    assert "while the load ran" in result.verdict.reasons[0]


@pytest.mark.parametrize("when", [lambda number: number >= 5, WHEN["half of each half second"]], ids=["later", "half"])
def test_a_server_that_lies_at_times_is_found_out(folder, monkeypatch, when):
    lie = at_times(LIES["floats times 11"], lambda answer: answer.rows, when)
    with LyingPostgres(lie) as lying:
        send_loads_through(lying, PostgresSession, monkeypatch)
        result = result_of(here(reading.reading_order(folder, "postgres", "range", load__duration="3s")))
    assert lying.lies and result.verdict.kind is VerdictKind.WRONG_ANSWER, result.verdict


def test_wrong_groups_and_sets_are_found_out(folder, monkeypatch):
    wrong = {"= {value}": ">= {value}", "GROUP BY 1 ORDER BY 1": "GROUP BY 1 ORDER BY 1 DESC", "UNION": "UNION ALL"}
    monkeypatch.setattr(queries, "rendered", mistaken(queries.rendered, wrong))
    order = reading.reading_order(folder, "postgres", "scan_tag,group_by_tag,set")
    result = result_of(here(order))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    reasons = "\n".join(result.verdict.reasons)
    assert re.search(r"scan_tag of \d devices in groups .*: [\d,]+ rows came, [\d,]+ are right", reasons)
    assert re.search(r"group_by_tag of 10 devices in groups 1 to \d+: row 1 of \d+ is", reasons)
    assert re.search(r"set of device .*: 480 rows came, 360 are right", reasons)


def test_bounds_orders_and_groups_are_answered_rightly(folder):
    events = here(reading.shapes_order(folder, "postgres"))
    reading.none_wrong(events, reading.SHAPES)
    answers = reading.answers_of(events)
    passed = {name: answers[name]["passed_rows"] / answers[name]["tested_rows"] for name in ("below", "several")}
    assert all(0 < share < 1 for share in passed.values()), passed


def test_wrong_bounds_and_orders_are_found_out(folder, monkeypatch):
    wrong = {"< {value}": "> {value}", '"voltage" DESC': '"voltage"', "ranked DESC": "device_id"}
    monkeypatch.setattr(queries, "rendered", mistaken(queries.rendered, wrong))
    order = reading.shapes_order(folder, "postgres", without=set(reading.SHAPES) - {"below", "largest", "top_devices"})
    result = result_of(here(order))
    assert result.verdict.kind is VerdictKind.WRONG_ANSWER
    reasons = "\n".join(result.verdict.reasons)
    assert re.search(r"below of device .*: [\d,]+ rows came, [\d,]+ are right", reasons)
    assert re.search(r"largest of device .*: the rows are not ordered by voltage, largest first", reasons)
    assert re.search(r"top_devices of device .*: (the rows are not ordered|row \d of 3 is not one)", reasons)


def test_all_queries_of_tsbs_devops_are_answered_rightly(folder):
    flags = {"workload__name": "tsbs-devops", "workload__tables": "10", "preload__rows": "45k"}
    events = here(trial_order(folder, "postgres", load__duration="3s", **flags))
    reading.none_wrong(events, queries_of(devops().work))
    result, answers = result_of(events), reading.answers_of(events)
    assert sum(one["compared"] for one in answers.values()) > 0
    assert answers["high-cpu-1"]["compared"] and answers["high-cpu-1"]["devices"], (
        "values equal to the bound are decided"
    )
    passed = result.measurement.operations["high-cpu-1"]
    assert 9 < passed.passed_percent < 11 and result.measurement.operations["lastpoint"].passed_percent is None
    assert 0.05 < passed.read_rows_per_s / passed.requests_per_s / 4320 < 0.15, "a tenth of the rows is above the bound"
