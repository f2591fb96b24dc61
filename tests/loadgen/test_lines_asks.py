"""Queries of the driver of lines over HTTP against a server of our own making: what is asked, and what is counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from line_server import LineServer
from loadgen_program import Outcome
from third_request import RANGES, assert_empty, server_fixture

from tests.loadgen.listening import http_answer

TEXT = "SELECT a FROM m WHERE d = '{device}' AND e <> '{again}' AND time >= {from}ms AND time < {to}ms AND a > {value}"
SPEC = RANGES | {
    "driver": "lines",
    "ask.range.text": TEXT,
    "ask.range.value_low": 3,
    "ask.range.value_high": 9,
    "ask.range.value_step": 1,
    "query_path": "/query?db=x&q=",
}
PATH = 'query?query=a{{d="{device}"}}&from={from}e-3&to={to}e-3'
ROWS = b'{"results":[{"series":[{"name":"m \\"values\\": [[1]]","columns":["t","a"],"values":[[1,2.5],[2,null]]},'
ROWS += b'{"tags":{"d":"values"},"values":[ [3, "x],[y"] ]}]}]}'
server = server_fixture(LineServer)


@pytest.fixture
def ask(run: Callable[..., Outcome], server: LineServer) -> Callable[..., Outcome]:
    def asked(answer: bytes, **spec: object) -> Outcome:
        server.answer = answer
        return run(SPEC | {"port": server.port} | spec)

    return asked


@pytest.mark.parametrize("chunked", [False, True])
def test_the_text_is_filled_and_the_rows_of_all_series_are_counted(ask, server, chunked):
    outcome = ask(http_answer(ROWS, chunk=len(ROWS) // 2 if chunked else 0))
    assert outcome.code == 0, outcome.stderr
    told = outcome.of("asked")
    assert told and all((e["rows"], e["values"]) == (3, 6) for e in told)
    assert len({e["digest"] for e in told}) == 1
    for event, head in zip(told, server.heads, strict=False):
        path = re.fullmatch(r"GET (\S+) HTTP/1.1\r\nHost: \S+\r\n", head)
        assert path, head
        drawn = {"from": event["from_ms"], "to": event["to_ms"], "value": f"{event['value']:g}"}
        device = f"d{event['devices'][0]}"
        assert unquote(path[1]) == "/query?db=x&q=" + TEXT.format(device=device, again=device, **drawn)
        assert event["value"] in range(3, 10)
    (operation,) = outcome.summary["operations"]
    assert operation["rows_window"] == 3 * operation["units_window"] > 0


def test_other_members_hold_the_rows_of_another_server(ask):
    body = b'{"columns":[{"name":"values"}],"dataset":[[1],[2]],"values":[[1]],"count":2}'
    assert {e["rows"] for e in ask(http_answer(body), answer_rows="dataset").of("asked")} == {2}


def test_an_answer_without_rows_is_empty(ask):
    outcome = ask(http_answer(b'{"results":[{"statement_id":0}]}'))
    assert {e["rows"] for e in outcome.of("asked")} == {0}
    assert_empty(outcome)


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (http_answer(b'{"results":[{"error":"no \\"such\\" field"}]}'), "QUERY", 'no \\"such\\" field'),
        (http_answer(b'{"error":"cannot parse"}', "400 Bad Request"), "HTTP400", "cannot parse"),
    ],
)
def test_what_the_server_refuses_is_an_error_in_its_words(ask, answer, code, words):
    outcome = ask(answer)
    assert outcome.of("asked") == []
    assert outcome.of("error")[0]["code"] == code
    assert words in outcome.of("error")[0]["message"]


@pytest.mark.parametrize("driver", [{}, {"driver": "points", "method": "datapoints", "columns": "a:float"}])
def test_a_text_may_be_posted_as_json(ask, server, driver):
    text = '{{"from":{from},"until":{until},"tags":{{"device":["{device}"]}},"of":"{again}","above":{value}}}'
    posted = {"query_path": "/api/query", "query_posted": 1, "ask.range.text": text, **driver}
    told = ask(http_answer(ROWS), **posted).of("asked")
    assert told and all((e["rows"], e["values"]) == (3, 6) for e in told)
    for event, head, body in zip(told, server.heads, server.bodies, strict=False):
        assert head.startswith("POST /api/query HTTP/1.1\r\n") and "Content-Type: application/json" in head
        device = f"d{event['devices'][0]}"
        wanted = {"from": event["from_ms"], "until": event["to_ms"] - 1, "tags": {"device": [device]}}
        assert json.loads(body) == wanted | {"of": device, "above": event["value"]}
        assert event["to_ms"] == event["from_ms"] + 500


@pytest.mark.parametrize("mood", ["cut", "garbage", "partial body", "huge body", "bad chunk", "refused", "busy"])
def test_a_posted_query_that_fails_is_told_and_the_next_goes_on(ask, server, mood):
    server.moods[3] = mood
    outcome = ask(http_answer(ROWS), query_posted=1)
    assert len(outcome.of("error")) == 1 and outcome.code == 6
    assert {e["rows"] for e in outcome.of("asked")} == {3}


def test_series_of_other_columns_than_the_first_are_values_of_the_same_rows(ask):
    one = b'{"metric":{"name":"%s","d":"%s"},"values":[[1,"2.5"],[2,"3"]]}'
    some = b",".join(one % which for which in ((b"a", b"0"), (b"a", b"1"), (b"b", b"0"), (b"b", b"1")))
    body = b'{"result":[' + some + b',{"metric":{},"values":[[7,"8"]]}]}'
    outcomes = {named: ask(http_answer(body), answer_column=named).of("asked") for named in ("name", "none")}
    assert {(e["rows"], e["values"]) for e in outcomes["name"]} == {(4, 18)}
    assert {(e["rows"], e["values"]) for e in outcomes["none"]} == {(9, 18)}


def test_a_text_may_be_a_path_whose_signs_are_not_encoded(ask, server):
    told = ask(http_answer(ROWS), query_path="/api/", query_plain="?&=", **{"ask.range.text": PATH}).of("asked")
    for event, head in zip(told, server.heads, strict=False):
        device, since, until = event["devices"][0], event["from_ms"], event["to_ms"]
        span = f"from={since / 1000:.3f}&to={until / 1000:.3f}"
        assert head.startswith(f"GET /api/query?query=a%7Bd=%22d{device}%22%7D&{span} HTTP")


CUT = (b'[["', b'[["x', b"[[1,2],[3", b"[", b'[[1],[{"a":1}]]}')


@pytest.mark.parametrize("body", [*(b'{"values":' + rows for rows in CUT), b'{"values', b"[[["])
def test_what_is_no_list_of_rows_ends_early(ask, body):
    assert all(event["rows"] < 3 for event in ask(http_answer(body)).of("asked"))
