"""The statements of the TDengine driver's queries, and the blocks that it reads, by the stub of libtaos."""

from __future__ import annotations

import re

from answer_digest import digest

SPEC = {
    "tables": 8,
    "threads": 1,
    "requests": 40,
    "rows_present": 100,
    "check_every": 1,
    "precision": "us",
    "operations": "x",
    "ask.x.span_ms": 3,
    "ask.x.value_low": 0.25,
}


def test_a_statement_has_its_names_times_and_values(stub):
    text = "SELECT {{1}} FROM {device} a, {device} b WHERE ts >= {from} AND ts < {to} AND f > {value}"
    names = stub("names", **SPEC, **{"ask.x.text": text}, table_prefix="meter_").one("names")["names"]
    outcome = stub(**SPEC, **{"ask.x.text": text}, table_prefix="meter_")
    asked = outcome.of("asked")
    assert len(asked) > 20
    assert names[0].startswith("meter_")
    shape = r"SELECT \{1\} FROM (\w+) a, (\w+) b WHERE ts >= (\d+) AND ts < (\d+) AND f > 0\.25"
    for event, statement in zip(asked, stub.starting("query"), strict=True):
        found = re.fullmatch(shape, statement)
        assert found, statement
        assert [found[1], found[2]] == [names[d] for d in event["devices"]]
        assert [int(found[3]), int(found[4])] == [event["from_ms"] * 1000, event["to_ms"] * 1000]


def test_a_block_is_counted_and_digested(stub):
    outcome = stub(**SPEC, **{"ask.x.text": "SELECT 42"}, check_per_s=1e9)
    assert {(e["rows"], e["digest"]) for e in outcome.of("asked")} == {(1, digest([[42]]))}
    assert outcome.of("asked")[0]["content"] == [[42]]
    (operation,) = outcome.summary["operations"]
    assert operation["rows_window"] == operation["requests_window"] > 20
    assert operation["bytes_window"] == 46 * operation["requests_window"]


def test_a_refused_query_fails_and_the_next_one_is_asked(stub):
    outcome = stub(**SPEC, **{"ask.x.text": "SELECT 42"}, fail="taos_query:3:0x2602")
    (operation,) = outcome.summary["operations"]
    assert outcome.code == 6
    assert operation["failed"] == operation["errors"] == 1
    assert operation["units_acked"] == operation["requests"] - 1 > 20
    assert outcome.one("error")["code"] == "0x2602"
