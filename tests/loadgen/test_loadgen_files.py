"""Rows and tags from files: what the load generator makes of them, and which files it refuses."""

from __future__ import annotations

import re
import struct

import pytest

from scale_sweep.taosbenchmark.job import TableColumn
from scale_sweep.taosbenchmark.limits import spec_columns
from scale_sweep.taosbenchmark.samples import batch_columns, read_sample, read_tags

COLUMNS = (
    TableColumn(name="b", kind="bool"),
    TableColumn(name="i", kind="int"),
    TableColumn(name="u", kind="ubigint"),
    TableColumn(name="f", kind="float"),
    TableColumn(name="x", kind="binary", length=6),
    TableColumn(name="n", kind="nchar", length=2),
)
CSV = "1500,true,-7,18446744073709551615,1.5,'a,b','中文'\n1700, 0 ,NULL,0,-2e3,\"it''s\",NULL\n\n1800,1,3,4,5,x,y\r\n"
ROWS = [
    [True, -7, 18446744073709551615, 1.5, "a,b", "中文"],
    [False, None, 0, -2000.0, "it''s", None],
    [True, 3, 4, 5.0, "x", "y"],
]


def spec(folder, *, has_times: bool, prepared: int = 10_000, text: str = CSV) -> dict[str, object]:
    text = text if has_times else re.sub(r"(?m)^\d+,", "", text)
    sample = read_sample(text.encode(), COLUMNS, "ms", prepared, has_times=has_times)
    (folder / "sample").write_bytes(sample.content)
    keys = {"sample_file": folder / "sample", "sample_rows": sample.rows, "sample_period": sample.period}
    columns = spec_columns(batch_columns(COLUMNS))
    return {"driver": "null", "tables": 3, "columns": columns, **keys, "sample_times": int(has_times)}


def rows_of(run, table: int, first: int, count: int, **keys: object):
    found = run({**keys, "rows_of": f"{table}:{first}:{count}"}, verb="rows")
    assert found.code == 0, found.stderr
    (event,) = [e for e in found.events if e["event"] == "rows"]
    return event["time_ms"], [list(row) for row in zip(*event["columns"].values(), strict=True)]


@pytest.mark.parametrize("table", [0, 2])
def test_every_table_has_the_rows_of_the_file_again_and_again(run, tmp_path, table):
    times, rows = rows_of(run, table, 1, 5, **spec(tmp_path, has_times=False), start_ms=1000, step_ms=10)
    assert rows == [ROWS[n] for n in (1, 2, 0, 1, 2)]
    assert times == [1010, 1020, 1030, 1040, 1050]
    assert rows_of(run, table, 0, 3, **spec(tmp_path, has_times=True)) == ([1500, 1700, 1800], ROWS)


@pytest.mark.parametrize(("prepared", "places"), [(2, (0, 1, 0, 1, 0)), (4, (0, 1, 2, 0, 0, 1))])
def test_so_many_rows_are_prepared_and_then_begin_anew(run, tmp_path, prepared, places):
    """As taosBenchmark does."""
    _, rows = rows_of(run, 0, 0, len(places), **spec(tmp_path, has_times=False, prepared=prepared))
    assert rows == [ROWS[n] for n in places]


def lengthen(path):
    """Of the third row's text, beyond its column."""
    content = bytearray(path.read_bytes())
    at = content.index(struct.pack("<iii", 3, 5, 1))
    content[at : at + 4] = (7).to_bytes(4, "little")
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-8]), "sample_file: has "),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "sample_file: has "),
        (lambda path: (path.unlink(), path.mkdir()), "sample_file: .* is not a file"),
        (lambda path: path.unlink(), "sample_file: .*: No such file"),
        (lengthen, "a text that is longer than its column"),
    ],
)
def test_another_file_than_the_columns_say_is_refused(run, tmp_path, change, words):
    keys = spec(tmp_path, has_times=False)
    change(tmp_path / "sample")
    found = run({**keys, "rows": 5}, verb="--check")
    assert found.code == 2
    assert re.search(words, found.stderr), found.stderr


def test_tags_come_from_the_lines_in_turn(run, tmp_path):
    tags = (TableColumn(name="g", kind="int"), TableColumn(name="l", kind="binary", length=8))
    (tmp_path / "tags").write_bytes(read_tags(b"1,'it\\'s'\n2,NULL\n", tags, "ms"))
    keys = {"driver": "null", "tables": 3, "tags": spec_columns(tags), "tags_file": tmp_path / "tags"}
    found = run(keys, verb="names")
    assert found.one("names")["tags"] == {"g": ["1", "2", "1"], "l": ["it\\'s", "NULL", "it\\'s"]}
    (tmp_path / "tags").write_text("1\n")
    found = run({**keys, "rows": 1}, verb="--check")
    assert (found.code, "tags_file: line 1: tag 2 is missing" in found.stderr) == (2, True)


def test_chinese_text_fills_its_column_with_whole_characters(run):
    keys = {"driver": "null", "columns": "x:binary(10),y:nchar(3),z:binary(2)", "text": "chinese"}
    _, rows = rows_of(run, 0, 0, 50, **keys)
    assert all(re.fullmatch("[\u4e00-\u9fa5]{3}", x) and re.fullmatch("[\u4e00-\u9fa5]", y) for x, y, _ in rows)
    assert {z for _, _, z in rows} == {""} and len({x for x, _, _ in rows}) == 50
