"""What the tests of drivers against fake servers share: the fixtures, and what a load reports whose third request goes
wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from loadgen_program import Outcome

from tests.loadgen.listening import FakeServer, Server, closing

Load = Callable[..., Outcome]
ROWS = {  # a load of 40 rows, 5 in a request, by one thread; its driver is missing
    "host": "127.0.0.1",
    "tables": 4,
    "threads": 1,
    "rows": 40,
    "rows_per_request": 5,
    "tags": "",
    "columns": "current:float,voltage:int,phase:float",
}
TYPES = (  # a column of each type that most drivers have
    "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,n:timestamp"
)
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


def server_fixture(make: Callable[[], Server], name: str = "server") -> Any:
    """The fixture `server`: a new one for each test."""

    @pytest.fixture(name=name)
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


def assert_acked(outcome: Outcome, rows: int = 40) -> None:
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, rows), outcome.stderr


def assert_failed(outcome: Outcome, code: str, words: str) -> None:
    """One request failed with this code and these words."""
    (error,) = outcome.of("error")
    assert (error["code"], outcome.code) == (code, 6)
    assert words in error["message"]


def assert_empty(outcome: Outcome) -> None:
    """Every query of the one operation had an answer without rows."""
    assert outcome.code == 0, outcome.stderr
    (operation,) = outcome.summary["operations"]
    assert operation["empty_window"] == operation["units_window"] > 0


def assert_late_ask(outcome: Outcome) -> None:
    assert (outcome.code, outcome.of("error")[0]["code"]) == (5, "deadline")


def assert_late(outcome: Outcome, unanswered: int) -> None:
    """It ended by the deadline, and says what it does not know."""
    assert (outcome.code, outcome.summary["outcome"]) == (5, "fatal"), outcome.stderr
    assert {e["code"] for e in outcome.of("error")} == {"deadline"}
    assert outcome.summary["error_kinds"][0]["code"] == "deadline"
    assert outcome.summary["rows_unanswered"] == unanswered
    assert outcome.summary["rows_failed"] == 0
