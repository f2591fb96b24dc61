"""What the tests of drivers against fake servers share: the fixtures, and what a load reports whose third request goes
wrong: it is of 40 rows, 5 in a request, by one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from loadgen_program import Outcome

from tests.loadgen.listening import FakeServer, Server, closing

Load = Callable[..., Outcome]
RANGES = {  # a load that asks for ranges of one column, by one thread; its text and its driver are missing
    "host": "127.0.0.1",
    "tables": 30,
    "threads": 1,
    "operations": "range",
    "ask.range.span_ms": 500,
    "rows_present": 1000,
    "step_ms": 10,
    "check_every": 1,
    "requests": 60,
}


def server_fixture(make: Callable[[], Server]) -> Any:
    """The fixture `server`: a new one for each test."""

    @pytest.fixture(name="server")
    def server() -> Iterator[Server]:
        with closing(make()) as one:
            yield one

    return server


def load_fixture(spec: Mapping[str, object], name: str = "send") -> Any:
    """The fixture `send`: send(rows=..., env={}, ...) is a load of the spec and more that goes to the server."""

    @pytest.fixture(name=name)
    def send(run: Load, server: FakeServer) -> Load:
        return lambda env=None, **more: run({**spec, "port": server.port, **more}, env=env)

    return send


def assert_refused(outcome: Outcome, code: str, words: str) -> None:
    """The third request failed with this code and these words, and the next ones were acknowledged."""
    (error,) = outcome.of("error")
    assert (error["code"], outcome.code) == (code, 6)
    assert words in error["message"]
    assert (outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (35, 5)


def assert_unanswered(send: Load, **spec: object) -> None:
    """The third request has no answer: the load ends by the deadline of that request."""
    outcome = send(request_timeout_s=1, **spec)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_unanswered"]) == (5, 10, 5)
