"""Methods without answers against a server of our own making: what is sent, what counts, and what the server says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from bare_server import BareServer
from line_server import LineServer
from loadgen_program import Outcome

SPEC = {"host": "127.0.0.1", "tables": 4, "threads": 2, "rows": 4000, "rows_per_request": 50, "tags": "groupid:int"}
SPEC |= {"columns": "current:float,voltage:int", "start_ms": 1500000000000, "step_ms": 1000}
METHODS = {"tcp": {"driver": "lines", "precision": "ns"}, "telnet": {"driver": "points", "in_seconds": 1}}


@pytest.fixture
def serving() -> Iterator[Callable[..., BareServer]]:
    made: list[BareServer] = []

    def serving(mood: str = "", **more: float) -> BareServer:
        made.append(BareServer(mood, **more))
        return made[-1]

    yield serving
    for server in made:
        server.close()


def sent(run: Callable[..., Outcome], server: BareServer, method: str, **more: object) -> Outcome:
    return run(SPEC | METHODS[method] | {"method": method, "port": server.port} | more)


@pytest.mark.parametrize("method", METHODS)
def test_rows_count_when_they_are_sent_and_have_no_times(run, serving, method):
    server = serving()
    outcome = sent(run, server, method)
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 4000), outcome.stderr
    assert outcome.summary["is_answered"] is False
    assert outcome.summary["response"]["count"] == outcome.summary["service"]["count"] == 0
    assert outcome.summary["response"]["max_us"] is None
    assert "unanswered" in outcome.one("hello")["features"]
    assert len(server.lines) == 4000 * (1 if method == "tcp" else 2)


def test_lines_are_those_that_go_over_http(run, serving):
    http = LineServer()
    try:
        answered = run(SPEC | METHODS["tcp"] | {"method": "http", "port": http.port})
    finally:
        http.close()
    assert answered.summary["is_answered"] is True
    server = serving()
    assert sent(run, server, "tcp").code == 0
    assert sorted(server.lines) == sorted(http.lines)


def test_a_point_is_a_line_of_put(run, serving):
    server = serving()
    assert sent(run, server, "telnet", rows=8, threads=1).code == 0
    line = re.compile(r"put measurement_(current \d+ -?\d+\.\d+|voltage \d+ -?\d+) device=d[0-3] groupid=-?\d+")
    assert all(line.fullmatch(text) for text in server.lines), server.lines[:3]
    assert {text.split()[2] for text in server.lines} == {"1500000000", "1500000001"}


def test_the_program_ends_when_the_server_has_read_everything(run, serving):
    """A server that is slow has all rows when the program ends, though they were handed over long before."""
    server = serving(slow_s=0.02)
    assert sent(run, server, "tcp", rows=20_000, rows_per_request=5000).code == 0
    assert len([line for text in server.texts for line in text.splitlines()]) == 20_000, "without waiting for threads"


@pytest.mark.parametrize("method", METHODS)
def test_what_the_server_says_is_an_error_in_its_words(run, serving, method):
    outcome = sent(run, serving("speaks", slow_s=0.01), method, rows=400_000)
    (error,) = outcome.of("error")
    assert (error["code"], outcome.code) == ("REFUSED", 6)
    assert error["message"] == "the server says: put: illegal argument: bad value"
    assert outcome.summary["rows_failed"] == 50


@pytest.mark.parametrize("method", METHODS)
def test_a_connection_that_is_closed_is_told_and_opened_again(run, serving, method):
    server = serving("closes")
    outcome = sent(run, server, method, rows=400_000, threads=1)
    assert outcome.of("error")[0]["code"] == "CONNECTION"
    assert outcome.code == 6
    assert 0 < outcome.summary["rows_failed"] < 400_000
    assert len(server.texts) >= 2


def test_a_server_that_reads_nothing_ends_the_request_by_its_deadline(run, serving):
    outcome = sent(run, serving("deaf"), "tcp", rows=4_000_000, rows_per_request=5000, request_timeout_s=0.5, threads=1)
    assert outcome.code == 5
    assert outcome.of("error")[0]["code"] == "deadline"


def test_no_server_is_said(run):
    outcome = run(SPEC | METHODS["tcp"] | {"method": "tcp", "port": 1})
    assert outcome.code == 4
    assert "cannot connect to 127.0.0.1:1" in outcome.of("error")[0]["message"]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_sent_when_sending_is_stubbed(run, method):
    outcome = run(SPEC | METHODS[method] | {"method": method, "port": 1, "sending": "stubbed"})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 4000)
