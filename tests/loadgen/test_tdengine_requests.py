"""What the TDengine driver sends: the order of calls and every value, by each method, beside the null driver's rows."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from collections.abc import Callable, Iterator

import pytest
from loadgen_program import Outcome, float32
from third_request import assert_acked

FIXED = "b:bool,t:tinyint,s:smallint,i:int,l:bigint,ut:utinyint,us:usmallint,ui:uint,ul:ubigint,f:float,d:double,w:timestamp"
TEXTS = "x:binary(20),n:nchar(12),v:varbinary(16),g:geometry(32)"
SPEC = {"tables": 8, "threads": 1, "placement": "stock", "rows": 400, "rows_per_request": 25, "seed": 3}


def acked(outcome: Outcome, rows: int = 400) -> None:
    assert_acked(outcome, rows)
    assert outcome.summary["errors"] == 0


def made(rows_of: Callable[..., list[str]], spec: dict[str, object]) -> list[str]:
    """The rows as the null driver has them: table,time,values."""
    lines = rows_of(**{key: value for key, value in spec.items() if key not in ("method", "table_prefix")})
    return sorted(",".join([f"d{line.split(',')[0]}", *line.split(",")[2:]]) for line in lines)


def test_calls_of_stmt_in_their_order(stub):
    acked(stub(**SPEC | {"rows": 8, "rows_per_request": 1}), 8)
    assert stub.words()[:4] == ["connect", "route", "vgroups", "close"]
    assert stub.words()[4:] == ["connect", "init", "prepare", *["table", "bind", "add", "execute"] * 8, "close"]
    assert stub.starting("prepare") == ["INSERT INTO ? VALUES(?,?,?,?)"]
    # an interlaced request is executed once
    acked(stub(**SPEC | {"rows": 8, "rows_per_request": 4, "interlace_rows": 1}), 8)
    assert stub.words()[7:] == [*[*["table", "bind", "add"] * 4, "execute"] * 2, "close"]


USING = r" USING `load`\.`meters` TAGS \((-?\d+),'([^']*)'\)"


def test_an_insertion_that_makes_its_table_names_the_supertable_and_the_tags(stub):
    spec = SPEC | {"database": "load", "rows": 8, "rows_per_request": 1, "auto_create": "1"}
    acked(stub(**spec), 8)
    texts = [re.fullmatch(rf"INSERT INTO \?{USING} VALUES\(\?,\?,\?,\?\)", text) for text in stub.starting("prepare")]
    assert len(texts) == 8 and all(texts)
    acked(stub(**spec | {"method": "sql", "partial_columns": 1}), 8)
    made = [re.match(rf"INSERT INTO (d\d){USING} \(ts,`current`\) VALUES \(", text) for text in stub.starting("query")]
    assert [one[1] for one in made] == [f"d{i}" for i in range(8)]
    assert [one.groups()[1:] for one in made] == [one.groups() for one in texts]


def test_a_process_has_the_tables_from_its_first_one_on(stub):
    acked(stub(**SPEC | {"rows": 8, "rows_per_request": 1, "method": "sql", "first_table": 40}), 8)
    assert [text.split()[2] for text in stub.starting("query")] == [f"d{i}" for i in range(40, 48)]


def test_more_rows_than_a_binding_takes_are_bound_apart(stub):
    acked(stub(**SPEC | {"tables": 1, "partitions": 1, "vgroups": 1, "rows": 70000, "rows_per_request": 70000}), 70000)
    assert [line.split()[0] for line in stub.starting("bind")] == ["32767", "32767", "4466"]
    assert stub.words().count("execute") == 1


@pytest.mark.parametrize("values", ["walk", "random", "constant"])
@pytest.mark.parametrize("more", [{}, {"null_ratio": 0.3}, {"interlace_rows": 5, "disorder_ratio": 20}], ids=str)
def test_stmt_binds_what_was_made(stub, rows_of, values, more):
    spec = SPEC | {"columns": f"{FIXED},{TEXTS}", "values": values} | more
    acked(stub(**spec))
    assert sorted(stub.starting("row")) == made(rows_of, spec)
    assert {line.partition("types ")[2] for line in stub.starting("bind")} == {
        "9 1 2 3 4 5 11 12 13 14 6 7 9 8 10 16 20"
    }


def rows_of_statement(statement: str) -> Iterator[tuple[str, list[str]]]:
    """(table, values) of each row of INSERT text."""
    for table, rows in re.findall(r"(d\d+)(?: \([^)]*\))? VALUES ((?:\((?:'[^']*'|[^()'])*\))+)", statement):
        for row in re.findall(r"\(((?:'[^']*'|[^()'])*)\)", rows):
            yield table, re.findall(r"'[^']*'|[^,]+", row)


@pytest.mark.parametrize("values", ["walk", "random", "constant"])
def test_sql_writes_every_number_so_that_it_reads_back(stub, rows_of, values):
    spec = SPEC | {"columns": FIXED, "values": values, "method": "sql", "null_ratio": 0.2}
    acked(stub(**spec))
    sent = sorted(row for statement in stub.starting("query") for row in rows_of_statement(statement))
    expected = sorted((line.split(",")[0], line.split(",")[1:]) for line in made(rows_of, spec))
    assert len(sent) == len(expected) == 400
    for (table, cells), (other, values_made) in zip(sent, expected, strict=True):
        assert table == other
        assert len(cells) == len(values_made) == 13
        for column, (cell, value) in enumerate(zip(cells, values_made, strict=True)):
            if cell == "NULL" or value == "NULL":
                assert cell == value
            elif column == 10:
                assert float32(float(cell)) == float32(float(value))
            else:
                assert float(cell) == float(value)


def test_sql_writes_text_in_quotes_and_bytes_in_hexadecimal(stub, rows_of):
    spec = SPEC | {"columns": TEXTS, "method": "sql", "rows": 8}
    acked(stub(**spec), 8)
    sent = {cells[0] + table: cells for s in stub.starting("query") for table, cells in rows_of_statement(s)}
    for line in made(rows_of, spec):
        table, time, x, n, v, g = line.split(",")
        cells = sent[time + table]
        assert cells[1:4] == [f"'{x}'", f"'{n}'", f"'\\x{v}'"]
        x_y = struct.unpack("<dd", bytes.fromhex(g)[5:])
        assert tuple(map(float, re.findall(r"[-\d.]+", cells[4]))) == x_y


def test_a_statement_is_no_longer_than_the_server_takes(stub):
    spec = SPEC | {"columns": "x:binary(1000)", "text": "random", "method": "sql", "rows_per_request": 5000}
    acked(stub(**spec | {"rows": 40000}), 40000)
    lengths = [len(statement) for statement in stub.starting("query")]
    assert max(lengths) <= 1 << 20
    assert max(lengths) > 1 << 19
    assert len(lengths) > 8


@pytest.mark.parametrize("method", ["stmt", "sql"])
def test_partial_columns_are_named(stub, rows_of, method):
    spec = SPEC | {"columns": "a:int,b:int,c:int", "partial_columns": 2, "partial_from": 1, "method": method}
    acked(stub(**spec))
    said = stub.starting("prepare")[0] if method == "stmt" else stub.starting("query")[0]
    assert "(ts,`b`,`c`) VALUES" in said
    if method == "stmt":
        assert sorted(stub.starting("row")) == made(rows_of, spec)


def test_lines_hold_table_tags_and_typed_fields(stub):
    spec = SPEC | {"columns": f"{FIXED},{TEXTS}", "method": "sml-line", "rows": 8, "precision": "us"}
    acked(stub(**spec), 8)
    assert stub.starting("connect")[0].endswith("named by dev"), "libtaos names tables after the tag"
    assert stub.starting("schemaless")[0] == "1 5 1"
    line = next(call for call in stub.calls() if call.startswith("meters,dev=d0,"))
    assert re.search(r",groupid=\d+,location=(?:\\ |\S)+ b=(true|false),t=\d+i8,", line)
    assert re.search(r",s=\d+i16,i=\d+i32,l=\d+i64,ut=\d+u8,us=\d+u16,ui=\d+u32,ul=\d+u64,", line)
    assert re.search(r'f=[\d.]+f32,d=[\d.]+f64,w=\d+i64,x="[^"]+",n=L"[^"]+",v=B"\\x\w+",g=G"POINT\(', line)
    assert line.endswith(" 1500000000000000")


def test_lines_leave_nulls_out_but_never_all(stub):
    acked(stub(**SPEC | {"columns": "a:int,b:int", "tags": "g:int", "method": "sml-line", "null_ratio": 0.7}))
    fields = [call.split(" ")[1] for call in stub.calls() if call.startswith("meters,")]
    assert len(fields) == 400
    assert {tuple(f.split("=")[0] for f in line.split(",")) for line in fields} == {("a",), ("b",), ("a", "b")}


@pytest.mark.parametrize("precision", ["ms", "us"])
def test_json_points_hold_their_types(stub, precision):
    acked(stub(**SPEC | {"columns": "v:int", "method": "sml-json", "precision": precision}))
    blocks = [json.loads(call) for call in stub.calls() if call.startswith("[")]
    points = [point for block in blocks for point in block]
    assert len(points) == 400
    assert {point["timestamp"]["type"] for point in points} == {precision}
    assert {point["value"]["type"] for point in points} == {"i32"}
    assert {point["tags"]["dev"] for point in points} == {f"d{i}" for i in range(8)}


def test_telnet_points_are_lines_of_words(stub):
    acked(stub(**SPEC | {"columns": "v:float", "method": "sml-telnet"}))
    lines = [call for call in stub.calls() if call.startswith("meters ")]
    assert len(lines) == 400
    assert all(re.fullmatch(r"meters 15\d+ [\d.]+f32 dev=d\d groupid=\d+ location=\S+", line) for line in lines)


def test_statements_are_answered_with_their_types_and_go_on_after_an_error(stub, tmp_path):
    statements = tmp_path / "statements"
    statements.write_text("SELECT 1\nDROP DATABASE x\nDROP DATABASE y\n")
    outcome = stub("sql", statements=statements, database=None, fail="taos_query:2:0x0388")
    first, second, third = outcome.of("result")
    assert outcome.code == 6
    assert first["columns"] == ["whole", "real", "text"]
    assert first["rows"] == [[-5, 0.1, 'a"b'], [-5, None, 'a"b']]
    assert (second["ok"], second["code"], third["ok"], third["affected"]) == (False, "0x0388", True, 0)


def test_numbers_of_all_sizes_read_back(build):
    probe = build("stub_taos/number_probe.c", "drivers/numbers.c")
    done = subprocess.run([probe], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
