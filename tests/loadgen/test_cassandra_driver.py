"""The driver of Cassandra against a server of our own making: what its queries bind, which pages are read, what fails;
and its batches."""

from __future__ import annotations

import re
import struct

import pytest
from answer_digest import digest
from cql_server import CqlServer
from third_request import (
    RANGES,
    ROWS,
    assert_acked,
    assert_empty,
    assert_failed,
    assert_late_ask,
    load_fixture,
    server_fixture,
)

TEXT = "SELECT ts, a FROM ks.t WHERE device = {device} AND ts >= {from} AND ts < {to} AND a > {value} ALLOW FILTERING"
SPEC = RANGES | {
    "driver": "cassandra",
    "ask.range.text": TEXT,
    "ask.range.value_low": -3,
    "ask.range.value_high": 9,
    "table": "ks.t",
}
TEXT_T, TIME, INT, FLOAT, DOUBLE, BIGINT, SMALL, TINY, BOOL = 0x0D, 0x0B, 0x09, 0x08, 0x07, 0x02, 0x13, 0x14, 0x04
START = 1_500_000_000_000


def time_of(ms: int) -> bytes:
    return struct.pack(">q", ms)


server = server_fixture(
    lambda: CqlServer(bound=(TEXT_T, TIME, TIME, FLOAT), columns=(TIME, FLOAT), pages=[[(time_of(1), None)]])
)
ask = load_fixture(SPEC, "ask")
send = load_fixture(ROWS | {"driver": "cassandra", "table": "ks.t"})


def test_each_request_binds_what_it_draws(ask, server):
    outcome = ask()
    assert outcome.code == 0, outcome.stderr
    assert server.statements[1] == re.sub(r"\{\w+\}", "?", TEXT)
    told = outcome.of("asked")
    assert told and len({e["devices"][0] for e in told}) > 1
    for event, request in zip(told, server.executed, strict=False):
        device, since, until, bound = request.values
        assert (request.flags, request.page_rows, request.position) == (7, 5000, b"")
        assert device == f"d{event['devices'][0]}".encode()
        assert (time_of(event["from_ms"]), time_of(event["to_ms"])) == (since, until)
        assert struct.unpack(">f", bound)[0] == event["value"]
    (operation,) = outcome.summary["operations"]
    assert operation["rows_window"] == operation["units_window"] > 0


@pytest.mark.parametrize(("kind", "form"), [(INT, ">i"), (SMALL, ">h"), (TINY, ">b"), (BIGINT, ">q")])
def test_above_a_bound_are_the_whole_numbers_above_the_one_below_it(ask, server, kind, form):
    server.bound = (TEXT_T, TIME, TIME, kind)
    told = ask().of("asked")
    assert any(event["value"] < 0 for event in told)
    for event, request in zip(told, server.executed, strict=False):
        assert struct.unpack(form, request.values[3])[0] == event["value"] // 1


@pytest.mark.parametrize("has_metadata", [False, True])
def test_all_pages_are_read_and_values_of_each_type_are_digested(ask, server, has_metadata):
    server.has_metadata = has_metadata
    server.columns = (TIME, FLOAT, DOUBLE, INT, SMALL, TINY, BIGINT, BOOL, TEXT_T)
    form = ">qfdihbq?"
    rows = [(START + i, 1.5 * i, i / 3, -i, i - 7, -i % 100, -(i << 40), bool(i % 2)) for i in range(7)]
    texts = ["wort ü", "wort ü", "wort ü", None, "wort ü", "y", "x"]
    numbers = [[struct.pack(f">{c}", v) for c, v in zip(form[1:], row, strict=True)] for row in rows]
    packed = [(*row, text and text.encode()) for row, text in zip(numbers, texts, strict=True)]
    server.pages = [packed[:3], packed[3:6], packed[6:]]
    outcome = ask(page_rows=3, check_per_s=1e9)
    assert outcome.code == 0, outcome.stderr
    wanted = [[row[0] * 1_000_000, *row[1:], text] for row, text in zip(rows, texts, strict=True)]
    told = outcome.of("asked")
    assert told and {(e["rows"], e["values"], e["digest"]) for e in told} == {(7, 63, digest(wanted))}
    assert told[0]["content"] == wanted
    assert [request.position for request in server.executed[:4]] == [b"", b"at01", b"at02", b""]
    assert {request.page_rows for request in server.executed} == {3}


