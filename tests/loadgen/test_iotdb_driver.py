"""The driver of IoTDB against a server of our own making: its calls, its statements, and answers that are not whole."""

from __future__ import annotations

import pytest
from iotdb_server import IotdbServer, field_of, more_answer, status, table_answer
from third_request import ROWS, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "iotdb", "database": "root.x"}
server = server_fixture(IotdbServer)
send = load_fixture(SPEC)


@pytest.mark.parametrize("method", ["tablet", "tablets", "records"])
@pytest.mark.parametrize("aligned", [0, 1])
def test_a_session_has_the_calls_of_its_method(send, server, method, aligned):
    assert_acked(send(method=method, aligned=aligned))
    (opened,) = server.named("openSession")
    assert opened == {1: 2, 2: b"UTC", 3: b"root", 4: b"root"}
    assert {name for name, _ in server.calls} == {f"insert{method[0].upper()}{method[1:]}"}
    assert all(request[6 if method == "records" else 8] is bool(aligned) for _, request in server.calls)
    assert len(server.named("closeSession")) == 1


def test_tablets_are_as_many_as_slices_and_share_a_connection(send, server):
    assert_acked(send(rows=1200, rows_per_request=300, interlace_rows=1), 1200)
    assert [request[7] for _, request in server.calls] == [1] * 1200
    server.calls.clear()
    assert_acked(send(method="tablets", rows=1200, rows_per_request=300, interlace_rows=1), 1200)
    assert [len(request[7]) for _, request in server.calls] == [300] * 4
    assert server.connections == 2


def test_devices_are_made_of_the_template_in_parts(run, server):
    outcome = run(SPEC | {"port": server.port, "tables": 2500, "threads": 1}, verb="tables")
    assert outcome.code == 0, outcome.stderr
    made = [path.decode() for request in server.named("createTimeseriesUsingSchemaTemplate") for path in request[2]]
    assert made == [f"root.x.d{i}" for i in range(2500)]
    assert len(server.named("createTimeseriesUsingSchemaTemplate")) == 3


def test_the_calls_after_a_refused_one_are_still_answered(send, server):
    server.moods[3] = "refused"
    outcome = send(rows=40, rows_per_request=20, interlace_rows=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (6, 20, 20)
    assert (len(server.calls), server.connections) == (40, 1)


def test_a_request_that_was_rejected_for_memory_is_tried_again(send, server):
    server.moods |= {3: "rejected", 4: "rejected"}
    outcome = send()
    assert_acked(outcome)
    assert outcome.summary["retries"] == 2


def test_who_may_not_log_in_is_told_in_the_servers_words(send, server):
    server.refuses_login = True
    outcome = send()
    assert (outcome.code, server.calls) == (4, [])
    assert "Authentication failed" in outcome.stderr + str(outcome.events)


@pytest.fixture
def ask(run, server, tmp_path):
    """ask(text): the outcome of statements, one a line, and their results."""

    def ask(text):
        (tmp_path / "statements").write_text(text)
        spec = {"driver": "iotdb", "host": "127.0.0.1", "port": server.port, "statements": tmp_path / "statements"}
        outcome = run(spec, verb="sql")
        return outcome, outcome.of("result")

    return ask


def test_the_rows_of_an_answer_are_told(ask, server):
    columns = {
        "n": ("INT64", [1 << 40, None, -3]),
        "Device": ("TEXT", ["root.x.d0", "root.x.d1", 'a"b']),
        "f": ("FLOAT", [0.1, 2.0, None]),
        "d": ("DOUBLE", [None, 0.1, float("inf")]),
        "b": ("BOOLEAN", [True, False, None]),
        "i": ("INT32", [-1, 2, 3]),
    }
    server.answers["SELECT 1"] = table_answer(columns)
    outcome, (result,) = ask("SELECT 1\n")
    assert outcome.code == 0, outcome.stderr
    assert result["columns"] == sorted(columns)
    told = dict(zip(result["columns"], zip(*result["rows"], strict=True), strict=True))
    same = {name: tuple(columns[name][1]) for name in ("n", "Device", "i")}
    assert told == same | {"f": (pytest.approx(0.1), 2, None), "d": (None, 0.1, "inf"), "b": ("true", "false", None)}


def test_all_pages_of_an_answer_are_told(ask, server):
    rows = 5_000
    server.pages = [
        table_answer({"a": ("INT32", [7] * rows)}, list(range(rows)), more=True),
        more_answer({"a": ("INT32", [8] * rows)}, list(range(rows, 2 * rows)), more=True),
        more_answer({"a": ("INT32", [9])}, [2 * rows]),
    ]
    outcome, (result,) = ask("SELECT a\n")
    assert outcome.code == 0, outcome.stderr
    assert result["columns"] == ["Time", "a"]
    assert result["rows"] == [[at, 7 + at // rows] for at in range(2 * rows + 1)]


def test_a_statement_without_rows_and_one_that_is_refused(ask, server):
    server.answers["BAD"] = field_of(12, 1, status(701, "not a statement")) + b"\0"
    outcome, results = ask("CREATE DATABASE root.x\nBAD\nFLUSH\n")
    assert [result["ok"] for result in results] == [True, False, True]
    assert (results[1]["code"], results[1]["message"], outcome.code) == ("701", "not a statement", 6)


def test_an_answer_that_is_not_whole_is_refused(ask, server):
    whole = table_answer({"n": ("INT64", [1, 2]), "t": ("TEXT", ["a", "b"])})
    server.answers["TYPE"] = whole.replace(b"INT64", b"INT99")
    server.answers["PLACE"] = whole.replace(b"\1t\0\0\0\1", b"\1t\0\0\0\x09")
    server.answers["FEW"] = whole.replace(b"\0\0\0\1a\0\0\0\1b", b"\0\0\0\1a\0\0\0\x09b")
    for text in ("TYPE", "PLACE", "FEW"):
        assert server.answers[text] != whole
        _, results = ask(f"{text}\n")
        assert not results[0]["ok"]
        assert "ends too early" in results[0]["message"]
