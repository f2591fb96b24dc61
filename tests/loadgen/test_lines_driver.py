"""The driver of the line protocol against a server of our own making: its lines, by HTTP and compressed."""

from __future__ import annotations

import re

import pytest
from line_server import LineServer
from third_request import ROWS, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "lines"}
server = server_fixture(LineServer)
send = load_fixture(SPEC)


def test_tags_stand_in_every_line_of_their_table(send, server):
    assert send(tags="groupid:int,location:binary(24)", rows=400).code == 0
    heads = {re.match(r"(\\.|[^ \\])+", line)[0] for line in server.lines}
    assert len(heads) == 4
    assert all(re.fullmatch(r"measurement,device=d\d,groupid=-?\d+,location=(\\.|[^ ])+", head) for head in heads)


def test_tables_are_parted(send, server):
    assert_acked(send(parted=1, partitions=2, table="m", write_path="/write?db=x"))
    assert {line.split(" ")[0] for line in server.lines} == {f"m_p{n % 2},device=d{n}" for n in range(4)}
    assert (server.connections, len(server.bodies)) == (1, 8), "one connection is kept"
    assert server.heads[0].startswith("POST /write?db=x HTTP/1.1\r\n")


def test_a_refused_piece_fails_its_request(send, server):
    server.moods[2] = "refused"
    outcome = send(columns="text:binary(60000)", rows=800, rows_per_request=400, text="random", tables=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (6, 400, 400)


def test_a_retry_is_asked_for(send, server):
    server.moods[3] = "cut"
    outcome = send(retries=1)
    assert_acked(outcome)
    assert outcome.summary["retries"] == 1


def test_gzip_holds_the_same_lines_in_fewer_bytes(send, server):
    bodies, lengths = {}, {}
    for method in ("http", "gzip"):
        server.forget()
        assert_acked(send(method=method, rows=20_000, rows_per_request=10_000, tables=1), 20_000)
        bodies[method], lengths[method] = list(server.bodies), sum(map(len, server.raw))
    assert bodies["http"] == bodies["gzip"]
    assert lengths["gzip"] < lengths["http"] / 2
    assert all("Content-Encoding: gzip\r\n" in head for head in server.heads)


@pytest.mark.parametrize("method", ["http", "gzip"])
def test_credentials_come_from_the_environment_and_are_in_each_request(send, server, method):
    outcome = send(method=method, auth_scheme="Token", env={"SCALE_PASSWORD": "kept-secret"})
    assert outcome.code == 0
    assert len(server.heads) == 8
    assert all("\r\nAuthorization: Token kept-secret\r\n" in head for head in server.heads)
    assert "kept-secret" not in outcome.stderr + str(outcome.events)
    server.forget()
    assert_acked(send(method=method, env={"SCALE_PASSWORD": "kept-secret"}))  # without a scheme
    assert not any("Authorization" in head for head in server.heads)


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("", "auth_scheme: the environment has no SCALE_PASSWORD"),
        ("a\r\nX-Other: b", "SCALE_PASSWORD: too long, or has a line break"),
        ("a" * 600, "SCALE_PASSWORD: too long, or has a line break"),
    ],
)
def test_credentials_that_cannot_be_sent_are_refused(send, server, password, words):
    outcome = send(auth_scheme="Token", env={"SCALE_PASSWORD": password})
    assert outcome.code == 2
    assert words in outcome.stderr + str(outcome.events)
    assert server.heads == []


def test_stubbed_sending_needs_no_credentials(run):
    assert_acked(run(SPEC | {"port": 1, "sending": "stubbed", "auth_scheme": "Token"}, env={"SCALE_PASSWORD": ""}))
