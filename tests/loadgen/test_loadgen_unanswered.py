"""Methods without answers against a server of our own making: what is sent, what counts, and what the server says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from bare_server import BareServer
from line_server import LineServer
from loadgen_program import Outcome
from third_request import assert_acked, assert_late_ask

from tests.loadgen.listening import closing

SPEC = {"host": "127.0.0.1", "tables": 4, "threads": 2, "rows": 4000, "rows_per_request": 50, "tags": "groupid:int"}
SPEC |= {"columns": "current:float,voltage:int", "start_ms": 1500000000000, "step_ms": 1000}
METHODS = {"tcp": {"driver": "lines", "precision": "ns"}, "telnet": {"driver": "points", "in_seconds": 1}}


def sent(run: Callable[..., Outcome], method: str, mood: str = "", slow_s: float = 0, **more: object) -> Any:
    """The outcome of a load by a method, and the server in this mood."""
    with closing(BareServer(mood, slow_s=slow_s)) as server:
        return run(SPEC | METHODS[method] | {"method": method, "port": server.port} | more), server


@pytest.mark.parametrize("method", METHODS)
def test_rows_count_when_they_are_sent_and_have_no_times(run, method):
    outcome, server = sent(run, method)
    assert_acked(outcome, 4000)
    assert outcome.summary["is_answered"] is False
    assert outcome.summary["response"]["count"] == outcome.summary["service"]["count"] == 0
    assert outcome.summary["response"]["max_us"] is None
    assert "unanswered" in outcome.one("hello")["features"]
    assert len(server.lines) == 4000 * (1 if method == "tcp" else 2)


def test_lines_are_those_that_go_over_http(run):
    with closing(LineServer()) as http:
        answered = run(SPEC | METHODS["tcp"] | {"method": "http", "port": http.port})
    assert answered.summary["is_answered"] is True
    outcome, server = sent(run, "tcp")
    assert outcome.code == 0
    assert sorted(server.lines) == sorted(http.lines)


def test_a_point_is_a_line_of_put(run):
    outcome, server = sent(run, "telnet", rows=8, threads=1)
    assert outcome.code == 0
    line = re.compile(r"put measurement_(current \d+ -?\d+\.\d+|voltage \d+ -?\d+) device=d[0-3] groupid=-?\d+")
    assert all(line.fullmatch(text) for text in server.lines), server.lines[:3]
    assert {text.split()[2] for text in server.lines} == {"1500000000", "1500000001"}


def test_the_program_ends_when_the_server_has_read_everything(run):
    """A server that is slow has all rows when the program ends, though they were handed over long before."""
    outcome, server = sent(run, "tcp", slow_s=0.02, rows=20_000, rows_per_request=5000)
    assert outcome.code == 0
    assert len([line for text in server.texts for line in text.splitlines()]) == 20_000, "without waiting for threads"


@pytest.mark.parametrize("method", METHODS)
def test_what_the_server_says_is_an_error_in_its_words(run, method):
    outcome, _ = sent(run, method, "speaks", slow_s=0.01, rows=400_000)
    (error,) = outcome.of("error")
    assert (error["code"], outcome.code) == ("REFUSED", 6)
    assert error["message"] == "the server says: put: illegal argument: bad value"
    assert outcome.summary["rows_failed"] == 50


@pytest.mark.parametrize("method", METHODS)
def test_a_connection_that_is_closed_is_told_and_opened_again(run, method):
    outcome, server = sent(run, method, "closes", rows=400_000, threads=1)
    assert outcome.of("error")[0]["code"] == "CONNECTION"
    assert outcome.code == 6
    assert 0 < outcome.summary["rows_failed"] < 400_000
    assert len(server.texts) >= 2


def test_a_server_that_reads_nothing_ends_the_request_by_its_deadline(run):
    many = {"rows": 4_000_000, "rows_per_request": 5000, "threads": 1}
    assert_late_ask(sent(run, "tcp", "deaf", request_timeout_s=0.5, **many)[0])
