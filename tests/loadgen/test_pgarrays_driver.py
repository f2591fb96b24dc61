"""The driver that inserts arrays by the PostgreSQL protocol, against a server of our own making: its statement, the rows
in its arrays, and answers that go wrong."""

from __future__ import annotations

import csv
import re
import socket
import struct
from dataclasses import dataclass, field
from typing import BinaryIO

import pytest
from pgwire_server import READY, PgwireServer, error, message, read
from third_request import assert_refused, assert_unanswered, load_fixture, server_fixture

SPEC = {"driver": "pgarrays", "host": "127.0.0.1", "tables": 4, "threads": 1, "rows": 40, "rows_per_request": 5}
SPEC |= {"tags": "", "columns": "current:float,voltage:int"}
COLUMNS = "f:float,d:double,b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,u:uint,x:binary(9),w:timestamp"
ELEMENTS = {1000: (16, "?"), 1005: (21, "h"), 1007: (23, "i"), 1016: (20, "q"), 1021: (700, "f"), 1022: (701, "d")}
ELEMENTS |= {1015: (1043, "")}


@dataclass
class ArraysServer(PgwireServer):
    """It stores every row and says how many, as CrateDB 6.4.3 does, unless it is told a mood of the request's number:
    "few" stores one row less, "refused" refuses all."""

    sql: str = ""
    types: tuple[int, ...] = ()
    stored: list[tuple[object, ...]] = field(default_factory=list)

    def _answer(self, connection: socket.socket, file: BinaryIO) -> None:
        said, rows, mood = b"", 0, ""
        while True:
            kind, body = read(file)
            if kind == "P":
                said += self._prepare(body)
            elif kind == "B":
                self.transactions += 1
                mood = self.moods.get(self.transactions, "")
                came = rows_of(body, self.types)
                self.stored += came if not mood else []
                rows = len(came) - (mood == "few")
                said += error("22P02", "cannot cast") if mood == "refused" else message("2")
            elif kind == "E":
                said += b"" if mood == "refused" else message("C", f"INSERT 0 {rows}\0".encode())
            elif kind == "S":
                if not self._tell(connection, said + READY, mood):
                    return
                said, mood = b"", ""

    def _prepare(self, body: bytes) -> bytes:
        name, sql, rest = body.split(b"\0", 2)
        (count,) = struct.unpack("!H", rest[:2])
        assert name == b"i"
        self.sql, self.types = sql.decode(), struct.unpack(f"!{count}I", rest[2:])
        return error("42P01", "Relation unknown") if self.refuses_statement else message("1")


def rows_of(body: bytes, types: tuple[int, ...]) -> list[tuple[object, ...]]:
    """The rows of a message that binds an array for each column."""
    assert body.startswith(b"\0i\0\0\1\0\1"), "one format for all: binary"
    (count,) = struct.unpack("!H", body[7:9])
    assert count == len(types) and body.endswith(b"\0\0")
    at, columns = 9, []
    for type_id in types:
        length, dimensions, _, element, rows, first = struct.unpack("!iiiiii", body[at : at + 24])
        assert (dimensions, element, first) == (1, ELEMENTS[type_id][0], 1)
        columns.append(list(values_of(body[at + 24 : at + 4 + length], ELEMENTS[type_id][1])))
        assert len(columns[-1]) == rows
        at += 4 + length
    assert at == len(body) - 2
    return list(zip(*columns, strict=True))


