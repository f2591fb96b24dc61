"""Queries of the driver of IoTDB against a server of our own making: what is asked, what is read in parts, what fails."""

from __future__ import annotations

import struct

import pytest
from answer_digest import digest
from iotdb_server import IotdbServer, field_of, more_answer, status, table_answer
from loadgen_program import float32
from third_request import RANGES, assert_empty, assert_failed, assert_late_ask, load_fixture, server_fixture

TEXT = "SELECT a FROM {device} WHERE time >= {from} AND time < {to} AND a > {value}"
START = 1_500_000_000_000
SPEC = RANGES | {
    "driver": "iotdb",
    "database": "root.x",
    "ask.range.text": TEXT,
    "ask.range.value_low": 3,
    "ask.range.value_high": 9,
    "ask.range.value_step": 0.5,
}
ONE = table_answer({"a": ("FLOAT", [0.1, None, 2.5])}, [START, START + 1, START + 2])
# The calls of a query whose answer has three pages, and the next query.
PAGES_OF_THREE = ["executeStatement", "fetchResults", "fetchResults", "executeStatement"]
server = server_fixture(lambda: IotdbServer(pages=[ONE]))
ask = load_fixture(SPEC, "ask")


def test_the_text_is_filled_with_what_is_drawn(ask, server):
    outcome = ask()
    assert outcome.code == 0, outcome.stderr
    told = outcome.of("asked")
    assert told and len({event["devices"][0] for event in told}) > 1
    wanted = digest([(START * 10**6, float32(0.1)), ((START + 1) * 10**6, None), ((START + 2) * 10**6, 2.5)])
    for event, (name, request) in zip(told, server.asks, strict=False):
        since, until = event["from_ms"], event["to_ms"]
        text = f"SELECT a FROM root.x.d{event['devices'][0]} WHERE time >= {since} AND time < {until}"
        assert (name, request[2].decode()) == ("executeStatement", f"{text} AND a > {event['value']:g}")
        assert request[4] == 5_000
        assert (event["rows"], event["values"], event["digest"]) == (3, 6, wanted)
    (operation,) = outcome.summary["operations"]
    assert operation["rows_window"] == 3 * operation["units_window"] > 0


def test_all_parts_are_read_and_values_of_each_type_are_digested(ask, server):
    columns = {
        "n": ("INT64", [1 << 40, None]),
        "t": ("TEXT", ["a", "wort"]),
        "d": ("DOUBLE", [0.1, -2.0]),
        "b": ("BOOLEAN", [True, False]),
        "i": ("INT32", [-1, 7]),
        "w": ("TIMESTAMP", [START, None]),
    }
    server.pages = [
        table_answer(columns, [1, 2], more=True),
        more_answer(columns, [3, 4], more=True),
        more_answer({name: (kind, values[:1]) for name, (kind, values) in columns.items()}, [5]),
    ]
    assert sorted(columns)[-1] == "w"
    rows = [[columns[name][1][i] for name in sorted(columns)] for i in (0, 1, 0, 1, 0)]
    wanted = [[at * 10**6, *row[:-1], row[-1] and row[-1] * 10**6] for at, row in enumerate(rows, 1)]
    told = ask(page_rows=2, check_per_s=1e9).of("asked")
    assert told and {(e["rows"], e["values"], e["digest"]) for e in told} == {(5, 35, digest(wanted))}
    assert told[0]["content"] == wanted
    assert [name for name, _ in server.asks[:4]] == PAGES_OF_THREE
    assert {request[4 if name == "executeStatement" else 3] for name, request in server.asks} == {2}


@pytest.mark.parametrize("last", [[], [more_answer({"a": ("INT32", [])}, [])]], ids=["gone", "empty"])
def test_after_a_full_page_another_is_asked_for_until_none_has_rows(ask, server, last):
    """The server fills a page until it has the rows that were asked for; it may have more."""
    server.pages = [
        table_answer({"a": ("INT32", [1, 2, 3])}, [1, 2, 3], more=True),
        more_answer({"a": ("INT32", [4, 5])}, [4, 5], more=True),
        *last,
    ]
    told = ask(page_rows=2).of("asked")
    wanted = digest([(at * 10**6, at) for at in range(1, 6)])
    assert told and {(e["rows"], e["digest"]) for e in told} == {(5, wanted)}
    assert [name for name, _ in server.asks[:4]] == PAGES_OF_THREE


def test_an_answer_without_times_has_as_many_rows_as_values(ask, server):
    server.pages = [table_answer({"avg(a)": ("DOUBLE", [1.25])})]
    assert {(e["rows"], e["values"], e["digest"]) for e in ask().of("asked")} == {(1, 1, digest([(1.25,)]))}


def test_an_answer_without_rows_is_empty(ask, server):
    server.pages = [field_of(12, 1, status(200)) + b"\0"]
    assert_empty(ask())


REFUSALS = {
    "refused": ("507", "Path does not exist"),
    "no status": ("PROTOCOL", "no status"),
    "another call": ("CONNECTION", "came for call"),
    "an exception": ("CONNECTION", "Invalid method name"),
    "nothing returned": ("CONNECTION", "ends too early"),
    "half": ("CONNECTION", "ends too early"),
    "garbage": ("CONNECTION", "not an answer of Thrift"),
    "huge": ("CONNECTION", "not an answer of Thrift"),
    "ends early": ("CONNECTION", "ends too early"),
    "cut": ("CONNECTION", "closed"),
}


@pytest.mark.parametrize("mood", REFUSALS)
@pytest.mark.parametrize("at", [3, 4])
def test_a_failed_query_is_told_and_the_next_goes_on(ask, server, mood, at):
    """Where its first part is asked for, and where its second."""
    server.pages = [table_answer({"a": ("INT32", [1])}, [1], more=True), more_answer({"a": ("INT32", [2])}, [2])]
    server.moods[at] = mood
    outcome = ask()
    assert_failed(outcome, *REFUSALS[mood])
    assert {e["rows"] for e in outcome.of("asked")} == {2}


def test_values_that_are_not_whole_or_of_no_known_type_are_refused(ask, server):
    one, other = struct.pack(">f", 0.1), struct.pack(">f", 2.5)
    two, lacking = struct.pack(">i", 8) + one + other, struct.pack(">i", 4) + one
    for wrong in (ONE.replace(b"FLOAT", b"FLOOT"), ONE.replace(two, lacking)):
        server.pages = [wrong]
        assert wrong != ONE
        outcome = ask()
        assert outcome.of("asked") == [] and "ends too early" in outcome.of("error")[0]["message"]


@pytest.mark.parametrize("mood", ["silence", "drip"])
def test_a_query_without_an_answer_ends_by_its_deadline(ask, server, mood):
    server.moods[2] = mood
    assert_late_ask(ask(request_timeout_s=1))
