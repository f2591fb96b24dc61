"""What all drivers do alike against servers of our own making: answers that go wrong, and loads that send nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from cql_server import CqlServer
from driver_ways import WAYS, marks_of, spec_of
from iotdb_server import IotdbServer
from line_server import REFUSALS, CrateServer, LineServer
from pgarrays_server import ArraysServer
from pgwire_server import PgwireServer
from third_request import assert_acked, assert_failed

from tests.loadgen.listening import closing

# The code of the error, and words of its message, where the third request gets an answer in this mood.
FAULTS = {
    CqlServer: {
        "refused": ("0x1100", "Operation timed out"),
        "refused and warned": ("0x2200", "Invalid"),
        "words too short": ("0x1001", "short"),
        "nothing in it": ("0x0000", ""),
        "cut": ("CONNECTION", "closed"),
        "garbage": ("CONNECTION", "is not an answer of CQL"),
        "huge": ("CONNECTION", "is too long"),
        "warned too short": ("CONNECTION", "ends too early"),
    },
    IotdbServer: {
        "refused": ("507", "Path does not exist"),
        "several, one refused": ("507", "Path does not exist"),
        "no status": ("PROTOCOL", "has no status"),
        "nothing returned": ("CONNECTION", "ends too early"),
        "another call": ("CONNECTION", "an answer to call"),
        "an exception": ("CONNECTION", "Invalid method name"),
        "cut": ("CONNECTION", "closed"),
        "garbage": ("CONNECTION", "is not an answer of Thrift"),
        "huge": ("CONNECTION", "is not an answer of Thrift"),
        "not Thrift": ("CONNECTION", "is not in Thrift's binary protocol"),
        "ends early": ("CONNECTION", ""),
        "a list without end": ("CONNECTION", "ends too early"),
    },
    LineServer: REFUSALS,
    CrateServer: REFUSALS,
    ArraysServer: {
        "few": ("COUNT", "inserted 4 of 5 rows"),
        "refused": ("22P02", "cannot cast"),
        "cut": ("CONNECTION", "closed"),
        "garbage": ("PROTOCOL", "0xFF"),
        "short": ("CONNECTION", "shorter than its own length"),
    },
    PgwireServer: {
        "refused": ("22P02", "inconvertible value"),
        "commit refused": ("58000", "could not commit"),
        "few": ("COUNT", "it inserted 0 of 5 rows"),
        "garbage": ("PROTOCOL", "a message of kind 0xFF was not expected"),
        "partial": ("CONNECTION", "the connection was closed"),
        "cut": ("CONNECTION", "the connection was closed"),
        "short": ("CONNECTION", "a message that is shorter than its own length"),
        "huge": ("CONNECTION", "the answer is longer than"),
    },
}
HARMLESS = {
    CqlServer: ("warned",),
    IotdbServer: ("redirected", "several, all done"),
    LineServer: ("chunked", "continue", "last", "closes"),
    CrateServer: (),
    ArraysServer: ("notice",),
    PgwireServer: ("notice",),
}


def with_moods(moods: Mapping[Callable[[], Any], Iterable[str]]) -> Any:
    """A test for each way and each of these moods of its server."""
    pairs = [(way, mood) for way, (server, _) in WAYS.items() for mood in moods[server]]
    return pytest.mark.parametrize(("way", "mood"), [pytest.param(*pair, marks=marks_of(pair[0])) for pair in pairs])


each_way = pytest.mark.parametrize(
    "way", [pytest.param(way, marks=marks_of(way)) for way in (*WAYS, "lines tcp", "points telnet")]
)


@pytest.fixture
def sent(run) -> Callable[..., Any]:
    """sent(way, mood, ...): the outcome of a load whose third request is answered in this mood, and the server."""

    def sent(way: str, mood: str, **more: object) -> Any:
        with closing(WAYS[way][0]()) as server:
            server.moods[3] = mood
            return run(spec_of(way) | {"port": server.port} | more), server

    return sent


@with_moods(FAULTS)
def test_a_failed_request_is_told_and_the_next_goes_on(sent, way, mood):
    outcome, server = sent(way, mood)
    assert_failed(outcome, *FAULTS[type(server)][mood])
    assert (outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (35, 5)
    if isinstance(server, LineServer | PgwireServer):  # rows whose fate is not known are not sent again
        assert (len(server.raw) if isinstance(server, LineServer) else server.transactions) == 8


@with_moods(HARMLESS)
def test_what_is_no_failure_is_acknowledged(sent, way, mood):
    outcome, server = sent(way, mood)
    assert_acked(outcome)
    assert len(server.raw if isinstance(server, LineServer) else range(8)) == 8


@pytest.mark.parametrize("mood", ["silence", "drip"])
@pytest.mark.parametrize(
    "way",
    ["cassandra", "cratedb bulk", "iotdb tablet", "lines http", "pgarrays", "pgwire", "points put", "samples import"],
)
def test_a_request_without_an_answer_ends_by_its_deadline(sent, way, mood):
    outcome, _ = sent(way, mood, request_timeout_s=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_unanswered"]) == (5, 10, 5)


@each_way
def test_nothing_is_sent_when_sending_is_stubbed(run, way):
    assert_acked(run(spec_of(way) | {"port": 1, "sending": "stubbed"}))


@each_way
def test_no_server_is_said(run, way):
    outcome = run(spec_of(way) | {"port": 1})
    assert outcome.code == 4
    assert "cannot connect to 127.0.0.1:1" in outcome.of("error")[0]["message"]
