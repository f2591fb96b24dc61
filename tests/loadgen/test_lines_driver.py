"""The driver of the line protocol against a server of our own making: its lines, by HTTP and compressed."""

from __future__ import annotations

import re

import pytest
from line_server import LineServer
from loadgen_program import float32
from third_request import ROWS, TYPES, assert_acked, load_fixture, server_fixture

SPEC = ROWS | {"driver": "lines"}
LINE = re.compile(r"(?P<head>(?:\\.|[^ \\])+) (?P<fields>.*) (?P<time>-?\d+)")
server = server_fixture(LineServer)
send = load_fixture(SPEC)


def read_back(value: str, kind: str) -> object:
    """Refuses a number without the mark of its type."""
    if kind.startswith(("binary", "nchar")):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    if kind == "bool":
        return {"t": 1, "f": 0}[value]
    if kind in ("float", "double"):
        return float32(float(value)) if kind == "float" else float(value)
    assert value.endswith("i")
    return int(value[:-1])


@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("nulls", [0, 0.4])
def test_lines_hold_the_rows(send, made, server, values, nulls):
    columns = f"{TYPES},text:binary(20),uni:nchar(8)"
    spec = {"columns": columns, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": 3}
    assert_acked(send(**spec), 700)
    names = [column.split(":") for column in columns.split(",")]
    for line, row in zip(server.lines, made(**SPEC | spec), strict=True):
        found = LINE.fullmatch(line)
        assert found, line
        assert (found["head"], found["time"]) == (f"measurement,device=d{row.table}", str(row.at))
        fields = dict(re.findall(r'(\w+)=("(?:\\.|[^"\\])*"|[^,]*)', found["fields"]))
        if set(row.values) == {None}:
            assert list(fields) == ["f"], "a line without a value is no row"
        else:
            got = [read_back(fields[name], kind) if name in fields else None for name, kind in names]
            assert got == row.values


def test_tags_stand_in_every_line_of_their_table(send, server):
    assert send(tags="groupid:int,location:binary(24)", rows=400).code == 0
    heads = {LINE.fullmatch(line)["head"] for line in server.lines}
    assert len(heads) == 4
    assert all(re.fullmatch(r"measurement,device=d\d,groupid=-?\d+,location=(\\.|[^ ])+", head) for head in heads)


def test_tables_are_parted(send, server):
    assert_acked(send(parted=1, partitions=2, table="m", write_path="/write?db=x"))
    assert {line.split(" ")[0] for line in server.lines} == {f"m_p{n % 2},device=d{n}" for n in range(4)}
    assert (server.connections, len(server.bodies)) == (1, 8), "one connection is kept"
    assert server.heads[0].startswith("POST /write?db=x HTTP/1.1\r\n")


def test_a_large_request_goes_in_pieces(send, server):
    outcome = send(columns="text:binary(60000)", rows=400, rows_per_request=400, text="random", tables=1)
    assert_acked(outcome, 400)
    assert outcome.summary["requests"] == 1 and len(server.bodies) > 2 and len(server.lines) == 400


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