def test_rows_that_the_server_sorts_together_come_without_pages(ask, server):
    server.bound = (TEXT_T, TEXT_T)
    text = "SELECT ts, a FROM ks.t WHERE device IN ({device}, {device}) ORDER BY ts DESC PER PARTITION LIMIT 1"
    assert ask(**{"ask.range.text": text}).code == 0
    assert {request.flags for request in server.executed} == {3}
    assert all(len(set(request.values)) == 2 for request in server.executed)


def test_types_of_several_parts_are_read_over(ask, server):
    listed, mapped, own, vector = 0x20, 0x21, 0x30, 0x00
    server.more = {
        listed: struct.pack(">H", INT),
        mapped: struct.pack(">HHH", TEXT_T, listed, INT),
        own: b"\0\2ks\0\1u\0\1\0\1f" + struct.pack(">H", INT),
        vector: b"\0\5klass",
    }
    server.columns = (listed, mapped, own, vector, INT)
    server.pages = [[(b"l", b"m", b"u", b"v", struct.pack(">i", 5))]]
    (wanted,) = {e["digest"] for e in ask().of("asked")}
    assert wanted == digest([(b"l", b"m", b"u", b"v", 5)])


def test_an_answer_without_rows_is_empty(ask, server):
    server.pages = []
    assert_empty(ask())


REFUSALS = {
    "refused": ("0x1100", "Operation timed out"),
    "refused and warned": ("0x2200", "Invalid"),
    "no rows": ("PROTOCOL", "was not expected"),
    "half a row": ("CONNECTION", "not what their head announces"),
    "more than announced": ("CONNECTION", "not what their head announces"),
    "too many rows": ("CONNECTION", "not what their head announces"),
    "other columns": ("CONNECTION", "not what their head announces"),
    "cut": ("CONNECTION", "closed"),
    "garbage": ("CONNECTION", "is not an answer of CQL"),
    "huge": ("CONNECTION", "is too long"),
}


@pytest.mark.parametrize("mood", REFUSALS)
def test_a_failed_query_is_told_and_the_next_goes_on(ask, server, mood):
    server.moods[3] = mood
    outcome = ask()
    assert_failed(outcome, *REFUSALS[mood])
    (operation,) = outcome.summary["operations"]
    assert operation["errors"] == 1 and operation["units_acked"] > 2


def test_a_value_of_another_length_than_its_type_is_refused(ask, server):
    server.pages = [[(time_of(1), b"123")]]
    assert "not what their head announces" in ask().of("error")[0]["message"]


@pytest.mark.parametrize("mood", ["slow", "warned rows"])
def test_slow_answers_and_warnings_are_no_failures(ask, server, mood):
    server.moods[3] = mood
    outcome = ask()
    assert outcome.code == 0, outcome.stderr
    assert {e["rows"] for e in outcome.of("asked")} == {1}


def test_a_query_without_an_answer_ends_by_its_deadline(ask, server):
    server.moods[2] = "silence"
    assert_late_ask(ask(request_timeout_s=1))


@pytest.mark.parametrize(
    ("bound", "columns", "text", "words"),
    [
        ((TEXT_T, TIME, TIME), (TIME,), TEXT, "other parameters than the text has marks"),
        ((INT, TIME, TIME, FLOAT), (TIME,), TEXT, "of a type that it cannot have"),
        ((TEXT_T, TIME, TIME, TEXT_T), (TIME,), TEXT, "of a type that it cannot have"),
        ((TEXT_T, TIME, TIME, FLOAT), (), TEXT, "answers no rows"),
        ((TEXT_T,), (TIME,), "SELECT a FROM p{part} WHERE d = {device}", "has no {part}"),
        ((), (TIME,), "SELECT {x}", "{x}"),
    ],
)
def test_what_cannot_be_prepared_is_refused_before_the_load(ask, server, bound, columns, text, words):
    server.bound, server.columns = bound, columns
    outcome = ask(**{"ask.range.text": text})
    assert outcome.code == 2, outcome.stderr
    assert words in outcome.stderr + str(outcome.events)


def test_a_batch_is_of_one_device(send, server):
    assert_acked(send(columns="a:int,b:double", rows=400, rows_per_request=100, batch_rows=30), 400)
    assert server.statements == ['INSERT INTO ks.t (device, ts, "a", "b") VALUES (?, ?, ?, ?)']
    assert max(len(batch) for batch in server.batches) <= 30
    assert all(len({row[0] for row in batch}) == 1 for batch in server.batches)
    assert server.connections == 1
