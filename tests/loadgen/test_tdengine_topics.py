"""Subscriptions of TDengine, by the stub of libtaos: consumers, messages, rows, delays and files."""

from __future__ import annotations

import re
import signal

import pytest
from running_load import begun
from stub_taos.stub_library import library

SPEC = {"method": "tmq", "operations": "poll", "ask.poll.text": "one,two", "rounds": 1000, "threads": 2, "tables": 2}
SPEC |= {"rows_per_request": 1, "check_every": 0, "poll_ms": 7, "messages": 5}
SPEC |= {"consumer": "group.id=g,client.id=c_{worker},auto.offset.reset=earliest"}


def test_each_worker_is_a_consumer_that_reads_until_no_message_comes(stub):
    outcome = stub(**SPEC)
    assert outcome.code == 0, outcome.stderr
    (operation,) = outcome.summary["operations"]
    assert (operation["units_acked"], operation["rows_window"], operation["failed"]) == (10, 10, 0)
    assert [(w["answers"], w["rows_read"]) for w in outcome.summary["workers"]] == [(5, 5), (5, 5)]
    assert sorted(stub.starting("topic")) == ["one", "one", "two", "two"]
    assert stub.starting("poll") == ["7"] * 12
    assert {"client.id=c_0", "client.id=c_1", "group.id=g", "auto.offset.reset=earliest"} <= set(stub.starting("conf"))
    assert stub.calls().count("close") == 2
    assert "commit" not in stub.calls()
    outcome = stub(**SPEC, commit_messages=1, expect_rows=2)  # it ends when it has more rows
    assert [w["rows_read"] for w in outcome.summary["workers"]] == [3, 3]
    assert len(stub.starting("poll")) == stub.calls().count("commit") == 6


def test_a_long_wait_for_a_message_is_made_of_short_ones(stub):
    outcome = stub(**SPEC | {"poll_ms": 1200, "threads": 1, "tables": 1, "messages": 1})
    assert outcome.code == 0, outcome.stderr
    *parts, last = map(int, stub.starting("poll"))
    assert (parts, 0 < last <= 200) == ([500, 500, 500], True)
    assert outcome.summary["requests"] == 2
    assert outcome.summary["workers"][0]["answers"] == 1


def test_the_time_without_messages_begins_when_the_group_has_its_vgroups(stub):
    outcome = stub(**SPEC | {"poll_ms": 100}, assigned=6)
    assert outcome.code == 0, outcome.stderr
    assert [w["answers"] for w in outcome.summary["workers"]] == [5, 5]
    assert len(stub.starting("poll")) == 2 * (6 + 5 + 1)


def test_a_group_that_gets_no_vgroup_is_an_error(stub):
    outcome = stub(**SPEC, assigned=10**6, assign_ms=50, max_errors=1)
    assert outcome.code == 6, outcome.stderr
    assert "ASSIGN" in str(outcome.summary["error_kinds"])
    assert "no vgroup" in str(outcome.events)


@pytest.mark.parametrize("kept", [False, True])
def test_a_consumer_that_waits_on_ends_by_a_signal_or_by_its_rows(stub, program, tmp_path, kept):
    spec = SPEC | {"poll_ms": -1, "driver": "tdengine", "library": library(), "database": "test", "partitions": 1}
    spec.pop("messages")
    spec |= {"ask.poll.result": tmp_path / "rows"} if kept else {}
    with begun(program, spec | {"interval_s": 0.1}, STUB_MESSAGES="3") as running:
        while sum(map(int, re.findall(r'"requests":(\d+)', running.seen))) < 8:  # each waits after three messages
            running.until('"interval"')
        running.heed(signal.SIGINT)
        outcome = running.end()
    assert outcome.code == 130
    assert outcome.summary["outcome"] == "interrupted"
    assert [w["answers"] for w in outcome.summary["workers"]] == [3, 3]
    ended = stub(**SPEC | {"poll_ms": -1, "expect_rows": 2})
    assert (ended.code, [w["rows_read"] for w in ended.summary["workers"]]) == (0, [3, 3])


def test_response_times_are_from_the_time_of_the_row(stub):
    outcome = stub(**SPEC, row_times=1, age=800)
    (operation,) = outcome.summary["operations"]
    assert 800_000 <= operation["response"]["min_us"] <= operation["response"]["max_us"] < 2_000_000
    assert operation["service"]["max_us"] < 500_000
    plain = stub(**SPEC, age=800).summary["operations"][0]
    assert plain["response"] == plain["service"]


def test_rows_are_kept_in_a_file_of_each_consumer(stub, tmp_path):
    outcome = stub(**SPEC, **{"ask.poll.result": tmp_path / "rows"})
    assert (tmp_path / "rows-0").read_text() == "-5\n-5\n" * 5
    assert outcome.summary["operations"][0]["rows_window"] == 20


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ({"rounds": 0, "duration_s": 1}, 2, "spec: rounds: method tmq needs rounds"),
        ({"operations": "write", "ask.poll.text": None}, 2, "spec: operations: method tmq has one operation"),
        ({"poll_ms": -2}, 2, "poll_ms: '-2' is not a whole number"),
        ({"consumer": "group.id"}, 2, "consumer: 'group.id' is not key=value"),
        ({"consumer": "bogus=1"}, 2, "consumer: libtaos does not take bogus=1"),
        ({"fail": "tmq_subscribe:1:0x4001"}, 4, "0x4001: ask.poll.text: words of the stub"),
        ({"without": "tmq_subscribe"}, 3, "tmq_subscribe"),
    ],
    ids=["rounds", "write", "poll", "pair", "key", "refused", "libtaos"],
)
def test_what_a_subscription_cannot_be(stub, more, code, words):
    outcome = stub(**SPEC | more)
    assert outcome.code == code
    assert words in outcome.stderr