def values_of(data: bytes, form: str):
    """The values of an array, each behind its length."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack("!i", data[at : at + 4])
        value = data[at + 4 : at + 4 + max(length, 0)]
        at += 4 + max(length, 0)
        yield None if length < 0 else struct.unpack(f"!{form}", value)[0] if form else value.decode()


server = server_fixture(ArraysServer)
send = load_fixture(SPEC)


@pytest.mark.parametrize("nulls", [0, 0.4, 1])
@pytest.mark.parametrize("interlaced", [0, 3])
def test_arrays_hold_the_rows(run, send, server, tmp_path, nulls, interlaced):
    spec = {"columns": COLUMNS, "values": "random", "null_ratio": nulls, "tables": 7, "rows": 700}
    spec |= {"interlace_rows": interlaced, "rows_per_request": 90}
    sent = send(**spec)
    assert (sent.code, sent.summary["rows_acked"]) == (0, 700), sent.stderr
    assert run(SPEC | spec | {"driver": "null", "dump": tmp_path / "rows"}).code == 0
    kinds = [column.partition(":")[2].partition("(")[0] for column in COLUMNS.split(",")]
    wanted = sorted(
        (int(table), int(at), *map(value_of, kinds, cells))
        for table, _, at, *cells in csv.reader((tmp_path / "rows.0").read_text().splitlines())
    )
    assert sorted(server.stored, key=lambda row: row[:2]) == wanted


def value_of(kind: str, cell: str) -> object:
    """A cell of a dump as a value. A float has 32 bits."""
    if cell == "NULL":
        return None
    if kind == "bool":
        return cell in ("1", "true")
    if kind == "float":
        return struct.unpack("f", struct.pack("f", float(cell)))[0]
    return cell if kind == "binary" else float(cell) if kind == "double" else int(cell)


def test_the_statement_names_its_columns_and_types(send, server):
    assert send(env={"SCALE_PASSWORD": "a password"}).code == 0
    assert server.sql == (
        'INSERT INTO "measurement" (device_id, time, "current", "voltage") (SELECT * FROM UNNEST('
        "$1::ARRAY(INTEGER), $2::ARRAY(BIGINT), $3::ARRAY(REAL), $4::ARRAY(INTEGER)))"
    )
    assert server.types == (1007, 1016, 1021, 1007)
    assert server.startup[:4] == ["user", "crate", "database", "doc"] and server.passwords == ["a password"]


def test_only_the_columns_of_the_request_are_sent(send, server):
    assert send(partial_columns=1, partial_from=1).code == 0
    assert re.findall(r'"(\w+)"', server.sql) == ["measurement", "voltage"] and {len(r) for r in server.stored} == {3}


def test_a_large_request_goes_in_pieces(send, server):
    outcome = send(rows=400_000, rows_per_request=400_000, tables=1)
    assert (outcome.code, outcome.summary["rows_acked"], outcome.summary["requests"]) == (0, 400_000, 1)
    assert server.transactions >= 2
    assert [row[1] for row in server.stored] == list(range(1500000000000, 1500000400000))


@pytest.mark.parametrize(
    ("mood", "code", "words"),
    [
        ("few", "COUNT", "inserted 4 of 5 rows"),
        ("refused", "22P02", "cannot cast"),
        ("cut", "CONNECTION", "closed"),
        ("garbage", "PROTOCOL", "0xFF"),
        ("short", "CONNECTION", "shorter than its own length"),
    ],
)
def test_a_failed_request_is_told_and_the_next_goes_on(send, server, mood, code, words):
    server.moods[3] = mood
    assert_refused(send(), code, words)


@pytest.mark.parametrize("mood", ["silence", "drip"])
def test_a_request_without_an_answer_ends_by_its_deadline(send, server, mood):
    server.moods[3] = mood
    assert_unanswered(send)


def test_a_notice_is_no_answer(send, server):
    server.moods[3] = "notice"
    assert send().summary["rows_acked"] == 40


def test_a_table_that_is_missing_is_found_before_the_load(send, server):
    server.refuses_statement = "INSERT"
    outcome = send()
    assert outcome.code == 4 and "Relation unknown" in str(outcome.events) + outcome.stderr


@pytest.mark.parametrize("column", ["x:varbinary(6)", "x:ubigint", "x:geometry(24)"])
def test_a_type_that_it_lacks_is_refused(run, column):
    outcome = run(SPEC | {"port": 1, "columns": f"a:int,{column}"})
    assert outcome.code == 2
    assert f"columns: an array has no way to write {column.partition('(')[0]}" in str(outcome.events)


def test_other_times_than_milliseconds_are_refused(run):
    outcome = run(SPEC | {"port": 1, "precision": "us"})
    assert outcome.code == 2 and "precision" in outcome.stderr + str(outcome.events)


def test_nothing_is_sent_when_sending_is_stubbed(run):
    outcome = run(SPEC | {"port": 1, "sending": "stubbed"})
    assert (outcome.code, outcome.summary["rows_acked"]) == (0, 40)
