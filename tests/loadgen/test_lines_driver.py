"""The driver of the line protocol against a server of our own making: its lines, and every answer that goes wrong."""

from __future__ import annotations

import csv
import re
import struct

import pytest
from line_server import REFUSALS, LineServer
from third_request import assert_refused, assert_unanswered, load_fixture, server_fixture

SPEC = {"driver": "lines", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int,phase:float"}
LINE = re.compile(r"(?P<head>(?:\\.|[^ \\])+) (?P<fields>.*) (?P<time>-?\d+)")


server = server_fixture(LineServer)
send = load_fixture(SPEC)


def fields_of(text: str) -> dict[str, str]:
    """name → value as it stands in the line."""
    return dict(re.findall(r'(\w+)=("(?:\\.|[^"\\])*"|[^,]*)', text))


def read_back(value: str, kind: str) -> str:
    """A field's value as the null driver dumps it; refuses a number without the mark of its type."""
    if kind.startswith(("binary", "nchar")):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    if kind == "bool":
        return {"t": "1", "f": "0"}[value]
    if kind in ("float", "double"):
        narrow = struct.unpack("f", struct.pack("f", float(value)))[0]
        return f"{narrow:.9g}" if kind == "float" else f"{float(value):.17g}"
    assert value.endswith("i")
    return value[:-1]


@pytest.mark.parametrize("values", ["walk", "random"])
@pytest.mark.parametrize("nulls", [0, 0.4])
def test_lines_hold_the_rows(run, send, server, tmp_path, values, nulls):
    columns = (
        "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,n:timestamp,"
        "text:binary(20),uni:nchar(8)"
    )
    spec = {"columns": columns, "values": values, "null_ratio": nulls, "tables": 7, "rows": 700, "rows_per_request": 90}
    spec |= {"interlace_rows": 3}
    assert send(**spec).code == 0
    dumped = run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"})
    assert dumped.code == 0
    rows = list(csv.reader((tmp_path / "rows.0").read_text().splitlines()))
    names, kinds = zip(*(c.split(":") for c in columns.split(",")), strict=True)
    assert len(server.lines) == len(rows) == 700
    for line, (table, _, at, *wanted) in zip(server.lines, rows, strict=True):
        found = LINE.fullmatch(line)
        assert found, line
        assert found["head"] == f"measurement,device=d{table}"
        assert found["time"] == at
        fields = fields_of(found["fields"])
        got = [read_back(fields[n], k) if n in fields else "NULL" for n, k in zip(names, kinds, strict=True)]
        if set(wanted) == {"NULL"}:
            assert list(fields) == ["f"], "a line without a value is no row"
        else:
            assert got == wanted


def test_tags_stand_in_every_line_of_their_table(send, server):
    assert send(tags="groupid:int,location:binary(24)", rows=400).code == 0
    heads = {LINE.fullmatch(line)["head"] for line in server.lines}
    assert len(heads) == 4
    assert all(re.fullmatch(r"measurement,device=d\d,groupid=-?\d+,location=(\\.|[^ ])+", head) for head in heads)


def test_tables_are_parted(send, server):
    assert send(parted=1, partitions=2, table="m", write_path="/write?db=x").code == 0
    assert {line.split(" ")[0] for line in server.lines} == {
        "m_p0,device=d0",
        "m_p1,device=d1",
        "m_p0,device=d2",
        "m_p1,device=d3",
    }
    assert server.heads[0].startswith("POST /write?db=x HTTP/1.1\r\n")


def test_one_connection_is_kept(send, server):
    assert send().code == 0
    assert (server.connections, len(server.bodies)) == (1, 8)


def test_a_large_request_goes_in_pieces(send, server):
    outcome = send(columns="text:binary(60000)", rows=400, rows_per_request=400, text="random", tables=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["requests"]) == (0, 400, 1)
    assert len(server.bodies) > 2
    assert len(server.lines) == 400


def test_a_refused_piece_fails_its_request(send, server):
    server.moods[2] = "refused"
    outcome = send(columns="text:binary(60000)", rows=800, rows_per_request=400, text="random", tables=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (6, 400, 400)


@pytest.mark.parametrize("mood", ["chunked", "continue", "last", "closes"])
def test_any_good_answer_counts(send, server, mood):
    server.moods[3] = mood
    outcome = send()
    assert (outcome.code, outcome.summary["rows_acked"], len(server.lines)) == (0, 40, 40), outcome.stderr


@pytest.mark.parametrize("mood", REFUSALS)
def test_a_failed_request_is_told_and_the_next_goes_on(send, server, mood):
    server.moods[3] = mood
    assert_refused(send(), *REFUSALS[mood])
    assert len(server.bodies) == 8, "rows whose fate is not known are not sent again"


@pytest.mark.parametrize("mood", ["silence", "drip"])
def test_a_request_without_an_answer_ends_by_its_deadline(send, server, mood):
    server.moods[3] = mood
    assert_unanswered(send)


def test_a_retry_is_asked_for(send, server):
    server.moods[3] = "cut"
    outcome = send(retries=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["retries"]) == (0, 40, 1)


def test_no_server_is_said(run):
    outcome = run(SPEC | {"port": 1})
    assert outcome.code == 4
    assert "cannot connect to 127.0.0.1:1" in outcome.of("error")[0]["message"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"columns": "a:int,w:varbinary(8)"}, "columns: lines have no way to write w:varbinary"),
        ({"columns": "a:ubigint"}, "columns: lines have no way to write a:ubigint"),
        ({"parted": "2"}, "parted"),
    ],
)
def test_what_lines_cannot_say_is_refused(run, spec, words):
    outcome = run(SPEC | {"port": 1} | spec)
    assert outcome.code == 2
    assert words in outcome.stderr + str(outcome.events)


@pytest.mark.parametrize("method", ["http", "gzip"])
def test_nothing_is_sent_when_sending_is_stubbed(run, method):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed", "method": method})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)


def test_gzip_holds_the_same_lines(send, server):
    assert send(method="http").code == 0
    plain = list(server.bodies)
    server.bodies.clear()
    server.heads.clear()
    assert send(method="gzip").code == 0
    assert server.bodies == plain
    assert all("Content-Encoding: gzip\r\n" in head for head in server.heads)


def test_compressed_pieces_are_small(send, server):
    more = {"rows": 20_000, "rows_per_request": 10_000, "tables": 1}
    lengths = {}
    for method in ("http", "gzip"):
        server.heads.clear()
        assert send(method=method, **more).code == 0
        lengths[method] = sum(int(re.search(r"Content-Length: (\d+)", head)[1]) for head in server.heads)
    assert lengths["gzip"] < lengths["http"] / 2


def test_a_refusal_of_compressed_lines_is_told(send, server):
    server.moods[3] = "refused"
    outcome = send(method="gzip")
    assert (outcome.summary["rows_acked"], outcome.summary["rows_failed"]) == (35, 5)


@pytest.mark.parametrize("method", ["http", "gzip"])
def test_credentials_come_from_the_environment_and_are_in_each_request(send, server, method):
    outcome = send(method=method, auth_scheme="Token", env={"SCALE_PASSWORD": "kept-secret"})
    assert outcome.code == 0
    assert len(server.heads) == 8
    assert all("\r\nAuthorization: Token kept-secret\r\n" in head for head in server.heads)
    assert "kept-secret" not in outcome.stderr + str(outcome.events)


def test_without_a_scheme_no_credentials_are_sent(send, server):
    assert send(env={"SCALE_PASSWORD": "kept-secret"}).code == 0
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
    outcome = run(SPEC | {"port": 1, "sending": "stubbed", "auth_scheme": "Token"}, env={"SCALE_PASSWORD": ""})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)
